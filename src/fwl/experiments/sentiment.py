"""The paper's sentiment table: tweets, a lexicon as weak annotator, a convolutional student."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

from fwl.errors import InvalidInput, UnknownName
from fwl.evaluate.calibration import expected_calibration_error
from fwl.evaluate.measures import positive_negative_f1
from fwl.experiments.declare import Outcome, Score
from fwl.experiments.guest import EncoderGuest
from fwl.experiments.remembered import Remembered
from fwl.experiments.resources import encoder_folder
from fwl.experiments.shares import check_share, some_rows
from fwl.experiments.taught import TEACHERS, method_named
from fwl.experiments.toy import ANNOTATOR, SKEW, skews
from fwl.experiments.tweets import (
    ANNOTATORS,
    LABELLED,
    LEARNED,
    STRONG,
    TESTS,
    VALIDATION,
    Part,
    Sources,
    Tweets,
    load,
    prepare,
)
from fwl.learn.learned import Learned
from fwl.learn.members import Starts, sharing, started
from fwl.learn.methods import METHODS
from fwl.learn.recipe import Auto, Problem, Recipe, Teaching
from fwl.learn.task import MULTICLASS
from fwl.progress import Progress
from fwl.randomness import Chance
from fwl.records import Array, StrongSet, WeakSet
from fwl.students.contract import Student
from fwl.students.text_cnn import TextCNN
from fwl.students.training import Training
from fwl.teach.clustered import ClusteredGP
from fwl.teach.kernels import RBF, Linear, White

_STARTS: Starts = Starts()  # of this process: the cells of a sweep over strong tweets begin alike
F1, TEACHER_F1, TEACHER_ECE = "F1", "F1 of the teacher", "ECE of the teacher"


def negative_f1(outputs: Array, y: Array) -> float:
    """What early stopping wants small: the official metric with a minus sign."""
    return -positive_negative_f1(y, outputs)


SENTIMENT_TASK = replace(MULTICLASS, name="sentiment", watch=negative_f1)


@dataclass(frozen=True)
class SentimentSettings:
    """Every number of the sentiment table.

    Attributes:
        seed: the first seed; the others follow.
        data: the folder of the data; "" for a made-up corpus.
        annotator: "vader" or "sentiwordnet" (the paper's); "made" for the made-up corpus.
        n_pool: tweets of the weak set, 0 for all there are.
        weak_share: of those, drawn by the seed, whose weak labels are learned from.
        n_strong: strong tweets, drawn by the seed; 0 for all there are.
        length: tokens of a tweet that are read.
        embeddings: a file of word vectors, "auto" or "" (see `tweets.Sources`).
        word2vec: columns of word vectors trained on the tweets.
        encoder: a folder, "auto" or "" (see `tweets.Sources`).
        encoder_layers: that are read.
        vector_columns: principal components of a tweet's vector.
        read_vector: whether students read that vector beside the words, as teachers do; False for the paper's student.
        filters: of each convolutional layer.
        width: of a filter, in words.
        convolutions: convolutional layers.
        hidden: feed-forward layers.
        dropout: in training.
        word_dropout: of word vectors and pooled filters in training.
        batch_size: tweets of an update.
        learning_rate: of step 1, and of students that have one phase only.
        finetune_rate: of step 3.
        pretrain_steps: updates of step 1, at the most.
        finetune_steps: updates of step 3, at the most.
        check_every: updates between two looks at the validation set.
        patience: such looks without a better one before a training stops; 0 to train to the end.
        clusters: of the paper's teacher.
        lengthscale: of its RBF kernel.
        white: its noise.
        beta: of eta2 = exp(-beta Sigma).
        committee: students of FWL_auto.
        kernel_rows: strong tweets on which FWL_auto fits its kernels.
        largest: strong tweets of one of FWL_auto's clusters.
        rebalance: how far FWL_auto moves towards equal classes.
        guest_layers: upper layers of the encoder that are trained to be FWL_auto's guest; 0 for no guest, and there is
            none without an encoder.
        guest_rate: its learning rate at first.
        guest_weak: weak tweets that the guest learns from before the strong ones; 0 for none.
    """

    seed: int = 0
    data: str = ""
    annotator: str = "vader"
    n_pool: int = 0
    weak_share: float = 1.0
    n_strong: int = 0
    length: int = 50
    embeddings: str = "auto"
    word2vec: int = 100
    encoder: str = "auto"
    encoder_layers: int = 6
    vector_columns: int = 256
    read_vector: bool = True
    filters: int = 200
    width: int = 3
    convolutions: int = 1
    hidden: tuple[int, ...] = (100,)
    dropout: float = 0.3
    word_dropout: float = 0.0
    batch_size: int = 64
    learning_rate: float = 1e-3
    finetune_rate: float = 1e-3
    pretrain_steps: int = 2000
    finetune_steps: int = 1500
    check_every: int = 75
    patience: int = 8
    clusters: int = 30
    lengthscale: float = 1.0
    white: float = 0.1
    beta: float = 1.0
    committee: int = 4
    kernel_rows: int = 1200
    largest: int = 12_000
    rebalance: float = 0.75
    guest_layers: int = 3
    guest_rate: float = 1e-4
    guest_weak: int = 12_800

    def __post_init__(self) -> None:
        if self.annotator not in ANNOTATORS:
            raise UnknownName("annotator", self.annotator, ANNOTATORS)
        for name in ("n_pool", "n_strong", "word2vec", "guest_layers", "guest_weak"):
            if getattr(self, name) < 0:
                raise InvalidInput(f"setting {name}={getattr(self, name)}: expected a number from 0 up")
        for name in ("length", "vector_columns", "clusters", "committee", "encoder_layers"):
            if getattr(self, name) < 1:
                raise InvalidInput(f"setting {name}={getattr(self, name)}: expected at least 1")
        check_share(self.weak_share)


def prepare_sentiment(settings: SentimentSettings, progress: Progress) -> None:
    """Read, tokenise, annotate and encode the tweets once, before any seed asks for them."""
    prepare(_sources(settings), progress)


def measure_sentiment(
    settings: SentimentSettings,
    dataset: str,  # noqa: ARG001
    methods: tuple[str, ...],
    seed: int,
    with_curves: bool,  # noqa: ARG001
    with_skew: bool = False,
) -> Outcome:
    """The official F1 of each method on each test set under one seed, and what its teacher alone reaches.

    If asked, how even its fidelities are.
    """
    tweets = load(prepare(_sources(settings)))
    problem, recipe, chance = problem_of(tweets, settings, seed), recipe_of(settings), Chance(seed)
    remembering, scores = _remembering(recipe, settings), []
    guest = _guest(settings)
    if guest is not None and "FWL_auto" in methods:
        guest.begin(problem)
    with sharing(_STARTS):
        pretrained = started(problem, recipe, chance) if set(methods) & _START_FROM_STEP_1 else None
        for method in methods:
            learn = None if method == ANNOTATOR else method_named(method, settings)
            taught = recipe if method in TEACHERS else remembering
            learned = None if learn is None else learn(problem, taught, chance, pretrained)
            for name, file in TESTS.items():
                scores += [Score(name, method, *mark) for mark in _marks(learned, tweets.labelled[file], with_skew)]
    return Outcome(tuple(scores), tweets.sha256)


def prepare_tuning(settings: SentimentSettings, progress: Progress) -> None:
    """As `prepare_sentiment`, of the pool, the strong tweets and the validation set: no test set is opened."""
    prepare(_sources(settings, LEARNED), progress)


def validate_sentiment(settings: SentimentSettings, seed: int) -> float:
    """The official F1 of NN_W->S on the validation set, by which students are tuned; no test set is opened."""
    tweets = load(prepare(_sources(settings, LEARNED)))
    learned = METHODS["NN_W->S"](problem_of(tweets, settings, seed), recipe_of(settings, LEARNED), Chance(seed), None)
    validation = tweets.labelled[VALIDATION]
    return positive_negative_f1(validation.y, learned.predict(validation.X, validation.weak))


def problem_of(tweets: Tweets, settings: SentimentSettings, seed: int) -> Problem:
    """The weak pool, the strong tweets of this seed, and the validation set."""
    parts = [tweets.labelled[name] for name in STRONG]
    X, y, weak = (np.concatenate([getattr(part, name) for part in parts]) for name in ("X", "y", "weak"))
    if settings.n_strong and settings.n_strong < len(X):
        rows = Chance(seed).child("strong tweets").numpy().permutation(len(X))[: settings.n_strong]
        X, y, weak = X[rows], y[rows], weak[rows]
    share = settings.weak_share
    pool, validation = _shared(tweets, share, seed if share < 1 else 0)
    return Problem(pool, StrongSet(X, y, weak), SENTIMENT_TASK, validation)


@lru_cache(maxsize=2)
def _shared(tweets: Tweets, share: float, seed: int) -> tuple[WeakSet, StrongSet]:
    """What problems of any number of strong tweets have in common: the pool, or a share of it, and the validation set.

    The whole pool is the same for all seeds.
    """
    validation, X, weak = tweets.labelled[VALIDATION], tweets.pool.X, tweets.pool.weak
    if share < 1:
        rows = some_rows(len(X), share, Chance(seed).child("weak tweets"))
        X, weak = X[rows], weak[rows]
    return WeakSet(X, weak), StrongSet(validation.X, validation.y, validation.weak)


def recipe_of(settings: SentimentSettings, sets: tuple[str, ...] = LABELLED) -> Recipe:
    """The settings as the recipe that all methods share, on data of which these labelled sets were read."""
    s = settings
    plan = Training(
        s.pretrain_steps,
        s.batch_size,
        learning_rate=s.learning_rate,
        patience=s.patience or None,
        check_every=s.check_every,
    )
    return Recipe(
        _NewStudent(_of_step_1(settings), sets),
        pretraining=plan,
        finetuning=replace(plan, steps=s.finetune_steps, learning_rate=s.finetune_rate),
        teaching=Teaching(partial(_paper_teacher, s), input="psi"),
        beta=s.beta,
        auto=Auto(
            # The student has its own half of the committee: a teacher that repeats it adds nothing.
            inputs=("x",),
            prior_means=("average", "weak"),
            largest=s.largest,
            kernel_rows=s.kernel_rows,
            committee=s.committee,
            rebalance=s.rebalance,
            guest=_guest(s),
        ),
    )


def _of_step_1(settings: SentimentSettings) -> SentimentSettings:
    """The settings without what comes after step 1, or makes no other student: cells that differ there share it."""
    return replace(settings, n_strong=0, weak_share=1.0, beta=1.0, finetune_steps=0)


def _guest(settings: SentimentSettings) -> EncoderGuest | None:
    """The encoder itself, its upper layers trained, where there is one."""
    s, folder = settings, encoder_folder(settings.encoder, settings.data)
    if folder is None or not s.guest_layers:
        return None
    return EncoderGuest(folder, s.guest_layers, s.guest_rate, s.guest_weak)


@dataclass(frozen=True)
class _NewStudent:
    settings: SentimentSettings
    sets: tuple[str, ...]

    def __call__(self, chance: Chance) -> Student:
        s = self.settings
        tweets = load(prepare(_sources(s, self.sets)))
        return TextCNN(
            tweets.words,
            3,
            s.filters,
            s.width,
            s.convolutions,
            s.hidden,
            s.dropout,
            word_dropout=s.word_dropout,
            beside=tweets.pool.X["vector"].shape[1] if s.read_vector else 0,
            chance=chance,
        )


def _remembering(recipe: Recipe, settings: SentimentSettings) -> Recipe:
    """The same recipe, whose teacher is fitted once for all methods and cells that ask it the same."""
    s, teaching = settings, recipe.teaching
    teacher = partial(Remembered, teaching.new_teacher, (s.clusters, s.lengthscale, s.white))
    return recipe.but(teaching=replace(teaching, new_teacher=teacher))


def _paper_teacher(settings: SentimentSettings) -> ClusteredGP:
    """RBF + Linear + White with l = 1 on psi, in thirty clusters, as the appendix says."""
    kernel = RBF(settings.lengthscale) + Linear() + White(settings.white)
    return ClusteredGP(settings.clusters, kernel=kernel)


# What these methods do first is the same, draw for draw: it is done once.
_START_FROM_STEP_1 = {
    *("NN_W", "NN_W->S", "NN_W->Sx4", "NN_Womega->S", "FWL_noSigma", "FWL", "FWL_s", "FWL_auto"),
    *TEACHERS,
}


def _marks(learned: Learned | None, test: Part, with_skew: bool) -> list[tuple[str, bool, float]]:
    """(metric, whether lower is better, value) of what was learned; of the annotator itself if nothing was."""
    if learned is None:
        return [(F1, False, positive_negative_f1(test.y, test.weak))]
    marks = [(F1, False, positive_negative_f1(test.y, learned.predict(test.X, test.weak)))]
    if learned.teacher is not None:
        said = learned.teacher.predict(test.X, test.weak)
        marks.append((TEACHER_F1, False, positive_negative_f1(test.y, said)))
        marks.append((TEACHER_ECE, True, expected_calibration_error(test.y, said)))
    return [*marks, *((SKEW, False, skew) for skew in skews(learned) if with_skew)]


def _sources(settings: SentimentSettings, sets: tuple[str, ...] = LABELLED) -> Sources:
    s = settings
    return Sources(
        data=str(Path(s.data).resolve()) if s.data else "",
        annotator=s.annotator if s.data else "made",  # made-up words are in no lexicon but their own
        pool=s.n_pool,
        length=s.length,
        embeddings=s.embeddings,
        word2vec=s.word2vec,
        encoder=s.encoder,
        layers=s.encoder_layers,
        columns=s.vector_columns,
        sets=sets,
    )
