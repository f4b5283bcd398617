from dataclasses import dataclass

import numpy as np
import pytest

from fwl.errors import InvalidInput, NotFinite, WrongShape
from fwl.teach import KernelMemory, QueryDocumentGP, choose_correction
from tests.refusals import expect_refusal

N, TOPICS = 60, 6


@dataclass(frozen=True)
class Says:
    """A correction that says one number everywhere."""

    value: float
    queries: int = 40

    def leave_one_query_out(self) -> np.ndarray:
        return np.full((self.queries, 2), self.value)

    def described(self) -> dict[str, float]:
        return {"value": self.value}


def scattered(correction: np.ndarray) -> np.ndarray:
    """A gain of what is said, more or less by 1 in turns."""
    return correction[:, 0] + np.where(np.arange(len(correction)) % 2, 1.0, -1.0)


def average_precision(scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
    ranked = np.take_along_axis(labels, np.argsort(-scores, axis=1, kind="stable"), axis=1)
    precision = np.cumsum(ranked, axis=1) / np.arange(1, labels.shape[1] + 1)
    return (ranked * precision).sum(axis=1) / ranked.sum(axis=1)


def searches(queries: int, related: bool, seed: int = 0):
    """Queries and documents of some topics; what is relevant is a matter of the topic, or of chance."""
    rng = np.random.default_rng(seed)
    centres, topic, of_document = np.eye(TOPICS), rng.integers(TOPICS, size=queries), np.arange(N) % TOPICS
    labels = (topic[:, None] == of_document) * (rng.random((queries, N)) < 0.7)
    if not related:
        labels = rng.permuted(labels, axis=1)
    labels[:, 0] |= ~labels.any(axis=1)
    vectors = [centres[which] + 0.2 * rng.normal(size=(len(which), TOPICS)) for which in (topic, of_document)]
    return (*vectors, labels.astype(float), rng.normal(size=(queries, N)))


def chosen(queries: int, related: bool, seed: int = 0):
    Q, D, labels, base = searches(queries, related, seed)
    teacher = QueryDocumentGP().fit(Q, D, labels - labels.mean())
    before = average_precision(base, labels)
    return choose_correction(teacher.alternatives(), lambda added: average_precision(base + added, labels) - before)


@pytest.mark.parametrize("queries", [20, 80])
def test_a_real_gain_is_kept(queries):
    teacher, choice = chosen(queries, related=True)
    assert choice.keep
    assert choice.best.gain > 0.1
    assert choice.weight == choice.best.weight > 0
    assert teacher.described() == choice.best.settings
    assert choice.reason.startswith("Used: the best of 12 settings gains +0.")


@pytest.mark.parametrize(("queries", "most"), [(20, 1), (80, 4)])
def test_a_gain_that_is_chance_is_mostly_not(queries, most):
    """The best of twelve settings is above one standard error by chance now and then, and seldom above two."""
    choices = [chosen(queries, related=False, seed=seed)[1] for seed in range(10)]
    assert sum(choice.keep for choice in choices) <= most
    choice = next(choice for choice in choices if not choice.keep)
    assert choice.weight == 0.0
    assert choice.reason.startswith("Not used: the best of 12 settings gains ")
    assert choice.reason.endswith("rank by the base alone, or judge more queries.")


def test_a_memory_is_chosen_by_the_same_rule():
    Q, D, labels, base = searches(40, related=True)
    memories = [KernelMemory(lengthscale).fit(Q, D, labels) for lengthscale in (0.3, 0.8)]
    before = average_precision(base, labels)
    memory, choice = choose_correction(memories, lambda added: average_precision(base + added, labels) - before)
    assert choice.keep
    assert memory in memories
    assert len(choice.tried) == 6


def test_everything_that_was_tried_is_told():
    best, choice = choose_correction([Says(1.0), Says(2.0), Says(-3.0)], scattered, weights=(1.0, 2.0))
    assert best == Says(2.0)
    assert [(t.settings["value"], t.weight, t.gain) for t in choice.tried] == [
        *((1.0, 1.0, 1.0), (1.0, 2.0, 2.0)),
        *((2.0, 1.0, 2.0), (2.0, 2.0, 4.0)),
        *((-3.0, 1.0, -3.0), (-3.0, 2.0, -6.0)),
    ]
    assert choice.best == choice.tried[3]
    assert choice.best.standard_error == pytest.approx(np.std([1.0, -1.0] * 20, ddof=1) / np.sqrt(40))


def test_of_equal_gains_the_first_is_taken():
    _, choice = choose_correction([Says(1.0), Says(0.5)], scattered, weights=(1.0, 2.0, 1.0))
    assert choice.best is choice.tried[1]


@pytest.mark.parametrize(
    ("queries", "errors_above", "keep"), [(50, 1.5, False), (50, 2.5, True), (52, 1.5, True), (52, 0.5, False)]
)
def test_few_queries_have_to_show_more(queries, errors_above, keep):
    error = np.std([1.0, -1.0] * (queries // 2), ddof=1) / np.sqrt(queries)
    _, choice = choose_correction([Says(errors_above * error, queries)], scattered, weights=(1.0,))
    assert choice.keep is keep
    assert f"{'2 standard errors' if queries == 50 else '1 standard error'} above 0" in choice.reason


def test_the_reason_is_a_sentence():
    _, choice = choose_correction([Says(0.1)], scattered, weights=(1.0,))
    assert choice.reason == (
        "Not used: the best of 1 settings gains +0.1000 ± 0.1601 over the base on 40 judged queries, each left out in "
        "turn, which is not 2 standard errors above 0; rank by the base alone, or judge more queries."
    )
    _, choice = choose_correction([Says(1.0)], scattered, weights=(1.0,))
    assert choice.reason == (
        "Used: the best of 1 settings gains +1.0000 ± 0.1601 over the base on 40 judged queries, each left out in "
        "turn, which is more than 2 standard errors above 0."
    )


def test_no_gain_anywhere_is_not_kept_and_the_same_gain_everywhere_is():
    assert not choose_correction([Says(0.0)], lambda c: c[:, 0])[1].keep
    assert choose_correction([Says(0.1)], lambda c: c[:, 0])[1].keep


def test_one_query_is_not_enough():
    _, choice = choose_correction([Says(9.0, queries=1)], lambda c: c[:, 0])
    assert not choice.keep
    assert choice.reason == "Not used: one judged query shows no spread of the gain; judge more queries."


def test_nothing_to_choose_from_is_refused():
    message = "no correction to choose from; expected at least one candidate and one weight"
    with expect_refusal(InvalidInput, message):
        choose_correction([], scattered)
    with expect_refusal(InvalidInput, message):
        choose_correction([Says(1.0)], scattered, weights=())


def test_gains_that_are_none_are_refused():
    with expect_refusal(WrongShape, "gains: expected one for each of 40 judged queries, got 3"):
        choose_correction([Says(1.0)], lambda c: np.ones(3))
    with pytest.raises(NotFinite):
        choose_correction([Says(1.0)], lambda c: c[:, 0] * np.nan)
