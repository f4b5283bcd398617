"""The paper's ranking table: documents re-ranked by students that learned from an annotator's pairs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial

import numpy as np
import numpy.typing as npt
import torch

from fwl.annotate.preference import TARGETS, WeakPairs, strong_pairs
from fwl.errors import InvalidInput, UnknownName
from fwl.evaluate.folds import folds
from fwl.evaluate.ranking import rank_measures
from fwl.experiments.collections import Ready, Sources, load, prepare
from fwl.experiments.declare import Outcome, Score
from fwl.experiments.shares import check_share, some_rows
from fwl.experiments.taught import TEACHERS, method_named
from fwl.experiments.toy import ANNOTATOR, SKEW, skews
from fwl.learn.learned import Learned
from fwl.learn.members import Starts, sharing, started
from fwl.learn.methods import METHODS
from fwl.learn.recipe import Problem, Recipe, Teaching
from fwl.learn.search_auto import Judged, SearchModel, average_precision, fit_memory, fit_search, ranking_of
from fwl.learn.searcher import ANNOTATORS, DENSE, Matrix, candidates, standardised
from fwl.learn.task import PREFERENCE
from fwl.progress import Progress
from fwl.randomness import Chance
from fwl.records import StrongSet, WeakSet
from fwl.students.contract import Student
from fwl.students.ranker import PairRanker, Ranker, WordMeans
from fwl.students.score_ranker import ScoreRanker
from fwl.students.training import Training
from fwl.teach.clustered import ClusteredGP
from fwl.teach.kernels import Linear, Matern32, White

Rows = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
METRICS = {"MAP": "AP@1000", "nDCG@20": "nDCG@20"}
PAIRS, TEACHER_PAIRS = "accuracy on pairs", "accuracy on pairs of the teacher"
STUDENTS = ("pair", "score")

# The rows. Every neural one stands alone and, with "+WA" behind its name, interpolated with the annotator.
SEARCHES = {f"WA_{name}": name for name in ("binary", "tfidf", "rm3", DENSE)}
UNSUPERVISED = "FWL_unsuprep"
NEURAL = ("NN_W", "NN_S", "NN_S+/W", "NN_W->S", "NN_Womega->S", UNSUPERVISED, "FWL_noSigma", "FWL")
# The same with the student that scores each document by itself, ours, where the table's own is another.
SCORED = {f"{name}_score": name for name in ("NN_W", "NN_W->S", "FWL")}
LEARNED = (*NEURAL, "FWL_s", *TEACHERS, *SCORED)  # those of them in the table, and those of other analyses
BESIDE = f"+{ANNOTATOR}"
AUTO, FUSED, MEMORY = "FWL_auto", "FWL_auto_base", "FWL_auto_memory"
ROWS = (
    *(ANNOTATOR, *SEARCHES),
    *(f"{name}{end}" for name in (*NEURAL, *SCORED) for end in ("", BESIDE)),
    *(FUSED, MEMORY, AUTO),
)
MOST_VECTORS = 100_000  # weak pairs whose vectors are held at once, for FWL_unsuprep
_STARTS: Starts = Starts()  # of this process: the cells of a sweep begin alike
WEIGHTS = tuple(i / 10 for i in range(11))  # of the student beside the annotator


@dataclass(frozen=True)
class RankingSettings:
    """Every number of the ranking table.

    Attributes:
        seed: the first seed; the others follow.
        data: the folder of a collection, or an id of ir_datasets; "" for a made-up one.
        annotator: "bm25" (the paper's), "rm3", "tfidf" or "binary".
        encoder: a folder, "auto" or "" (see `collections.Sources`).
        embeddings: a file, "auto" or "" (see `collections.Sources`).
        word_columns: of word vectors that are trained, where there is no file of them.
        splits: of the judgments (see `collections.Sources`).
        grades: "auto", "scale" or "binary" (see `collections.Sources`).
        most_queries: judged ones, at the most.
        weak_queries: at the most.
        weak_pairs: drawn from their hits, for each seed anew.
        weak_share: of those, drawn by the seed, whose labels are learned from.
        target: how two scores become a label: a name in `TARGETS`.
        strong_pairs: of a judged query, at the most; each in both orders.
        n_strong: judged queries of a fold to learn from, drawn by the seed, at the most; 0 for all there are.
        folds: of the cross-validation over judged queries.
        validation_share: of a fold's queries to learn from, kept back to stop trainings and to weigh the annotator.
        student: "pair" (the paper's) or "score".
        hidden: its feed-forward layers.
        dropout: in training.
        batch_size: pairs of an update.
        learning_rate: of step 1, and of students that have one phase only.
        finetune_rate: of step 3.
        pretrain_steps: updates of step 1.
        finetune_steps: updates of step 3, at the most.
        check_every: updates between two looks at the validation queries' pairs.
        patience: such looks without a better one before a training stops; 0 to train to the end.
        clusters: of the paper's teacher.
        lengthscale: of its Matern kernel.
        white: its noise.
        beta: of eta2 = exp(-beta Sigma).
        depth: documents of the annotator that are ranked anew.
        opponents: that a document is compared with.
    """

    seed: int = 0
    data: str = ""
    annotator: str = "bm25"
    encoder: str = "auto"
    embeddings: str = "auto"
    word_columns: int = 100
    splits: str = "auto"
    grades: str = "auto"
    most_queries: int = 1500
    weak_queries: int = 20_000
    weak_pairs: int = 1_000_000
    weak_share: float = 1.0
    target: str = "ratio"
    strong_pairs: int = 50
    n_strong: int = 0
    folds: int = 3
    validation_share: float = 0.2
    student: str = "pair"
    hidden: tuple[int, ...] = (128, 64)
    dropout: float = 0.0
    batch_size: int = 128
    learning_rate: float = 1e-3
    finetune_rate: float = 1e-3
    pretrain_steps: int = 8000
    finetune_steps: int = 2000
    check_every: int = 50
    patience: int = 6
    clusters: int = 50
    lengthscale: float = 1.0
    white: float = 0.1
    beta: float = 1.0
    depth: int = 2000
    opponents: int = 32

    def __post_init__(self) -> None:
        for kind, name, known in (
            ("annotator", self.annotator, tuple(ANNOTATORS)),
            ("student", self.student, STUDENTS),
            ("target", self.target, tuple(TARGETS)),
        ):
            if name not in known:
                raise UnknownName(kind, name, known)
        for name in ("most_queries", "weak_queries", "weak_pairs", "strong_pairs", "clusters", "depth", "opponents"):
            if getattr(self, name) < 1:
                raise InvalidInput(f"setting {name}={getattr(self, name)}: expected at least 1")
        if not 0 < self.validation_share < 1 or self.folds < 2:
            raise InvalidInput(
                f"settings folds={self.folds}, validation_share={self.validation_share}: "
                "expected at least 2 folds and a share between 0 and 1"
            )
        if self.n_strong < 0:
            raise InvalidInput(f"setting n_strong={self.n_strong}: expected a number from 0 up")
        check_share(self.weak_share)


@dataclass(frozen=True)
class Fold:
    """Rows of judged queries: to learn from, to choose on, to report."""

    number: int
    train: Rows
    validation: Rows
    test: Rows

    @property
    def judged(self) -> Rows:
        """All whose judgments may be seen."""
        return np.concatenate([self.train, self.validation])


def prepare_ranking(settings: RankingSettings, progress: Progress) -> None:
    """Encode documents and queries once, before any seed asks for them."""
    prepare(_sources(settings), progress)


def measure_ranking(
    settings: RankingSettings,
    dataset: str,  # noqa: ARG001
    methods: tuple[str, ...],
    seed: int,
    with_curves: bool,  # noqa: ARG001
    with_skew: bool = False,
) -> Outcome:
    """MAP and nDCG@20 of each method over all judged queries, each ranked by what never saw its judgments.

    If asked, how even its fidelities are.
    """
    ready = load(_sources(settings))
    table = _Table(ready, settings, methods, Chance(seed), with_skew)
    with sharing(_STARTS):
        table.fill()
    return Outcome(tuple(table.scores()), ready.sha256)


def validate_ranking(settings: RankingSettings, seed: int) -> float:
    """MAP of NN_W->S over the first fold's validation queries; what it tests on is neither learned from nor ranked."""
    ready, chance = load(_sources(settings)), Chance(seed)
    fold = next(_folds(len(ready.queries), settings, chance))
    (student,) = _Learning(ready, settings, chance).learn("NN_W->S", fold).students
    own, _, among = _Reranker(ready, settings, student, chance.child("opponents"))(fold.validation)
    return float(average_precision(own, among, ready.relevant[fold.validation]).mean())


@dataclass(eq=False)
class _Table:
    """The rankings of every method, filled fold by fold."""

    ready: Ready
    settings: RankingSettings
    methods: tuple[str, ...]
    chance: Chance
    with_skew: bool = False
    rankings: dict[str, dict[int, Rows]] = field(default_factory=dict)
    by_fold: dict[tuple[str, str], list[float]] = field(default_factory=dict)

    def fill(self) -> None:
        for name in set(self.methods) & {ANNOTATOR, *SEARCHES}:
            self._search(name)
        wanted = [name for name in LEARNED if {name, name + BESIDE} & set(self.methods)]
        for fold in _folds(len(self.ready.queries), self.settings, self.chance):
            for name in wanted:
                self._neural(name, fold, self._scored if name in SCORED else self._papers)
            if {AUTO, FUSED, MEMORY} & set(self.methods):
                self._auto(fold)

    @cached_property
    def _papers(self) -> _Learning:
        return _Learning(self.ready, self.settings, self.chance)

    @cached_property
    def _scored(self) -> _Learning:
        return _Learning(self.ready, replace(self.settings, student="score"), self.chance)

    def scores(self) -> Iterator[Score]:
        """Per metric and method; what is a mean over folds comes last."""
        for metric, measure in METRICS.items():
            for method in self.methods:
                if method in self.rankings:
                    each = self._measured(method, measure)
                    yield Score(self.ready.name, method, metric, False, float(np.mean(each)), tuple(each))
        for (metric, method), values in self.by_fold.items():
            if method in self.methods:
                yield Score(self.ready.name, method, metric, False, float(np.mean(values)))

    def _measured(self, method: str, measure: str) -> list[float]:
        documents, queries = self.ready.searcher.index.documents, self.ready.queries
        run = {
            queries[row].id: [(documents[number], -float(place)) for place, number in enumerate(ranked)]
            for row, ranked in self.rankings[method].items()
        }
        values = rank_measures(self.ready.judgments, run, [measure])[measure]
        return [round(values[query.id], 6) for query in queries]

    def _keep(self, method: str, rows: Rows, scores: Matrix, among: Mask) -> None:
        self.rankings.setdefault(method, {}).update(zip(rows.tolist(), ranking_of(scores, among), strict=True))

    def _search(self, method: str) -> None:
        name = self.settings.annotator if method == ANNOTATOR else SEARCHES[method]
        asked = self.ready.asked
        if name in asked.scores:  # without an encoder there is no dense row
            self._keep(method, np.arange(len(self.ready.queries)), asked.scores[name], candidates(asked, [name]))

    def _neural(self, name: str, fold: Fold, learning: _Learning) -> None:
        learned = learning.learn(SCORED.get(name, name), fold)
        (student,) = learned.students
        ranker = _Reranker(self.ready, self.settings, student, self.chance.child("opponents"))
        own, base, among = ranker(fold.test)
        self._keep(name, fold.test, own, among)
        if name + BESIDE in self.methods:
            weight = ranker.weight(fold.validation)
            self._keep(name + BESIDE, fold.test, (1 - weight) * base + weight * own, among)
        pairs = learning.pairs(fold.test, with_vectors=name == UNSUPERVISED)
        self._count(PAIRS, name, _accuracy(learned, pairs))
        for skew in skews(learned) if self.with_skew else ():
            self._count(SKEW, name, skew)
        if learned.teacher is not None:
            self._count(TEACHER_PAIRS, name, _rightly(learned.teacher.predict(pairs.X), pairs))
        if name == "NN_W":  # beside it, how often the annotator itself has the better document first
            assert pairs.weak is not None
            self._count(PAIRS, ANNOTATOR, _rightly(pairs.weak, pairs))

    def _auto(self, fold: Fold) -> None:
        ready, rows = self.ready, np.sort(fold.judged)
        judged = Judged(ready.asked.rows(rows), ready.relevant[rows])
        model = fit_search(judged, ready.searcher, self.chance.child("auto", fold.number))
        memory = fit_memory(judged, ready.searcher, model.fusion) if MEMORY in self.methods else None
        asked = ready.asked.rows(fold.test)
        models = {FUSED: SearchModel(model.fusion, None, None), MEMORY: memory, AUTO: model}
        for name, one in models.items():
            if one is not None and name in self.methods:
                self._keep(name, fold.test, *one.scores(asked))

    def _count(self, metric: str, method: str, value: float) -> None:
        self.by_fold.setdefault((metric, method), []).append(value)


class _Learning:
    """Students of one seed: step 1, which knows no judgment, is done once for all folds."""

    def __init__(self, ready: Ready, settings: RankingSettings, chance: Chance) -> None:
        self._ready, self._settings, self._chance = ready, settings, chance
        self._weak = _weak_set(ready, settings.target, settings.weak_pairs, settings.weak_share, chance)
        self._recipe = _recipe(ready, settings)
        self._started: Student | None = None

    def learn(self, name: str, fold: Fold) -> Learned:
        """A method, on the judgments of a fold."""
        chance = self._chance.child("fold", fold.number)
        if name == UNSUPERVISED:
            return METHODS[name](self._problem_with_vectors(fold), self._recipe, chance, None)
        strong = self.pairs(self._learned_from(fold))
        problem = Problem(self._weak, strong, PREFERENCE, self.pairs(fold.validation))
        return method_named(name, self._settings)(problem, self._recipe, chance, self._pretrained(strong))

    def _pretrained(self, strong: StrongSet) -> Student:
        """The student after step 1, which looks at no validation query, and at no strong pair."""
        if self._started is None:
            self._started = started(Problem(self._weak, strong, PREFERENCE), self._recipe, self._chance)
        return self._started

    def _learned_from(self, fold: Fold) -> Rows:
        """The judged queries of a fold to learn from; what fewer of them are, more of them have."""
        if not 0 < self._settings.n_strong < len(fold.train):
            return fold.train
        order = self._chance.child("strong queries", fold.number).numpy().permutation(fold.train)
        return np.sort(order[: self._settings.n_strong])

    def pairs(self, rows: Rows, with_vectors: bool = False) -> StrongSet:
        """The strong pairs of judged queries, and what the annotator says of them."""
        chance = self._chance.child("strong pairs")
        relevant, others = zip(*(self._judged(int(row), chance) for row in rows), strict=True)
        pairs, label = strong_pairs(rows, relevant, others, most=self._settings.strong_pairs, chance=chance)
        score = self._ready.asked.scores[self._settings.annotator]
        plus, minus = (score[pairs[:, 0], pairs[:, place]].astype(np.float64) for place in (1, 2))
        samples = _samples(pairs, *(self._means if with_vectors else ()))
        return StrongSet(samples, label, TARGETS[self._settings.target](plus, minus))

    def _judged(self, row: int, chance: Chance) -> tuple[Rows, Rows]:
        """The relevant documents of a query, and at least as many others where its candidates have them.

        Where unjudged candidates stand in for documents judged as not relevant, relevant ones are candidates too: the
        annotator found all of the former, and beside relevant documents that it missed it would look worse than chance.
        """
        ready = self._ready
        relevant = np.flatnonzero(ready.relevant[row])
        names = ready.judgments.not_relevant(ready.queries[row].id)
        others = ready.searcher.index.document_numbers(names).astype(np.int64)
        if len(relevant) <= len(others):
            return relevant, others
        found = np.flatnonzero(ready.asked.scores[self._settings.annotator][row] > 0)
        unjudged = np.setdiff1d(found, np.concatenate([relevant, others]))
        relevant = np.intersect1d(relevant, found)
        missing = max(0, len(relevant) - len(others))
        drawn = chance.child("unjudged", row).numpy().permutation(unjudged)[:missing]
        return relevant, np.concatenate([others, drawn])

    def _problem_with_vectors(self, fold: Fold) -> Problem:
        weak = self._weak.X["pair"][:MOST_VECTORS]
        learned_from = self._learned_from(fold)
        train, validation = (self.pairs(rows, with_vectors=True) for rows in (learned_from, fold.validation))
        return Problem(WeakSet(_samples(weak, *self._means), self._weak.y[: len(weak)]), train, PREFERENCE, validation)

    @cached_property
    def _means(self) -> tuple[Matrix, Matrix]:
        """What FWL_unsuprep's teacher sees of queries and documents: means of words that no training has changed."""
        ready = self._ready
        words = WordMeans(ready.words, ready.importance)
        with torch.inference_mode():
            return words(ready.query_bags).numpy(), words(ready.document_bags).numpy()


@lru_cache(maxsize=2)
def _weak_set(ready: Ready, target: str, pairs: int, share: float, chance: Chance) -> WeakSet:
    """The weak pairs of a seed, or a share of them: one object for all cells that learn from the same."""
    queries = len(ready.queries) + np.arange(len(ready.weak))
    drawn, label = WeakPairs(ready.weak.hits, queries, target, chance=chance.child("weak pairs")).draw(pairs)
    if share < 1:
        rows = some_rows(len(drawn), share, chance.child("share of weak pairs"))
        drawn, label = drawn[rows], label[rows]
    return WeakSet(_samples(drawn), label)


class _Reranker:
    """A student's ranking of the annotator's candidates."""

    def __init__(self, ready: Ready, settings: RankingSettings, student: Student, chance: Chance) -> None:
        self._ready, self._settings, self._student, self._chance = ready, settings, student, chance

    def __call__(self, rows: Rows) -> tuple[Matrix, Matrix, Mask]:
        """The scores of student and annotator, both standardised over the candidates [Q, N], and which these are."""
        s, asked = self._settings, self._ready.asked.rows(rows)
        among = candidates(asked, [s.annotator], s.depth)
        own = np.zeros(among.shape, dtype=np.float32)
        for place, row in enumerate(rows.tolist()):
            found = np.flatnonzero(among[place])
            own[place, found] = self._scores(row, found) if len(found) else 0.0
        return standardised(own, among), standardised(asked.scores[s.annotator], among), among

    def weight(self, rows: Rows) -> float:
        """The student's share beside the annotator that ranks these queries best; of equal ones the smallest."""
        own, base, among = self(rows)
        relevant = self._ready.relevant[rows]
        gains = [average_precision((1 - w) * base + w * own, among, relevant).mean() for w in WEIGHTS]
        return WEIGHTS[int(np.argmax(gains))]

    def _scores(self, row: int, documents: Rows) -> npt.NDArray[np.float64]:
        if isinstance(self._student, ScoreRanker):
            return self._student.scores(row, documents)
        assert isinstance(self._student, PairRanker)
        return self._student.rank_scores(row, documents, opponents=self._settings.opponents, chance=self._chance)


def _recipe(ready: Ready, settings: RankingSettings) -> Recipe:
    s = settings
    plan = Training(s.pretrain_steps, s.batch_size, learning_rate=s.learning_rate)
    return Recipe(
        _NewStudent(ready, replace(s, n_strong=0, weak_share=1.0, beta=1.0, finetune_steps=0)),
        pretraining=plan,
        finetuning=replace(
            plan,
            steps=s.finetune_steps,
            learning_rate=s.finetune_rate,
            patience=s.patience or None,
            check_every=s.check_every,
        ),
        teaching=Teaching(partial(_paper_teacher, s), input="psi"),
        beta=s.beta,
    )


@dataclass(frozen=True)
class _NewStudent:
    """Equal for cells that differ in what comes after step 1 only, so that they share it."""

    ready: Ready
    settings: RankingSettings

    def __call__(self, chance: Chance) -> Student:
        return _new_student(self.ready, self.settings, chance)


def _new_student(ready: Ready, settings: RankingSettings, chance: Chance) -> Ranker:
    s, tables = settings, (ready.query_bags, ready.document_bags, ready.words, ready.importance)
    if s.student == "score":
        return ScoreRanker(*tables, s.hidden, s.dropout, unit=True, chance=chance)
    return PairRanker(*tables, s.hidden, s.dropout, chance=chance)


def _paper_teacher(settings: RankingSettings) -> ClusteredGP:
    """Matern 3/2 + Linear + White with l = 1 on psi, in fifty clusters, as the appendix says."""
    kernel = Matern32(settings.lengthscale) + Linear() + White(settings.white)
    return ClusteredGP(settings.clusters, kernel=kernel)


def _folds(n: int, settings: RankingSettings, chance: Chance) -> Iterator[Fold]:
    for number, (kept, left_out) in enumerate(folds(n, settings.folds, chance.child("folds"))):
        order = chance.child("validation", number).numpy().permutation(kept)
        validation = max(1, round(settings.validation_share * len(order)))
        yield Fold(number, np.sort(order[validation:]), np.sort(order[:validation]), left_out)


def _samples(pairs: npt.NDArray[np.int32], *means: Matrix) -> npt.NDArray[np.void]:
    """Pairs as samples; with means of words of queries and of documents, their vector is the three side by side."""
    width = 3 * means[0].shape[1] if means else 0
    kind = [("pair", np.int32, (3,)), *([("vector", np.float32, (width,))] if means else [])]
    samples = np.empty(len(pairs), dtype=kind)
    samples["pair"] = pairs
    if means:
        queries, documents = means
        parts = (queries[pairs[:, 0]], documents[pairs[:, 1]], documents[pairs[:, 2]])
        samples["vector"] = np.concatenate(parts, axis=1)
    return samples


def _accuracy(learned: Learned, pairs: StrongSet) -> float:
    return _rightly(learned.predict(pairs.X), pairs)


def _rightly(said: npt.NDArray[np.float64], pairs: StrongSet) -> float:
    """The share of pairs whose better document is preferred; indifference is half right."""
    right = np.sign(said[:, 0] - 0.5) == np.sign(pairs.y[:, 0] - 0.5)
    return float(np.mean(np.where(said[:, 0] == 0.5, 0.5, right)))


def _sources(settings: RankingSettings) -> Sources:
    s = settings
    return Sources(
        data=s.data,
        annotator=s.annotator,
        encoder=s.encoder,
        embeddings=s.embeddings,
        columns=s.word_columns,
        splits=s.splits,
        grades=s.grades,
        most_queries=s.most_queries,
        weak_queries=s.weak_queries,
    )
