from dataclasses import dataclass, replace

import pytest
from tests.refusals import expect_refusal
from tests.searches import made_search
from tests.unit.students.test_encoder import save_encoder

from fwl.errors import InvalidInput
from fwl.learn import search_fit
from fwl.learn.search_encoder import open_encoder
from fwl.learn.search_fit import SearchPlan, fit_ranker, judged_of
from fwl.randomness import Chance
from fwl.text import BeirFolder, Judgments, Query

MADE = made_search()
QUERIES = [Query(name, text) for name, text in MADE.queries.items()]
JUDGMENTS = Judgments(MADE.judgments)


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    return BeirFolder(MADE.write(tmp_path_factory.mktemp("made")))


@dataclass
class Counted:
    """A collection that counts how often its documents are gone through."""

    inside: BeirFolder
    passes: int = 0
    name: str = "counted"

    def documents(self):
        self.passes += 1
        return self.inside.documents()


def test_documents_are_gone_through_once_and_once_more_to_be_encoded(collection, tmp_path):
    once, twice = Counted(collection), Counted(collection)
    fit_ranker(once, QUERIES, JUDGMENTS, SearchPlan(), None, Chance(0))
    fit_ranker(twice, [], Judgments({}), SearchPlan(), open_encoder(save_encoder(tmp_path)), Chance(0))
    assert (once.passes, twice.passes) == (1, 2)


def test_what_the_model_does_not_use_is_dropped(collection, tmp_path):
    encoding = open_encoder(save_encoder(tmp_path))
    search, report = fit_ranker(collection, [], Judgments({}), SearchPlan(), encoding, Chance(0))
    assert search.encoding is encoding
    assert report.encoder == f"the encoder in {tmp_path}"
    search, report = fit_ranker(collection, QUERIES[:1], JUDGMENTS.only(["q0"]), SearchPlan(), encoding, Chance(0))
    assert search.model.teacher is None
    assert not report.corrected
    assert (search.encoding is None) == (not search.model.fusion.dense) == (search.searcher.document_vectors is None)


@pytest.mark.parametrize(("words", "expected"), [(29, "bm25"), (30, "rm3")])
def test_without_judgments_documents_of_some_length_are_worth_expanding_queries_from(words, expected, tmp_path):
    text = " ".join(f"word{i}" for i in range(words))
    collection = BeirFolder(replace(MADE, documents={"a": text}).write(tmp_path))
    search, _ = fit_ranker(collection, [], Judgments({}), SearchPlan(), None, Chance(0))
    assert search.model.fusion.annotator == expected
    search, _ = fit_ranker(collection, [], Judgments({}), SearchPlan("tfidf"), None, Chance(0))
    assert search.model.fusion.annotator == "tfidf"


def test_more_documents_than_can_be_taught_still_choose_a_fusion(collection, monkeypatch):
    monkeypatch.setattr(search_fit, "MOST_TAUGHT", 59)
    search, report = fit_ranker(collection, QUERIES, JUDGMENTS, SearchPlan(), None, Chance(0))
    assert report.teacher == "None: it is fitted on at most 59 documents, as its memory grows with them."
    assert search.model.teacher is None
    assert len(search.model.tried) == 2
    assert report.why.endswith(" on 40 judged queries, the best of 2")


def test_judged_queries_are_drawn_by_chance_alone(collection):
    plan = SearchPlan(most_pairs=60 * 10)
    reports = [fit_ranker(collection, QUERIES, JUDGMENTS, plan, None, Chance(seed)) for seed in (0, 0, 1)]
    (one, first), (_, second), (_, third) = reports
    assert first.judged == 10
    assert first == second != third
    assert one.searcher.index.settings == {"analyser": plan.analyser.settings()}


def test_queries_that_can_be_learned_from_keep_the_order_of_their_judgments():
    judgments = Judgments({"b": {"d1": 1}, "a": {"d1": 0, "d2": 2}, "c": {"d1": 0}})
    judging = judged_of([Query("a", "x"), Query("b", "y"), Query("c", "z")], judgments, {"d1", "d2"})
    assert judging.queries == [Query("b", "y"), Query("a", "x")]
    assert judging.judgments == {"b": {"d1": 1}, "a": {"d1": 0, "d2": 2}}
    assert judging.notes == ("judged queries that have no relevant document are left out: 1 (first: 'c')",)


def test_no_judgments_are_no_queries_to_learn_from():
    judging = judged_of([Query("a", "x")], Judgments({}), {"d1"})
    assert (judging.queries, judging.notes) == ([], ())


def test_silent_queries_alone_teach_nothing():
    message = (
        "the judgments teach nothing: none of 1 judged queries has a word and a relevant document; "
        "see that they belong to this collection"
    )
    with expect_refusal(InvalidInput, message):
        judged_of([Query("a", " ")], Judgments({"a": {"d1": 1}}), {"d1"})
