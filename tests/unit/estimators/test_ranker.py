import json
from collections.abc import Iterator

import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from tests.examples import Listener
from tests.refusals import expect_refusal
from tests.searches import made_search
from tests.unit.students.test_encoder import save_encoder

from fwl.errors import InvalidInput, OutputTrouble, UnknownName
from fwl.estimators import FWLRanker
from fwl.evaluate import mean_over_queries, rank_measures
from fwl.learn import search_student
from fwl.students import Training
from fwl.text import BeirFolder, Document, Query

MADE, OTHERS = made_search(), made_search(queries=30, seed=1)
WINGS = {"a": "wings of aircraft", "b": "a flat plate", "c": "plates and wings"}


def fitted(**settings) -> FWLRanker:
    ranker = FWLRanker(**{"encoder": None, "random_state": 0, **settings})
    return ranker.fit(MADE.documents, MADE.queries, MADE.judgments)


@pytest.fixture(scope="module")
def learned() -> FWLRanker:
    return fitted()


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return save_encoder(tmp_path_factory.mktemp("encoder"))


@pytest.fixture(scope="module")
def encoded(encoder) -> FWLRanker:
    return fitted(encoder=encoder, annotator="bm25")


@pytest.fixture
def quick_student(monkeypatch):
    monkeypatch.setattr(search_student, "PLAN", Training(steps=30, batch_size=32))
    monkeypatch.setattr(search_student, "PAIRS", 500)


def precision(ranker: FWLRanker) -> float:
    return mean_over_queries(rank_measures(OTHERS.judgments, ranker.rank(OTHERS.queries)))["AP@1000"]


def test_the_documents_that_match_are_found_the_best_first():
    ranked = FWLRanker("bm25", None).fit(WINGS).rank({"q": "wings of plates", "none": "turbine"})
    assert ranked["q"][0][0] == "c"
    assert {name for name, _ in ranked["q"]} == {"a", "b", "c"}
    scores = [score for _, score in ranked["q"]]
    assert scores == sorted(scores, reverse=True)
    assert ranked["none"] == []


def test_judged_queries_teach_what_no_word_says(learned):
    untaught = FWLRanker(encoder=None).fit(MADE.documents)
    assert learned.report_.corrected
    assert learned.teacher_ is not None
    assert learned.report_.gain > 0.1
    assert untaught.teacher_ is None
    assert precision(learned) > precision(untaught) + 0.1


def test_without_judgments_the_annotator_ranks_alone_and_says_so():
    report = FWLRanker(encoder=None).fit(MADE.documents).report_
    assert (report.judged, report.base, report.corrected, report.gain) == (0, "bm25", False, None)
    assert str(report) == (
        "Ranks 60 documents by bm25: no query is judged, so nothing was chosen: this is the annotator as it is. "
        "Teacher over (query, document): None: without judged queries there is nothing to teach."
    )


def test_the_report_says_what_was_chosen_and_why(learned):
    text = str(learned.report_)
    assert text.startswith(f"Ranks 60 documents by {learned.report_.base}: mean average precision 0.")
    assert " on 40 judged queries, the best of 2. Teacher over (query, document): Used: the best of " in text
    assert text.endswith(" judged queries, each left out in turn, which is more than 2 standard errors above 0.")


def test_the_same_seed_gives_the_same_run_and_queries_do_not_disturb_each_other(learned):
    assert fitted().rank(OTHERS.queries) == learned.rank(OTHERS.queries)
    (alone,) = learned.rank({"q7": OTHERS.queries["q7"]}).values()
    assert [name for name, _ in alone] == [name for name, _ in learned.rank(OTHERS.queries)["q7"]]


@pytest.mark.parametrize("annotator", ["bm25", "rm3", "tfidf", "binary"])
def test_an_annotator_may_be_asked_for(annotator):
    assert fitted(annotator=annotator).report_.base == annotator


def test_documents_come_in_many_shapes(tmp_path):
    folder = MADE.write(tmp_path)
    listed = [Document(name, "", text) for name, text in MADE.documents.items()]
    expected = fitted().rank(OTHERS.queries)
    for documents in (folder, str(folder), BeirFolder(folder)):
        assert FWLRanker(encoder=None, random_state=0).fit(documents).rank(OTHERS.queries) == expected
    for documents in (listed, iter(listed)):
        ranker = FWLRanker(encoder=None, random_state=0).fit(documents, MADE.queries, MADE.judgments)
        assert ranker.rank(OTHERS.queries) == expected


def test_queries_come_in_many_shapes(learned):
    texts = ["ask1x1", "text2x2"]
    by_id = learned.rank({"1": texts[0], "2": texts[1]})
    assert learned.rank(texts) == learned.rank([Query("1", texts[0]), texts[1]]) == by_id
    assert list(learned.rank(text for text in texts)) == ["1", "2"]


