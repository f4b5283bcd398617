"""A small search with judgments: topics whose queries share words, and documents that a judged neighbour points to."""

import json
from dataclasses import dataclass
from pathlib import Path

from fwl.randomness import Chance


@dataclass(frozen=True)
class MadeSearch:
    """Texts by their ids, and grades.

    Every document of a query's topic is relevant, but only a third of them shares a word with it.
    """

    documents: dict[str, str]
    queries: dict[str, str]
    judgments: dict[str, dict[str, int]]

    def write(self, folder: Path, judged: bool = True) -> Path:
        """As a folder in BEIR's layout."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, texts in (("corpus", self.documents), ("queries", self.queries)):
            lines = [json.dumps({"_id": key, "text": text}) + "\n" for key, text in texts.items()]
            (folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
        rows = [f"{query}\t{name}\t{grade}\n" for query, its in self.judgments.items() for name, grade in its.items()]
        if judged:
            (folder / "qrels.tsv").write_text("".join(rows), encoding="utf-8")
        return folder


def made_search(documents: int = 60, queries: int = 40, topics: int = 5, seed: int = 0) -> MadeSearch:
    rng = Chance(seed).child("made search").numpy()
    texts, asked, judgments = {}, {}, {}
    for i in range(documents):
        topic = i % topics
        own = [f"text{topic}x{word}" for word in rng.permutation(6)[:3]]
        hint = [f"ask{topic}x{rng.integers(6)}"] if rng.random() < 1 / 3 else []
        texts[f"d{i}"] = " ".join([*own, *hint, *(f"common{word}" for word in rng.integers(20, size=4))])
    for i in range(queries):
        topic = int(rng.integers(topics))
        asked[f"q{i}"] = " ".join(f"ask{topic}x{word}" for word in rng.permutation(6)[:3]) + f" common{i % 20}"
        judgments[f"q{i}"] = {f"d{d}": int(d % topics == topic) for d in range(documents) if d % topics <= topic}
    return MadeSearch(texts, asked, judgments)
