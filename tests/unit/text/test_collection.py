import pytest

from fwl.errors import InvalidInput
from fwl.text import Collection, CountedDocuments, Document, Judgments, Query, check_against
from fwl.text.collection import check_new, gather_judgments
from tests.refusals import expect_refusal

JUDGMENTS = Judgments({"q1": {"a": 3, "b": 0, "c": -1, "d": 1}, "q2": {"a": 0}, "q3": {"b": 4}})


class Small:
    name = "small"

    def documents(self):
        return iter([Document("a", "", "wing")])

    def queries(self):
        return [Query("q1", "wing")]

    def judgments(self, split=None):
        return Judgments({"q1": {"a": 1}})


def identifiers(collection: Collection) -> list[str]:
    return [document.id for document in collection.documents()]


def test_anything_with_documents_queries_and_judgments_is_a_collection():
    assert identifiers(Small()) == ["a"]


@pytest.mark.parametrize(("title", "text", "whole"), [("t", "x", "t x"), ("", "x", "x"), ("t", "", "t"), ("", "", "")])
def test_a_document_is_its_title_and_its_text(title, text, whole):
    assert Document("1", title, text).whole == whole


def test_documents_and_queries_do_not_change():
    with pytest.raises(AttributeError):
        Document("1", "", "").text = "other"
    with pytest.raises(AttributeError):
        Query("1", "").text = "other"


def test_judgments_are_read_like_a_dictionary():
    assert list(JUDGMENTS) == ["q1", "q2", "q3"]
    assert len(JUDGMENTS) == 3
    assert "q2" in JUDGMENTS
    assert "q9" not in JUDGMENTS
    assert JUDGMENTS["q3"] == {"b": 4}
    assert dict(JUDGMENTS) == JUDGMENTS
    assert JUDGMENTS.count == 6


def test_relevant_is_what_has_a_grade_above_zero():
    assert JUDGMENTS.relevant("q1") == ("a", "d")
    assert JUDGMENTS.not_relevant("q1") == ("b", "c")
    assert JUDGMENTS.relevant("q2") == ()


def test_of_a_query_that_nobody_judged_nothing_is_known():
    assert JUDGMENTS.relevant("q9") == ()
    assert JUDGMENTS.not_relevant("q9") == ()


def test_some_queries_are_kept_in_their_order():
    assert list(JUDGMENTS.only(["q3", "q1", "q9"])) == ["q1", "q3"]
    assert list(JUDGMENTS.only(query for query in ["q2"])) == ["q2"]


def test_answerable_queries_have_a_relevant_document():
    assert list(JUDGMENTS.answerable()) == ["q1", "q3"]


def test_codes_that_are_no_scale_become_two_grades():
    assert JUDGMENTS.binary() == {"q1": {"a": 1, "b": 0, "c": 0, "d": 1}, "q2": {"a": 0}, "q3": {"b": 1}}


def test_judgments_on_what_is_unknown_are_counted_named_and_left_out():
    unknown = check_against(JUDGMENTS, {"q1", "q2"}, {"a", "b"})
    assert unknown
    assert (unknown.on_documents, unknown.for_queries) == (2, 1)
    assert (unknown.documents, unknown.queries) == (("c", "d"), ("q3",))
    assert str(unknown) == (
        "3 judgments are left out: 2 on unknown documents (first: 'c', 'd'), 1 for unknown queries (first: 'q3')"
    )
    assert JUDGMENTS.within({"q1", "q2"}, {"a", "b"}) == {"q1": {"a": 3, "b": 0}, "q2": {"a": 0}}


def test_one_unknown_is_told_as_one():
    assert str(check_against(JUDGMENTS, {"q1", "q2"}, set("abcd"))) == (
        "1 judgment is left out: 1 for unknown queries (first: 'q3')"
    )


def test_only_the_first_few_unknown_are_named():
    many = Judgments({"q": {f"d{i}": 1 for i in range(50)}, **{f"q{i}": {"d0": 1} for i in range(50)}})
    unknown = check_against(many, {"q"}, set())
    assert unknown.on_documents == unknown.for_queries == 50
    assert unknown.documents == ("d0", "d1", "d2", "d3", "d4")
    assert unknown.queries == ("q0", "q1", "q2", "q3", "q4")


def test_an_unknown_document_of_two_queries_is_named_once():
    unknown = check_against(Judgments({"q1": {"x": 1}, "q2": {"x": 0}}), {"q1", "q2"}, set())
    assert unknown.on_documents == 2
    assert unknown.documents == ("x",)


def test_nothing_unknown_is_false():
    unknown = check_against(JUDGMENTS, set(JUDGMENTS), set("abcd"))
    assert not unknown
    assert str(unknown) == "every judgment is for a known query and on a known document"
    assert JUDGMENTS.within(set(JUDGMENTS), set("abcd")) == JUDGMENTS


def test_a_query_whose_documents_are_all_unknown_is_left_out():
    assert JUDGMENTS.within(set(JUDGMENTS), {"b"}) == {"q1": {"b": 0}, "q3": {"b": 4}}


def test_documents_that_say_nothing_are_kept_and_counted():
    documents = CountedDocuments([Document("a", "", " \n"), Document("b", "title", ""), Document("c", "", "")])
    assert [document.id for document in documents] == ["a", "b", "c"]
    assert (documents.seen, documents.empty) == (3, 2)
    assert str(documents) == "2 of 3 documents say nothing and are never found (first: 'a', 'c')"


def test_every_pass_is_counted_anew():
    documents = CountedDocuments([Document("a", "", "x"), Document("b", "", "")])
    for _ in range(2):
        list(documents)
        assert (documents.seen, documents.empty) == (2, 1)
    full = CountedDocuments([Document("a", "", "x")])
    list(full)
    assert str(full) == "each of 1 documents says something"


def test_only_the_first_that_say_nothing_are_named():
    documents = CountedDocuments([Document(str(i), "", "") for i in range(9)])
    list(documents)
    assert documents.first == ("0", "1", "2", "3", "4")


def test_documents_are_counted_as_they_pass():
    documents = CountedDocuments(Document(str(i), "", "") for i in range(10**12))
    assert next(iter(documents)).id == "0"
    assert documents.seen == 1


def test_judgments_are_gathered_by_query():
    rows = [("1", "q", "a", "1"), ("2", "r", "a", "-2"), ("3", "q", "b", "+3"), ("4", "q", "a", "1")]
    assert gather_judgments(rows) == {"q": {"a": 1, "b": 3}, "r": {"a": -2}}


@pytest.mark.parametrize("grade", ["1.0", "x", "", "1_0", "١"])
def test_a_grade_is_a_whole_number(grade):
    with expect_refusal(InvalidInput, f"f, line 7: expected a whole number as the grade, got {grade!r}"):
        gather_judgments([("f, line 7", "q", "a", grade)])


def test_two_grades_for_one_document_are_refused():
    with expect_refusal(
        InvalidInput, "2: document 'a' has grade 0 for query 'q', and had 1 before; drop one of the two"
    ):
        gather_judgments([("1", "q", "a", "1"), ("2", "q", "a", "0")])


def test_an_id_that_comes_again_is_named_with_both_lines():
    seen = {}
    check_new("a", seen, "document", "corpus", 1)
    check_new("b", seen, "document", "corpus", 2)
    with expect_refusal(
        InvalidInput, "corpus, line 5: document 'a' stands in line 1 already; give each an id of its own"
    ):
        check_new("a", seen, "document", "corpus", 5)
