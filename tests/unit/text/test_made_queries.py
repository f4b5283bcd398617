import pytest

from fwl.errors import InvalidInput, UnknownName
from fwl.randomness import Chance
from fwl.text import Document
from fwl.text.made_queries import made_queries
from tests.refusals import expect_refusal
from tests.retrieval import Listed

WINGS = Listed.of(
    ("Heat flow in wings", "Wings become hot. They do so at high speed! Is heat lost?"),
    ("Boundary layers", "The boundary layer of a wing, e.g. at high speed, is thin. Short one."),
    ("Heat flow in wings", "High speed heat: high speed heat, high speed heat."),
    ("www.wings.com", "."),
    ("", ""),
)
TITLES = {"heat flow in wings", "boundary layers"}
SENTENCES = {
    "wings become hot",
    "they do so at high speed",
    "is heat lost",
    "the boundary layer of a wing e g at high speed is thin",
    "high speed heat high speed heat high speed heat",
}


def made(n=1000, kinds=("title", "sentence", "ngrams"), seed=0, collection=WINGS):
    return made_queries(collection, n, kinds, chance=Chance(seed))


def test_titles_are_queries_each_once():
    assert set(made(kinds=["title"])) == TITLES
    assert len(made(kinds=["title"])) == 2


def test_sentences_are_queries_if_they_are_neither_short_nor_long():
    assert set(made(kinds=["sentence"])) == SENTENCES
    assert len(made(kinds=["sentence"], collection=Listed.of("word " * 24 + ".", "word " * 25 + "."))) == 1


def test_salient_n_grams_are_words_in_a_row_that_stand_out():
    found = made(kinds=["ngrams"])
    assert "high speed heat" in found
    assert "heat flow" in found
    assert "heat flow wings" in found  # stop words aside
    assert not any("boundary" in text for text in found)  # no other document has it
    assert all(2 <= len(text.split()) <= 4 for text in found)


def test_the_heaviest_n_grams_of_a_document_are_taken():
    common = [f"common{i} thing" for i in range(8)]
    texts = [" ".join(common), " ".join(common), "rare pair . " + " ".join(common), "rare pair"]
    found = made(kinds=["ngrams"], collection=Listed.of(*texts, *[" ".join(common)] * 4))
    assert "rare pair" in found
    weights = [text for text in found if "rare" in text]
    assert weights == ["rare pair"]


def test_numbers_are_no_words_of_an_n_gram():
    texts = Listed.of("heat 1957 flow", "heat flow 1957 8", "flow heat", "none")
    assert sorted(made(kinds=["ngrams"], collection=texts)) == ["flow heat", "heat flow"]


def test_kinds_take_turns():
    texts = made(6)
    assert [text in TITLES for text in texts] == [True, False, False, True, False, False]
    assert texts[1] in SENTENCES
    assert texts[4] in SENTENCES


def test_few_begin_many_and_order_of_documents_does_not_matter():
    texts = made()
    assert made(5) == texts[:5]
    assert len(set(texts)) == len(texts)
    backwards = Listed(tuple(reversed(WINGS.listed)))
    assert made(collection=backwards) == texts
    assert made(5, seed=1) != texts[:5] or made(5, seed=2) != texts[:5]


def test_documents_are_gone_through_as_a_stream():
    class Counted:
        name, passes, most_held = "counted", 0, 0

        def documents(self):
            self.passes += 1
            for i in range(300):
                yield Document(f"d{i}", f"title number{i}", f"text number{i} of something")

    collection = Counted()
    assert len(made(10, ["title", "sentence"], collection=collection)) == 10
    assert collection.passes == 1
    made(10, collection=collection)
    assert collection.passes == 3  # twice for n-grams


def test_a_list_of_documents_does_too():
    assert made(collection=list(WINGS.listed)) == made()


def test_a_stream_does_where_one_pass_is_enough():
    assert set(made(kinds=["title"], collection=iter(WINGS.listed))) == TITLES
    with expect_refusal(
        InvalidInput, "documents: n-grams need them twice, and this is a stream; give a collection or a list"
    ):
        made(collection=iter(WINGS.listed))


def test_an_unknown_kind_is_refused():
    with expect_refusal(
        UnknownName, "unknown kind of query 'titles'; did you mean 'title'? known: title, sentence, ngrams"
    ):
        made(kinds=["titles"])


def test_no_kind_is_refused():
    with expect_refusal(InvalidInput, "kinds of queries: expected some of title, sentence, ngrams, got none"):
        made(kinds=[])


def test_a_collection_that_says_nothing_is_refused():
    with expect_refusal(InvalidInput, "no query could be made from title or ngrams of the documents; try other kinds"):
        made(kinds=["title", "ngrams"], collection=Listed.of("", ("", "a b")))


@pytest.mark.parametrize("n", [0, -3])
def test_making_none_is_refused(n):
    with expect_refusal(InvalidInput, f"texts: expected to draw at least 1, got {n}"):
        made(n)
