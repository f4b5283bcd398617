"""The sentiment data as students and teachers read it: made once from the files, then kept on disk by content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed
from sklearn.decomposition import PCA

from fwl.annotate.contract import Annotator
from fwl.annotate.lexicon import Lexicon, SentiWordNet
from fwl.annotate.vader import Vader
from fwl.errors import InvalidInput, UnknownName
from fwl.experiments.made_tweets import LEXICON, MadeTweets
from fwl.experiments.resources import embeddings_file, encoder_folder
from fwl.progress import Progress, Silent
from fwl.randomness import Chance
from fwl.records import Array
from fwl.storage import Stored, read_folder, write_folder
from fwl.students.encoder import SentenceEncoder, encoder_ids
from fwl.students.vector_cache import cached_vectors, default_cache_folder
from fwl.text.embeddings import Embeddings, read_embeddings, train_word2vec
from fwl.text.reading import read_labelled, read_pool
from fwl.text.tokeniser import tokenise_all
from fwl.text.vocabulary import Vocabulary

STRONG, VALIDATION = ("2013train", "2013dev"), "2013test"
TESTS = {"SemEval-14": "2014test", "SemEval-15": "2015test"}
LEARNED = (*STRONG, VALIDATION)  # what may be looked at before a test
LABELLED = (*LEARNED, *TESTS.values())
ANNOTATORS = ("vader", "sentiwordnet", "made")
PIECES = "pieces"  # the part of samples with the encoder's own token ids
MOST_PIECES = 64  # of a tweet that are read
AT_ONCE = 4096  # texts that one process encodes before it tells
PCA_ROWS = 20_000  # are enough to find the directions
Tokens = list[list[str]]
Texts = Sequence[str]


@dataclass(frozen=True)
class Sources:
    """Where texts come from and how they are turned into numbers.

    Attributes:
        data: the folder with semeval/*.tsv and tweets.tsv.gz; "" for a made-up corpus.
        annotator: "vader", "sentiwordnet" (its file lies in the folder), or "made" for the made-up corpus's lexicon.
        pool: tweets of the pool to use, 0 for all.
        length: tokens of a tweet that are read.
        embeddings: a file of word vectors; "auto" for what lies in `embeddings` in or beside the folder; "" for none.
        word2vec: columns of word vectors trained on the tweets themselves, 0 for none.
        encoder: a folder with a sentence encoder; "auto" for the packaged one where it is installed; "" for none: then
            the mean of a tweet's word vectors stands for it.
        layers: of the encoder that are read.
        columns: of the vector of a tweet, its principal components.
        sets: labelled ones that are read; no number of one depends on another that is not strong.
    """

    data: str
    annotator: str
    pool: int
    length: int
    embeddings: str
    word2vec: int
    encoder: str
    layers: int
    columns: int
    sets: tuple[str, ...] = LABELLED


@dataclass(frozen=True, eq=False)
class Part:
    """Tweets as samples, what the annotator says of them, [N, 3], and what people said where they were asked."""

    X: npt.NDArray[Any]
    weak: Array
    y: Array


@dataclass(frozen=True, eq=False)
class Tweets:
    """Everything an experiment needs: the pool, the labelled sets by name, and a starting vector for each word."""

    pool: Part
    labelled: dict[str, Part]
    words: npt.NDArray[np.float32]
    sha256: str


def prepare(sources: Sources, progress: Progress | None = None) -> Path:
    """Make the data ready, unless it is already; returns the folder where it is kept."""
    key = _key(sources)
    folder = _cache() / "tweets" / key[:32]
    if not (folder / "manifest.json").exists():
        write_folder(folder, _made_ready(sources, key, progress or Silent()))
    return folder


@lru_cache(maxsize=2)
def load(folder: Path) -> Tweets:
    """The data that `prepare` left in a folder; read once in each process."""
    stored = read_folder(folder)
    arrays = stored.arrays

    def part(name: str) -> Part:
        samples = _samples(arrays[f"{name}.tokens"], arrays[f"{name}.vector"], arrays.get(f"{name}.{PIECES}"))
        return Part(samples, arrays[f"{name}.weak"], arrays[f"{name}.y"])

    labelled = {name: part(name) for name in LABELLED if f"{name}.y" in arrays}
    return Tweets(part("pool"), labelled, arrays["words"], stored.settings["sha256"])


def annotator_for(sources: Sources, folder: Path, texts: Texts) -> Annotator:
    """The annotator by its name; a lexicon is held against texts that need no labels."""
    if sources.annotator == "vader":
        return Vader(soft=True)
    if sources.annotator == "made":
        return Lexicon.read(folder / LEXICON).held_against(texts)
    if sources.annotator == "sentiwordnet":
        return SentiWordNet.read(_only(folder, "SentiWordNet*"))
    raise UnknownName("annotator", sources.annotator, ANNOTATORS)


def _made_ready(sources: Sources, key: str, progress: Progress) -> Stored:
    folder = _folder(sources)
    labelled = {name: read_labelled(folder / "semeval" / f"{name}.tsv") for name in sources.sets}
    pool = _some(read_pool(_only(folder, "tweets.tsv*")).texts, sources.pool)
    texts = {"pool": pool, **{name: part.texts for name, part in labelled.items()}}
    tokens = {name: tokenise_all(part) for name, part in texts.items()}
    vocabulary, words = _vocabulary(sources, tokens)
    annotator = annotator_for(sources, folder, pool)
    vectors = _vectors(sources, texts, tokens, vocabulary, words, progress)
    arrays: dict[str, npt.NDArray[Any]] = {"words": words}
    for name, part in texts.items():
        arrays[f"{name}.tokens"] = vocabulary.ids(tokens[name], sources.length)
        arrays[f"{name}.weak"] = annotator.annotate(part)
        arrays[f"{name}.vector"] = vectors[name]
        arrays[f"{name}.y"] = labelled[name].y if name in labelled else np.empty((0, 3))
    encoder = encoder_folder(sources.encoder, sources.data)
    if encoder is not None:
        arrays |= {f"{name}.{PIECES}": encoder_ids(part, open_encoder(encoder)) for name, part in texts.items()}
    return Stored("tweets", {"sha256": key}, arrays)


def _vocabulary(sources: Sources, tokens: dict[str, Tokens]) -> tuple[Vocabulary, npt.NDArray[np.float32]]:
    """The words, and a starting vector for each: those read from a file beside those trained on the tweets."""
    seen = [*tokens["pool"], *(row for name in STRONG for row in tokens[name])]
    path = embeddings_file(sources.embeddings, sources.data)
    read = None if path is None else read_embeddings(path, words={word for row in seen for word in row})
    vocabulary = Vocabulary.of(seen, at_least=2, keep=() if read is None else read.words)
    chance = Chance(0).child("word vectors")
    found: list[Embeddings] = [] if read is None else [read]
    if sources.word2vec:
        found.append(train_word2vec(seen, sources.word2vec, chance=chance.child("word2vec")))
    if not found:
        raise InvalidInput("no word vectors: give embeddings=FILE, or word2vec=100 to train them on the tweets")
    parts = [vectors.for_vocabulary(vocabulary, chance.child("unknown", i)) for i, vectors in enumerate(found)]
    return vocabulary, np.concatenate(parts, axis=1).astype(np.float32)


def _vectors(
    sources: Sources,
    texts: dict[str, Texts],
    tokens: dict[str, Tokens],
    vocabulary: Vocabulary,
    words: npt.NDArray[np.float32],
    progress: Progress,
) -> dict[str, npt.NDArray[np.float32]]:
    """One vector for each tweet: principal components, found on unlabelled tweets, of the encoder's or the words'."""
    encoder = encoder_folder(sources.encoder, sources.data)
    if encoder is None:
        raw = {name: _means(vocabulary.ids(rows, sources.length), words) for name, rows in tokens.items()}
    else:
        raw = _encoded(texts, encoder, sources.layers, progress)
    columns = min(sources.columns, *raw["pool"].shape)
    components = PCA(columns, random_state=0).fit(_standardised(raw["pool"][:PCA_ROWS], raw["pool"]))
    reduced = {name: components.transform(_standardised(rows, raw["pool"])) for name, rows in raw.items()}
    scale = np.sqrt(np.mean(reduced["pool"] ** 2))  # one for all columns: the first components stay the largest
    return {name: (rows / scale).astype(np.float32) for name, rows in reduced.items()}


def _standardised(rows: npt.NDArray[np.float32], over: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    centre, scale = over.mean(axis=0), over.std(axis=0)
    standardised: npt.NDArray[np.float32] = (rows - centre) / np.where(scale > 0, scale, np.float32(1.0))
    return standardised


def _means(ids: npt.NDArray[np.int32], words: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    present = (ids > 0).astype(np.float32)
    total = np.stack([words[row].sum(axis=0) for row in ids])  # padding has the zero vector
    mean: npt.NDArray[np.float32] = total / np.maximum(present.sum(axis=1, keepdims=True), 1.0)
    return mean


def _encoded(
    texts: dict[str, Texts], folder: Path, layers: int, progress: Progress
) -> dict[str, npt.NDArray[np.float32]]:
    """Vectors of all texts, on all cores; what was encoded before is read from the cache."""
    everything = [text for part in texts.values() for text in part]
    cuts = range(0, len(everything), AT_ONCE)
    progress.start(len(everything), "encoding tweets")
    found: list[npt.NDArray[np.float32]] = []
    try:
        work = (delayed(_encode)(everything[i : i + AT_ONCE], folder, layers) for i in cuts)
        for vectors in Parallel(n_jobs=-1, return_as="generator")(work):
            found.append(vectors)
            progress.advance(len(vectors))
    finally:
        progress.finish()
    edges = np.cumsum([len(part) for part in texts.values()])[:-1]
    return dict(zip(texts, np.split(np.concatenate(found), edges), strict=True))


@lru_cache(maxsize=1)
def open_encoder(folder: Path) -> SentenceEncoder:
    """The encoder whose token ids tweets have."""
    return SentenceEncoder.load(folder, length=MOST_PIECES)


@lru_cache(maxsize=1)
def _encoder(folder: Path, layers: int) -> SentenceEncoder:
    return SentenceEncoder.load(folder, layers=layers)


def _encode(texts: list[str], folder: Path, layers: int) -> npt.NDArray[np.float32]:
    import torch

    torch.set_num_threads(1)
    return cached_vectors(texts, _encoder(folder, layers))


def _samples(
    tokens: npt.NDArray[np.int32], vector: npt.NDArray[np.float32], pieces: npt.NDArray[np.int32] | None
) -> npt.NDArray[Any]:
    """Samples with named parts: word ids for the student, a vector for the teacher and, if it wants, the student.

    Where there is an encoder, its own token ids too, for a student that trains it.
    """
    parts = {"tokens": tokens, "vector": vector, **({} if pieces is None else {PIECES: pieces})}
    samples = np.empty(len(tokens), dtype=[(name, part.dtype, part.shape[1:]) for name, part in parts.items()])
    for name, part in parts.items():
        samples[name] = part
    return samples


def _some(texts: Texts, count: int) -> Texts:
    """So many of the pool, drawn once for all seeds; 0 for all of them in their order."""
    if not count or count >= len(texts):
        return texts
    rows = Chance(0).child("pool").numpy().permutation(len(texts))[:count]
    return [texts[row] for row in rows.tolist()]


def _folder(sources: Sources) -> Path:
    if sources.data:
        folder = Path(sources.data)
        if not (folder / "semeval").is_dir():
            raise InvalidInput(f"{folder} has no folder semeval with the labelled tweets; name the folder by --data")
        return folder
    folder = _cache() / "made-tweets"
    if not (folder / LEXICON).exists():
        MadeTweets().write(folder, Chance(0).child("made tweets"))
    return folder


def _only(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if not found:
        raise InvalidInput(f"{folder} holds no file {pattern}; name the folder of the data by --data")
    return found[0]


def _key(sources: Sources) -> str:
    """A digest of every file that is read and of every choice that matters."""
    folder = _folder(sources)
    files: list[Path | None] = [folder / "semeval" / f"{name}.tsv" for name in sources.sets]
    files += [
        _only(folder, "tweets.tsv*"),
        *sorted(folder.glob("*.tsv")),
        embeddings_file(sources.embeddings, sources.data),
    ]
    encoder = encoder_folder(sources.encoder, sources.data)
    files += [] if encoder is None else [encoder / "config.json", _only(encoder, "*.safetensors")]
    told_by_files = ("data", "embeddings", "encoder", *(["sets"] if sources.sets == LABELLED else []))
    choices = {name: value for name, value in vars(sources).items() if name not in told_by_files}
    digest = hashlib.sha256(json.dumps(["tweets 3", choices, encoder is None]).encode())
    for path in files:
        if path is not None:
            if not path.is_file():
                raise InvalidInput(f"{path} is missing; name the folder of the data by --data")
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _cache() -> Path:
    return default_cache_folder().parent
