"""A made-up collection in BEIR's layout: topics, concepts with two words each, queries that use one of the two."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fwl.experiments.made_tweets import made_words
from fwl.randomness import Chance

WORDS_OF_A_CONCEPT = 2


@dataclass(frozen=True)
class MadeCollection:
    """How the collection is drawn.

    A document is about one topic and names some of its concepts, each by one of two words, among words that say
    nothing. A query names a few concepts of a topic, and the documents that name most of these are relevant, by
    whichever word: an annotator that matches words finds about half of them.

    Attributes:
        documents: how many.
        queries: that are judged.
        topics: how many.
        concepts: of each topic.
        named: concepts that a document names.
        asked: concepts that a query names.
        shared: words that say nothing.
        noise: of those in a document.
    """

    documents: int = 240
    queries: int = 45
    topics: int = 8
    concepts: int = 10
    named: int = 5
    asked: int = 3
    shared: int = 200
    noise: int = 15

    def write(self, folder: Path, chance: Chance) -> None:
        """corpus.jsonl, queries.jsonl and qrels.tsv, the last one last."""
        folder.mkdir(parents=True, exist_ok=True)
        words = made_words(self.shared + self.topics * self.concepts * WORDS_OF_A_CONCEPT, chance.child("words"))
        topics, named = self._drawn(self.documents, self.named, chance.child("documents"))
        asked_topics, asked = self._drawn(self.queries, self.asked, chance.child("queries"))
        texts = self._texts(named, words, self.noise, chance.child("texts"))
        questions = self._texts(asked, words, 0, chance.child("questions"))
        _write_lines(folder / "corpus.jsonl", [{"_id": f"d{i}", "title": "", "text": t} for i, t in enumerate(texts)])
        _write_lines(folder / "queries.jsonl", [{"_id": f"q{i}", "text": t} for i, t in enumerate(questions)])
        common = np.array([[len(np.intersect1d(a, d)) for d in named] for a in asked])
        relevant = (asked_topics[:, None] == topics) & (common >= self.asked - 1)
        rows = [f"q{q}\td{d}\t{int(relevant[q, d])}\n" for q, d in np.argwhere(common > 0).tolist()]
        (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(rows), encoding="utf-8")

    def _drawn(self, count: int, concepts: int, chance: Chance) -> tuple[np.ndarray, np.ndarray]:
        """The topic of each text, [count], and the concepts it names, [count, concepts]."""
        rng = chance.numpy()
        topics = rng.integers(self.topics, size=count)
        chosen = np.stack([rng.permutation(self.concepts)[:concepts] for _ in range(count)])
        return topics, topics[:, None] * self.concepts + chosen

    def _texts(self, concepts: np.ndarray, words: list[str], noise: int, chance: Chance) -> list[str]:
        rng, texts = chance.numpy(), []
        for row in concepts:
            own = self.shared + WORDS_OF_A_CONCEPT * row + rng.integers(WORDS_OF_A_CONCEPT, size=len(row))
            places = rng.permutation(np.concatenate([own, rng.integers(self.shared, size=noise)]))
            texts.append(" ".join(words[place] for place in places))
        return texts


def _write_lines(path: Path, entries: list[dict[str, str]]) -> None:
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
