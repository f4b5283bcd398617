import numpy as np
import pytest
from tests.oracles.variance_reduction import greedy_by_trying
from tests.problems import class_problem, class_recipe
from tests.refusals import expect_refusal
from tests.tolerances import ALGEBRA

from fwl.errors import InvalidInput
from fwl.learn.eyes import OneStudent
from fwl.learn.fitted import fit_teacher
from fwl.learn.suggest import greedy, suggest
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


def test_clusters_give_no_more_than_twice_their_share():
    Z, candidates, references, weight = sets()
    cluster = (np.arange(15) >= 9).astype(int)
    inside = insight(ExactGP(KERNEL + White(NOISE)).fit(Z, np.zeros(6)))
    picked, _ = greedy(inside, candidates, references, np.where(references[:, 0] > 0, weight, 0.0), 4, cluster)
    assert np.bincount(cluster[picked], minlength=2).max() <= 5
    everything, _ = greedy(inside, candidates, references, weight, 15, cluster)
    assert sorted(everything.tolist()) == list(range(15))  # when all are used up, nobody is refused


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


def test_a_longer_reach_suggests_others(fitted):
    pool = class_problem().problem.weak.X
    near, far = (suggest(fitted, pool, 10, Chance(0), clusters=1, reach=reach).rows for reach in (None, 10.0))
    assert set(near.tolist()) != set(far.tolist())


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
