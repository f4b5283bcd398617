"""Queries made from the documents that they shall find, where there is no log: titles, sentences, salient n-grams."""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice, zip_longest

from fwl.errors import InvalidInput, UnknownName
from fwl.randomness import Chance
from fwl.text.analyser import Analyser
from fwl.text.collection import Collection, Document
from fwl.text.drawing import Drawing
from fwl.text.query_log import clean_query

SHORTEST, LONGEST = 3, 24  # words of a sentence that may be a query
LENGTHS = (2, 3, 4)  # words of an n-gram
SALIENT = 3  # n-grams of each length that a document gives
RARE = 2  # documents that a word of an n-gram is in, at least: a word of one document tells it from no other
_SENTENCE_ENDS = re.compile(r"(?<!\b\w)[.!?]+(?=\s|$)")  # not behind one letter, as in e.g.
_WORDS = Analyser(stemmer="")

Source = Collection | Iterable[Document]
Maker = Callable[[Document], Iterable[str]]


def made_queries(
    documents: Source, n: int, kinds: Sequence[str] = ("title", "sentence", "ngrams"), *, chance: Chance
) -> list[str]:
    """Different queries made from documents: as many of each kind, as far as there are enough.

    Args:
        documents: a collection or a list; gone through once, twice for n-grams.
        n: how many, at the most.
        kinds: "title"; "sentence", of 3 to 24 words; "ngrams", two to four words in a row, stop words aside, that
            stand out in a document by TF-IDF.
        chance: which of them.
    """
    unknown = next((kind for kind in kinds if kind not in MAKERS), None)
    if unknown is not None:
        raise UnknownName("kind of query", unknown, MAKERS)
    if not kinds:
        raise InvalidInput(f"kinds of queries: expected some of {', '.join(MAKERS)}, got none")
    drawings = [(MAKERS[kind](documents), Drawing(n, chance.child(kind))) for kind in dict.fromkeys(kinds)]
    for document in _all(documents):
        for make, drawing in drawings:
            for text in make(document):
                drawing.offer(clean_query(text))
    by_turns = zip_longest(*(drawing.taken() for _, drawing in drawings))
    texts = list(islice(dict.fromkeys(filter(None, chain.from_iterable(by_turns))), n))
    if not texts:
        raise InvalidInput(f"no query could be made from {' or '.join(kinds)} of the documents; try other kinds")
    return texts


class _Salient:
    """The n-grams that stand out in a document by TF-IDF."""

    def __init__(self, documents: Source) -> None:
        if isinstance(documents, Iterator):
            raise InvalidInput("documents: n-grams need them twice, and this is a stream; give a collection or a list")
        self._N, self._documents = 0, Counter[str]()
        for document in _all(documents):
            self._N += 1
            self._documents.update(set(_WORDS.tokens(document.whole)))

    def __call__(self, document: Document) -> Iterator[str]:
        parts = [_WORDS.tokens(part) for part in _parts(document)]
        weights = self._weights(Counter(chain.from_iterable(parts)))
        for length in LENGTHS:
            grams = {gram for words in parts for gram in _grams(words, length) if weights.keys() >= {*gram}}
            for gram in heapq.nlargest(SALIENT, grams, key=lambda gram: (sum(map(weights.__getitem__, gram)), gram)):
                yield " ".join(gram)

    def _weights(self, counts: Counter[str]) -> dict[str, float]:
        """TF-IDF of the words that may be in an n-gram: no numbers, and nothing that no other document has."""
        return {
            word: count * math.log(self._N / self._documents[word])
            for word, count in counts.items()
            if self._documents[word] >= RARE and not word.isdecimal()
        }


def _all(documents: Source) -> Iterator[Document]:
    return iter(documents) if isinstance(documents, Iterable) else documents.documents()


def _title(document: Document) -> tuple[str]:
    return (document.title,)


def _sentences(document: Document) -> Iterator[str]:
    return (part for part in _SENTENCE_ENDS.split(document.text) if SHORTEST <= len(part.split()) <= LONGEST)


MAKERS: dict[str, Callable[[Source], Maker]] = {
    "title": lambda _: _title,
    "sentence": lambda _: _sentences,
    "ngrams": _Salient,
}


def _parts(document: Document) -> list[str]:
    """What words in a row are looked for in."""
    return [document.title, *_SENTENCE_ENDS.split(document.text)]


def _grams(words: Sequence[str], length: int) -> Iterator[tuple[str, ...]]:
    """So many different words in a row."""
    rows = (tuple(words[start : start + length]) for start in range(len(words) - length + 1))
    return (row for row in rows if len(set(row)) == length)