def test_rankings_come_one_after_another(learned):
    ranked = learned.rank_each(OTHERS.queries, depth=3)
    assert isinstance(ranked, Iterator)
    name, ranking = next(ranked)
    assert (name, len(ranking)) == ("q0", 3)
    assert learned.rank(OTHERS.queries)["q0"][:3] == ranking


def test_a_collections_own_judgments_may_be_left_aside(tmp_path):
    assert FWLRanker(encoder=None).fit(MADE.write(tmp_path), judgments={}).report_.judged == 0


def test_an_index_may_be_written_while_it_is_built(tmp_path, learned):
    ranker = fitted(index_folder=tmp_path / "index")
    assert (tmp_path / "index" / "manifest.json").is_file()
    assert ranker.rank(OTHERS.queries) == learned.rank(OTHERS.queries)


def test_an_encoder_speaks_too(encoded):
    assert encoded.report_.base in ("bm25", "bm25 + 1 x dense")
    ranker = FWLRanker("bm25", encoded.encoder).fit({**WINGS, "d": " "})
    assert ranker.report_.base == "bm25 + 1 x dense"
    assert ranker.report_.encoder == f"the encoder in {encoded.encoder}"
    # Cosines find every document, except one that says nothing.
    assert {name for name, _ in ranker.rank(["turbine"])["1"]} == {"a", "b", "c"}


def test_documents_are_heard_of_as_they_are_encoded(encoder):
    listener = Listener()
    FWLRanker("bm25", encoder).fit(WINGS, progress=listener)
    assert (listener.total, sum(listener.heard), listener.finished) == (3, 3, True)


@pytest.mark.parametrize("name", ["learned", "encoded"])
def test_a_saved_ranker_comes_back_to_the_last_bit(name, request, tmp_path):
    ranker = request.getfixturevalue(name)
    assert ranker.save(tmp_path / "model") == tmp_path / "model"
    again = FWLRanker.load(tmp_path / "model")
    assert again.rank(OTHERS.queries) == ranker.rank(OTHERS.queries)
    assert again.report_ == ranker.report_
    assert (again.teacher_ is None) == (ranker.teacher_ is None)
    assert list(again.index_.documents) == list(ranker.index_.documents)
    wanted = {**ranker.get_params(), "encoder": ranker.encoder and str(ranker.encoder)}
    assert again.get_params() == wanted


def test_a_ranker_without_judgments_is_saved_too(tmp_path):
    ranker = FWLRanker(encoder=None).fit(WINGS)
    assert FWLRanker.load(ranker.save(tmp_path / "model")).rank(["wings"]) == ranker.rank(["wings"])


@pytest.mark.parametrize("judged", [True, False])
def test_a_student_may_speak_beside_the_others(judged, quick_student, tmp_path):
    ranker = FWLRanker(encoder=None, student=True, random_state=0)
    weak = None if judged else list(OTHERS.queries.values())
    ranker.fit(MADE.documents, MADE.queries, MADE.judgments if judged else {}, weak_queries=weak)
    told = ranker.report_.student
    if judged:
        assert told.startswith(("Used: the best of 3 settings gains ", "Not used: the best of 3 settings gains "))
    else:
        assert told == "Used with weight 0.5: no query is judged, so nobody can tell whether it pays."
    assert str(ranker.report_).endswith(f" Student on weak pairs: {told}")
    assert (ranker.search_.student is not None) == told.startswith("Used")
    again = FWLRanker.load(ranker.save(tmp_path / "model"))
    assert again.rank(OTHERS.queries) == ranker.rank(OTHERS.queries)
    assert again.student


def test_weak_queries_without_a_student_are_refused():
    message = "weak queries are for a student; ask for one with student=True, or leave them out"
    with expect_refusal(InvalidInput, message):
        FWLRanker(encoder=None).fit(WINGS, weak_queries=["wing"])


def test_a_copy_is_unfitted_and_learns_the_same(learned):
    copy = clone(learned)
    assert copy.get_params() == learned.get_params()
    with pytest.raises(NotFittedError):
        copy.rank(["wing"])
    copy.fit(MADE.documents, MADE.queries, MADE.judgments)
    assert copy.rank(OTHERS.queries) == learned.rank(OTHERS.queries)


def test_saving_before_fitting_is_refused(tmp_path):
    with pytest.raises(NotFittedError):
        FWLRanker().save(tmp_path / "model")
    assert not any(tmp_path.iterdir())


def test_more_judged_queries_than_there_is_room_for_are_drawn():
    ranker = fitted(most_pairs=60 * 25)
    assert ranker.report_.judged == 25
    assert ranker.report_.notes == (
        "25 of 40 judged queries are drawn to learn from: 60 documents leave no room for more",
    )
    assert fitted(most_pairs=1).report_.judged == 0


