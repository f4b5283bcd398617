import numpy as np
import pytest
from tests.oracles.variance_reduction import greedy_by_trying
from tests.problems import class_problem, class_recipe
from tests.refusals import expect_refusal
from tests.tolerances import ALGEBRA

from fwl.errors import InvalidInput
from fwl.learn.eyes import OneStudent
from fwl.learn.fitted import fit_teacher
from fwl.learn.suggest import Foresight, Groups, greedy, suggest
from fwl.randomness import Chance
from fwl.teach import RBF, ExactGP, White
from fwl.teach.insight import insight

KERNEL, NOISE = RBF(1.0, 0.8), 0.05


def plain_kernel(A, B):
    squared = ((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=2)
    return 0.8 * np.exp(-0.5 * squared)


def sets(seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(6, 2)), rng.normal(size=(15, 2)), rng.normal(size=(25, 2)), rng.uniform(size=25)


@pytest.mark.parametrize("seed", range(3))
def test_the_greedy_choice_is_that_of_trying_each(seed):
    Z, candidates, references, weight = sets(seed)
    inside = insight(ExactGP(KERNEL + White(NOISE)).fit(Z, np.zeros(6)))
    picked, gain = greedy(inside, candidates, references, weight, 5)
    expected, gains = greedy_by_trying(plain_kernel, NOISE, Z, candidates, references, weight, 5)
    assert picked.tolist() == expected
    np.testing.assert_allclose(gain, gains, atol=ALGEBRA)


def test_gains_fall_and_no_candidate_is_picked_twice():
    Z, candidates, references, weight = sets()
    inside = insight(ExactGP(KERNEL + White(NOISE)).fit(Z, np.zeros(6)))
    picked, gain = greedy(inside, candidates, references, weight, 15)
    assert sorted(picked.tolist()) == list(range(15))
    assert (np.diff(gain) <= ALGEBRA).all()


def favourites(wanted=3):
    """A process, its candidates and references, and a group of the candidates that would be picked first."""
    Z, candidates, references, weight = sets()
    inside = insight(ExactGP(KERNEL + White(NOISE)).fit(Z, np.zeros(6)))
    first, _ = greedy(inside, candidates, references, weight, wanted)
    return (inside, candidates, references, weight), np.isin(np.arange(15), first).astype(int)


@pytest.mark.parametrize(("most", "given"), [(1.0, 1), (2.0, 2), (3.0, 3)])
def test_a_group_gives_no_more_than_it_may(most, given):
    given_to, group = favourites()
    picked, _ = greedy(*given_to, 5, [Groups(group, most)])  # 3 of 15 candidates: one of 5 suggestions is its share
    assert group[picked].sum() == given


def test_several_ways_of_grouping_hold_together():
    given_to, group = favourites()
    alike = np.zeros(15, dtype=int)
    picked, _ = greedy(*given_to, 5, [Groups(alike, 2.0), Groups(group, 1.0)])
    alone, _ = greedy(*given_to, 5, [Groups(group, 1.0)])
    assert picked.tolist() == alone.tolist()


def test_when_all_groups_are_used_up_nobody_is_refused():
    given_to, group = favourites()
    everything, _ = greedy(*given_to, 15, [Groups(group, 0.5)])
    assert sorted(everything.tolist()) == list(range(15))


@pytest.fixture(scope="module")
def fitted():
    problem = class_problem().problem
    student = OneStudent(class_recipe().new_student(Chance(0)))
    return fit_teacher(student, problem.strong, problem.all_samples, class_recipe().teaching, problem.task)


def test_it_suggests_rows_that_are_allowed(fitted):
    pool = class_problem().problem.weak.X
    allowed = np.arange(100, 200)
    found = suggest(fitted, pool, 10, Chance(0), allowed=allowed)
    assert set(found.rows.tolist()) <= set(allowed.tolist())
    assert len(set(found.rows.tolist())) == 10
    assert ((found.gain > 0) & (found.gain < 1)).all()


@pytest.mark.parametrize("other", [Foresight(10.0, 0.1), Foresight(0.1, 0.99)], ids=["longer reach", "more noise"])
def test_what_labels_will_tell_decides_which_are_asked_for(fitted, other):
    pool = class_problem().problem.weak.X
    asked, others = (suggest(fitted, pool, 10, Chance(0), clusters=1, foresight=sight) for sight in (None, other))
    assert set(asked.rows.tolist()) != set(others.rows.tolist())
    assert asked.gain.sum() != pytest.approx(others.gain.sum(), rel=1e-3)


def test_the_noisier_labels_will_be_the_less_they_bring(fitted):
    pool = class_problem().problem.weak.X
    gains = [suggest(fitted, pool, 10, Chance(0), foresight=Foresight(1.5, share)).gain.sum() for share in (0.5, 0.9)]
    assert gains[1] < gains[0]


def test_no_class_gives_more_than_its_share(fitted):
    pool = class_problem().problem.weak.X
    free = suggest(fitted, pool, 12, Chance(0)).rows
    liked = np.isin(np.arange(len(pool)), free[:6]).astype(int)
    held = suggest(fitted, pool, 12, Chance(0), classes=lambda rows: liked[rows]).rows
    assert liked[held].sum() == 1  # six rows of hundreds have less than one of twelve suggestions; it is rounded up


def test_the_same_chance_suggests_the_same(fitted, monkeypatch):
    monkeypatch.setattr("fwl.learn.suggest.CANDIDATES", 50)
    monkeypatch.setattr("fwl.learn.suggest.REFERENCES", 40)
    pool = class_problem().problem.weak.X
    one, again = (suggest(fitted, pool, 5, Chance(3)).rows.tolist() for _ in range(2))
    assert one == again


def test_suggestions_leave_less_variance_than_random_rows(fitted):
    pool = class_problem().problem.weak.X
    inside, Z = insight(fitted.teacher), fitted.view(pool)
    ours = suggest(fitted, pool, 10, Chance(0), clusters=1).rows

    def left(rows):
        covariance, own = inside.covariance(Z, Z[rows]), inside.covariance(Z[rows], Z[rows])
        solved = np.linalg.solve(own + inside.noise * np.eye(len(rows)), covariance.T)
        return (inside.variance(Z) - (covariance * solved.T).sum(axis=1)).sum()

    rng = np.random.default_rng(0)
    assert left(ours) < min(left(rng.choice(len(pool), 10, replace=False)) for _ in range(20))


def test_what_counts_more_is_asked_about_first(fitted):
    pool = class_problem().problem.weak.X
    right = (pool[:, 0] > 0).astype(float)
    rows = suggest(fitted, pool, 10, Chance(0), importance=lambda rows: right[rows], clusters=1).rows
    assert right[rows].mean() > 0.7


@pytest.mark.parametrize("n", [0, 301])
def test_more_rows_than_there_are_are_refused(fitted, n):
    pool = class_problem().problem.weak.X
    message = f"n={n}: expected 1 to 300, as many as there are samples to choose from"
    with expect_refusal(InvalidInput, message):
        suggest(fitted, pool, n, Chance(0))
