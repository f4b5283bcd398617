"""A collection as the ranking experiment reads it: searched in every way, its words numbered, weak queries beside it.

It is made from the files in each process that asks, which takes seconds; only sentence vectors take longer, and those
are kept on disk by content.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed

from fwl.annotate.index import InvertedIndex
from fwl.annotate.weak_queries import WeakQueries, kept_queries
from fwl.errors import InvalidInput, UnknownName
from fwl.experiments.made_collection import MadeCollection
from fwl.experiments.resources import embeddings_file, encoder_folder
from fwl.learn.searcher import Asked, Matrix, Searcher
from fwl.progress import Progress, Silent
from fwl.randomness import Chance
from fwl.students.encoder import SentenceEncoder
from fwl.students.ranker import Bags
from fwl.students.vector_cache import cached_vectors, default_cache_folder
from fwl.text.analyser import Analyser
from fwl.text.beir import BeirFolder
from fwl.text.collection import Collection, Document, Judgments, Query
from fwl.text.embeddings import Embeddings, read_embeddings, train_word2vec
from fwl.text.made_queries import made_queries
from fwl.text.open_collection import open_collection

GRADES = ("auto", "scale", "binary")
ENOUGH_QUERIES = 150  # judged ones outside a split "train", for that one to be left out
MOST_CELLS = 150_000_000  # queries times documents that are held as one matrix
HITS = 1000  # documents of a weak query that pairs are drawn from
SPARE = 2  # times as many queries are made as are wanted, because some find too little
AT_ONCE = 1024  # texts that one process encodes before it tells


@dataclass(frozen=True)
class Sources:
    """Where texts come from and how they are turned into numbers.

    Attributes:
        data: a folder of BEIR's layout or an id of ir_datasets; "" for a made-up collection.
        annotator: whose hits weak pairs are drawn from.
        encoder: a folder with a sentence encoder; "auto" for the packaged one where it is installed; "" for none.
        embeddings: a file of word vectors; "auto" for what lies in `embeddings` in or above the folder; "" for none.
        columns: of word vectors trained on the documents, where no file of them is there.
        splits: of the judgments, with commas between; "auto" for all but "train", where the others are enough.
        grades: whether grades are a "scale" or only say relevant or not ("binary"); "auto" takes them for codes, and
            so for binary, where one is -1.
        most_queries: judged queries at the most, drawn once for all seeds.
        weak_queries: at the most; those of the collection that are not judged come first, the others are made of
            its documents.
    """

    data: str
    annotator: str
    encoder: str
    embeddings: str
    columns: int
    splits: str
    grades: str
    most_queries: int
    weak_queries: int


@dataclass(frozen=True, eq=False)
class Ready:
    """Everything an experiment needs.

    Attributes:
        name: of the collection.
        searcher: its documents.
        queries: that are judged, each with a relevant document.
        judgments: of those.
        relevant: the same as a mask, [Q, N].
        asked: the judged queries, and what each way of searching says of every document.
        weak: queries that nobody judged, and their hits.
        query_bags: the words of the judged queries, then of the weak ones.
        document_bags: the words of every document.
        words: a starting vector for each term of the index, [T, m].
        importance: the log of each term's inverse document frequency, [T].
        sha256: of everything that was read.
    """

    name: str
    searcher: Searcher
    queries: list[Query]
    judgments: Judgments
    relevant: npt.NDArray[np.bool_]
    asked: Asked
    weak: WeakQueries
    query_bags: Bags
    document_bags: Bags
    words: npt.NDArray[np.float32]
    importance: npt.NDArray[np.float64]
    sha256: str


def prepare(sources: Sources, progress: Progress | None = None) -> None:
    """Encode documents and queries on all cores; what was encoded before is read from the cache."""
    folder = encoder_folder(sources.encoder, sources.data)
    if folder is None:
        return
    collection, listener = _collection(sources), progress or Silent()
    texts = [document.whole for document in collection.documents()]
    texts += [query.text for query in _judged(collection, sources)[0]]
    listener.start(len(texts), f"encoding {collection.name}")
    try:
        work = (delayed(_encode)(folder, texts[i : i + AT_ONCE]) for i in range(0, len(texts), AT_ONCE))
        for vectors in Parallel(n_jobs=-1, return_as="generator")(work):
            listener.advance(len(vectors))
    finally:
        listener.finish()


@lru_cache(maxsize=2)
def load(sources: Sources) -> Ready:
    """The collection; made once in each process."""
    collection, analyser = _collection(sources), Analyser()
    documents = list(collection.documents())
    index = InvertedIndex.of(
        ((document.id, analyser.tokens(document.whole)) for document in documents), {"analyser": analyser.settings()}
    )
    queries, judgments = _judged(collection, sources, set(index.documents))
    searcher = _searcher(index, documents, encoder_folder(sources.encoder, sources.data))
    weak = _weak_queries(sources, collection, queries, searcher)
    return Ready(
        name=collection.name,
        searcher=searcher,
        queries=queries,
        judgments=judgments,
        relevant=_relevant(queries, judgments, index),
        asked=searcher.ask([query.text for query in queries]),
        weak=weak,
        query_bags=_query_bags([*(analyser.tokens(query.text) for query in queries), *weak.tokens], index),
        document_bags=Bags(index.forward.offsets, index.forward.items, index.forward.frequencies.astype(np.float32)),
        words=_words(sources, index, documents, analyser),
        importance=np.log(np.log1p(len(index.lengths) / index.document_frequencies)),
        sha256=_digest(sources, documents, queries, judgments),
    )


def _collection(sources: Sources) -> Collection:
    if sources.data:
        return open_collection(sources.data)
    folder = default_cache_folder().parent / "made-collection"
    if not (folder / "qrels.tsv").exists():
        MadeCollection().write(folder, _chance("made collection"))
    return BeirFolder(folder)


def _judged(
    collection: Collection, sources: Sources, documents: set[str] | None = None
) -> tuple[list[Query], Judgments]:
    """The judged queries that have a relevant document, and their judgments."""
    judgments = _graded(_of_splits(collection, sources.splits), sources.grades)
    known = {query.id: query for query in collection.queries()}
    if documents is not None:
        judgments = judgments.within(known, documents)
        _check_size(len(documents))
    judgments = judgments.answerable()
    most = sources.most_queries if documents is None else min(sources.most_queries, MOST_CELLS // len(documents))
    names = [name for name in judgments if name in known]
    if len(names) > most:
        rows = np.sort(_chance("judged queries").numpy().permutation(len(names))[:most])
        names = [names[row] for row in rows.tolist()]
    return [known[name] for name in names], judgments.only(names)


def _of_splits(collection: Collection, wanted: str) -> Judgments:
    there: tuple[str, ...] = getattr(collection, "splits", ())
    if wanted != "auto":
        return _together(collection.judgments(split.strip()) for split in wanted.split(","))
    others = [split for split in there if split != "train"]
    if others and len(others) < len(there):
        judgments = _together(collection.judgments(split) for split in others)
        if len(judgments.answerable()) >= ENOUGH_QUERIES:
            return judgments
    return collection.judgments()


def _together(parts: Iterable[Judgments]) -> Judgments:
    grades: dict[str, dict[str, int]] = {}
    for part in parts:
        for query, of_query in part.items():
            grades.setdefault(query, {}).update(of_query)
    return Judgments(grades)


def _graded(judgments: Judgments, grades: str) -> Judgments:
    if grades not in GRADES:
        raise UnknownName("grades", grades, GRADES)
    codes = any(grade == -1 for of_query in judgments.values() for grade in of_query.values())
    return judgments.binary() if grades == "binary" or (grades == "auto" and codes) else judgments


def _check_size(documents: int) -> None:
    if documents > MOST_CELLS // 30:
        raise InvalidInput(
            f"{documents} documents: this experiment holds the scores of all of them for each judged query, and so "
            f"takes at most {MOST_CELLS // 30}; choose a part of the collection"
        )


def _weak_queries(sources: Sources, collection: Collection, judged: Sequence[Query], searcher: Searcher) -> WeakQueries:
    """What people asked and nobody judged, then what is made of the documents, as far as it finds enough."""
    names, most = {query.id for query in judged}, sources.weak_queries
    asked = [query.text for query in collection.queries() if query.id not in names]
    made = made_queries(collection, SPARE * most, chance=_chance("weak queries"))
    annotator = searcher.annotator(sources.annotator)
    return kept_queries([*asked, *made], searcher.analyser, annotator, most=most, hits=HITS)


def _searcher(index: InvertedIndex, documents: Sequence[Document], folder: Path | None) -> Searcher:
    if folder is None:
        return Searcher(index)
    vectors = _encode(folder, [document.whole for document in documents])
    return Searcher(index, vectors, partial(_encode, folder))


@lru_cache(maxsize=1)
def _encoder(folder: Path) -> SentenceEncoder:
    return SentenceEncoder.load(folder)


def _encode(folder: Path, texts: Sequence[str]) -> Matrix:
    return cached_vectors(texts, _encoder(folder))


def _relevant(queries: Sequence[Query], judgments: Judgments, index: InvertedIndex) -> npt.NDArray[np.bool_]:
    relevant = np.zeros((len(queries), len(index.lengths)), dtype=bool)
    for row, query in zip(relevant, queries, strict=True):
        row[index.document_numbers(judgments.relevant(query.id))] = True
    return relevant


def _query_bags(tokens: Sequence[Sequence[str]], index: InvertedIndex) -> Bags:
    return Bags.of([index.numbers[token] for token in row if token in index.numbers] for row in tokens)


def _words(
    sources: Sources, index: InvertedIndex, documents: Sequence[Document], analyser: Analyser
) -> npt.NDArray[np.float32]:
    """A vector for each term: that of the most frequent word with this stem; of others a small one drawn by chance."""
    path = embeddings_file(sources.embeddings, sources.data)
    if path is None:
        texts = [analyser.tokens(document.whole) for document in documents]
        found = train_word2vec(texts, sources.columns, chance=_chance("word2vec"))
        return _laid_out(found, {word: word for word in found.words}, index)
    found = read_embeddings(path)
    return _laid_out(found, _by_term(found.words, analyser, index), index)


def _by_term(words: Sequence[str], analyser: Analyser, index: InvertedIndex) -> dict[str, str]:
    """Term -> word; files of word vectors have frequent words first."""
    chosen: dict[str, str] = {}
    for word in words:
        terms = analyser.tokens(word)
        if len(terms) == 1 and terms[0] in index.numbers:
            chosen.setdefault(terms[0], word)
    return chosen


def _laid_out(found: Embeddings, word_of: dict[str, str], index: InvertedIndex) -> npt.NDArray[np.float32]:
    vectors = _chance("unknown words").numpy().normal(size=(len(index.terms), found.vectors.shape[1]))
    rows = {index.numbers[term]: found.row[word] for term, word in word_of.items()}
    known = np.asarray(found.vectors[list(rows.values())], dtype=np.float32)
    vectors *= known.std() if known.size else 1.0
    vectors[list(rows)] = known
    return vectors.astype(np.float32)


def _chance(purpose: str) -> Chance:
    """Of what is the same for every seed."""
    return Chance(0).child("collection", purpose)


def _digest(sources: Sources, documents: Sequence[Document], queries: Sequence[Query], judgments: Judgments) -> str:
    digest = hashlib.sha256(repr((sources.annotator, sources.weak_queries, sources.grades)).encode())
    for document in documents:
        digest.update(f"{document.id}\t{document.whole}\n".encode("utf-8", "surrogatepass"))
    for query in queries:
        digest.update(f"{query.id}\t{query.text}\t{sorted(judgments[query.id].items())}\n".encode())
    return digest.hexdigest()