def test_what_was_left_out_is_told():
    documents = {**MADE.documents, "silent": " "}
    queries = {**MADE.queries, "blank": "", "useless": "common1"}
    judgments = {
        **MADE.judgments,
        "q0": {**MADE.judgments["q0"], "gone": 1},
        "nobody": {"d1": 1},
        "blank": {"d1": 1},
        "useless": {"d1": 0},
    }
    report = FWLRanker(encoder=None).fit(documents, queries, judgments).report_
    assert report.judged == 40
    assert report.notes == (
        "1 of 61 documents says nothing and is never found (first: 'silent')",
        "2 judgments are left out: 1 on unknown documents (first: 'gone'), 1 for unknown queries (first: 'nobody')",
        "judged queries that hold no word are left out: 1 (first: 'blank')",
        "judged queries that have no relevant document are left out: 1 (first: 'useless')",
    )


def test_few_documents_that_are_all_relevant_teach_nothing():
    report = FWLRanker(encoder=None).fit({"a": "wing"}, {"q": "wing"}, {"q": {"a": 1}}).report_
    assert report.teacher == "None: every document is relevant to every query."
    assert report.judged == 1


def test_one_judged_query_is_not_enough_for_a_teacher():
    report = FWLRanker(encoder=None).fit(WINGS, {"q": "plates"}, {"q": {"b": 1}}).report_
    assert report.teacher == "Not used: one judged query shows no spread of the gain; judge more queries."


@pytest.mark.parametrize(
    ("documents", "queries", "judgments", "error", "message"),
    [
        ({}, None, None, InvalidInput, "documents: expected at least one, got none"),
        ({"a": " ", "b": "the"}, None, None, InvalidInput,
         "none of 2 documents of the documents has a word to be found by; expected texts"),
        ([Document("a", "", "x"), Document("a", "", "y")], None, None, InvalidInput, None),
        (["wing"], None, None, InvalidInput,
         "documents: expected texts by their ids, or Documents, got 'wing'; name each by an id"),
        (WINGS, None, {"q": {"a": 1}}, InvalidInput, "judgments came without queries; give fit both"),
        (WINGS, {"q": "wing"}, {"q": {"z": 1}, "r": {"a": 1}}, InvalidInput,
         "the judgments teach nothing: 2 judgments are left out: 1 on unknown documents (first: 'z'), "
         "1 for unknown queries (first: 'r'); see that they belong to this collection"),
        (WINGS, {"q": "wing"}, {"q": {"a": 0}}, InvalidInput,
         "the judgments teach nothing: none of 1 judged queries has a word and a relevant document; "
         "see that they belong to this collection"),
        (WINGS, "wing", {"q": {"a": 1}}, InvalidInput, "queries: expected several, got one text 'wing'; give a list"),
        (WINGS, [Query("q", "a"), Query("q", "b")], {"q": {"a": 1}}, InvalidInput,
         "queries: two of them have the same id; give each one of its own"),
    ],
)  # fmt: skip
def test_what_cannot_be_learned_from_is_refused(documents, queries, judgments, error, message):
    if message is None:
        with pytest.raises(error, match="document id 'a' comes twice"):
            FWLRanker(encoder=None).fit(documents, queries, judgments)
        return
    with expect_refusal(error, message):
        FWLRanker(encoder=None).fit(documents, queries, judgments)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"annotator": "bm52"}, UnknownName,
         "unknown annotator 'bm52'; did you mean 'bm25'? known: auto, bm25, rm3, tfidf, binary"),
        ({"most_pairs": 0}, InvalidInput, "most_pairs: expected at least 1, got 0"),
        ({"stemmer": "klingon"}, InvalidInput, "stemmer: expected 'english', or '' for none, got 'klingon'"),
    ],
)  # fmt: skip
def test_settings_are_checked_when_they_are_used(settings, error, message):
    ranker = FWLRanker(**{"encoder": None, **settings})
    with expect_refusal(error, message):
        ranker.fit(WINGS)


def test_an_encoder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(OutputTrouble, match="is not a folder; expected one with config"):
        FWLRanker(encoder=tmp_path / "none").fit(WINGS)


@pytest.mark.parametrize(
    ("queries", "message"),
    [
        ({"q1": "wing", "q2": " "}, "query 'q2' is empty (' '); expected a text, or leave it out"),
        ([], "queries: expected at least one, got none"),
        ("wing", "queries: expected several, got one text 'wing'; give a list"),
    ],
)
def test_queries_that_are_none_are_refused(queries, message, learned):
    with expect_refusal(InvalidInput, message):
        learned.rank_each(queries)


def test_a_depth_of_nothing_is_refused(learned):
    with expect_refusal(InvalidInput, "depth: expected at least 1 document, got 0"):
        learned.rank(["wing"], depth=0)


def test_the_report_is_plain_json(learned):
    plain = json.loads(json.dumps(learned.report_.plain()))
    assert type(learned.report_).from_plain(plain) == learned.report_
