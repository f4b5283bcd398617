import numpy as np
import pytest

from fwl.randomness import Chance
from fwl.students import Training, train
from fwl.students.schedules import SCHEDULES
from tests import examples

AT_THE_END = {"constant": 1.0, "linear": 0.0, "cosine": 0.0, "inverse_time": 0.1, "exponential": 0.01}
HALF_WAY = {"constant": 1.0, "linear": 0.5, "cosine": 0.5, "inverse_time": 1 / 5.5, "exponential": 0.1}


def test_every_schedule_has_its_ends_checked():
    assert SCHEDULES.keys() == AT_THE_END.keys() == HALF_WAY.keys()


@pytest.mark.parametrize("name", SCHEDULES)
def test_both_ends_and_the_middle(name):
    shares = [SCHEDULES[name](step, 100) for step in (0, 50, 100)]
    assert shares == pytest.approx([1.0, HALF_WAY[name], AT_THE_END[name]], abs=1e-12)


@pytest.mark.parametrize("name", SCHEDULES)
def test_the_rate_never_rises(name):
    shares = [SCHEDULES[name](step, 37) for step in range(38)]
    assert (np.diff(shares) <= 0).all()


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_step_moves_by_its_annealed_rate(name):
    """Plain SGD on two steps: the second is the constant rate's, scaled by the schedule."""
    lesson, steps = examples.lesson(), 2
    after_one = examples.perceptron()
    train(after_one, lesson, sgd(steps=1, annealing="constant"), Chance(0))
    annealed, constant = examples.perceptron(), examples.perceptron()
    train(annealed, lesson, sgd(steps=steps, annealing=name), Chance(0))
    train(constant, lesson, sgd(steps=steps, annealing="constant"), Chance(0))
    share = SCHEDULES[name](1, steps)
    for start, slow, fast in zip(after_one.parameters(), annealed.parameters(), constant.parameters(), strict=True):
        moved = (slow - start).detach().numpy()
        np.testing.assert_allclose(moved, share * (fast - start).detach().numpy(), rtol=0, atol=1e-6)


def sgd(**changes) -> Training:
    return Training(batch_size=30, optimiser="sgd", learning_rate=0.1, **changes)
