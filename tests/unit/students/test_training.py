import numpy as np
import pytest
import torch

from fwl.errors import InvalidInput, NumericalTrouble, UnknownName, WrongShape
from fwl.randomness import Chance
from fwl.students import Lesson, Training, train
from fwl.students.batches import LikeLengths, Shuffled
from tests import examples
from tests.examples import Interrupted, Listener
from tests.refusals import expect_refusal

REFUSED_PLANS = [
    ({"steps": -1}, "steps is at least 0, got -1"),
    ({"batch_size": 0}, "batch_size is at least 1, got 0"),
    ({"check_every": 0}, "check_every is at least 1, got 0"),
    ({"l2": -0.1}, "l2 is at least 0, got -0.1"),
    ({"l2": float("nan")}, "l2 is at least 0, got nan"),
    ({"learning_rate": 0.0}, "learning_rate is above 0, got 0.0"),
    ({"learning_rate": float("nan")}, "learning_rate is above 0, got nan"),
    ({"patience": 0}, "patience is at least 1 or None, got 0"),
]


@pytest.mark.parametrize(("setting", "message"), REFUSED_PLANS)
def test_a_plan_out_of_range_is_refused(setting, message):
    with expect_refusal(InvalidInput, message):
        Training(**setting)


def test_an_unknown_optimiser_is_answered_with_the_nearest():
    with expect_refusal(UnknownName, "unknown optimiser 'adem'; did you mean 'adam'? known: sgd, adam"):
        Training(optimiser="adem")


def test_an_unknown_annealing_is_answered_with_the_nearest():
    known = "constant, linear, cosine, inverse_time, exponential"
    with expect_refusal(UnknownName, f"unknown annealing 'cosin'; did you mean 'cosine'? known: {known}"):
        Training(annealing="cosin")


def test_no_steps_change_nothing():
    student = examples.perceptron()
    history = train(student, examples.lesson(), Training(steps=0), Chance(0))
    assert examples.same_bits(student, examples.perceptron())
    assert (history.loss, history.best_step, history.stopped_early) == ([], 0, False)


def test_every_step_leaves_its_loss():
    history = train(examples.perceptron(), examples.lesson(), Training(steps=12), Chance(0))
    assert len(history.loss) == history.best_step == 12
    assert history.held_out == history.checked_at == []


def test_one_sample_is_enough():
    student = examples.perceptron()
    history = train(student, examples.lesson(n=1), Training(steps=50, learning_rate=0.02), Chance(0))
    assert history.loss[-1] < history.loss[0]


def test_the_listener_hears_every_step():
    listener = Listener()
    train(examples.perceptron(), examples.lesson(), Training(steps=9), Chance(0), progress=listener)
    assert (listener.total, listener.what, listener.finished) == (9, "training", True)
    assert listener.heard == [0] + [1] * 9


def test_dropout_leaves_the_global_generator_alone():
    before = torch.get_rng_state()
    train(examples.with_dropout(), examples.lesson(), Training(steps=3), Chance(0))
    assert torch.equal(torch.get_rng_state(), before)


def test_even_an_interrupted_training_gives_the_global_generator_back():
    before = torch.get_rng_state()
    with pytest.raises(Interrupted):
        train(examples.with_dropout(), examples.lesson(), Training(steps=9), Chance(0), progress=Listener(4))
    assert torch.equal(torch.get_rng_state(), before)


def test_the_global_generator_has_no_say():
    one, other = examples.with_dropout(), examples.with_dropout()
    train(one, examples.lesson(), Training(steps=3), Chance(0))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(12345)
        train(other, examples.lesson(), Training(steps=3), Chance(0))
    assert examples.same_bits(one, other)


def test_another_chance_drops_other_units():
    """One batch holds every sample, so dropout is all that is left to chance."""
    one, other = examples.with_dropout(), examples.with_dropout()
    for seed, student in enumerate((one, other)):
        train(student, examples.lesson(), Training(steps=3), Chance(seed))
    assert not examples.same_bits(one, other)


def test_a_diverging_loss_is_trouble():
    student, plan = examples.wrapped(), Training(steps=500, optimiser="sgd", learning_rate=1e8)
    with pytest.raises(NumericalTrouble) as caught:
        train(student, examples.lesson(), plan, Chance(0))
    assert "the loss became" in str(caught.value)
    assert str(caught.value).endswith("try a smaller learning rate (now 100000000.0) or standardised inputs")


def test_an_infinite_loss_names_its_step():
    lesson = Lesson(np.zeros((2, 3)), [1e30, 1e30])
    message = "the loss became inf at step 1; try a smaller learning rate (now 0.001) or standardised inputs"
    with expect_refusal(NumericalTrouble, message):
        train(examples.perceptron(), lesson, Training(steps=5), Chance(0))


def test_a_loss_that_was_reduced_is_refused():
    with expect_refusal(InvalidInput, "a loss is per sample, [N]; got shape (): do not reduce it"):
        train(
            examples.perceptron(),
            examples.lesson(),
            Training(steps=1),
            Chance(0),
            loss=lambda outputs, targets: (outputs - targets).square().mean(),
        )


def test_labels_of_another_width_than_the_outputs_are_refused():
    message = "the student's outputs have shape (30, 1) and the labels (30, 2); expected the same"
    lesson = Lesson(examples.lesson().X, np.zeros((30, 2)))
    with expect_refusal(WrongShape, message):
        train(examples.perceptron(), lesson, Training(steps=1), Chance(0))


def test_patience_without_a_held_out_set_is_refused():
    message = "early stopping (patience) needs a held-out set to watch; give held_out or patience=None"
    with expect_refusal(InvalidInput, message):
        train(examples.perceptron(), examples.lesson(), Training(patience=2), Chance(0))


def test_l2_makes_parameters_smaller():
    plain, decayed = examples.perceptron(), examples.perceptron()
    train(plain, examples.lesson(), Training(steps=50, optimiser="sgd", learning_rate=0.05), Chance(0))
    train(decayed, examples.lesson(), Training(steps=50, optimiser="sgd", learning_rate=0.05, l2=0.1), Chance(0))
    assert size(decayed) < size(plain)


def size(student) -> float:
    return sum(p.detach().square().sum().item() for p in student.parameters())


def test_frozen_parameters_stay():
    student = examples.perceptron()
    student.hidden.requires_grad_(False)
    before = examples.parameters_of(student)
    train(student, examples.lesson(), Training(steps=5, l2=0.1), Chance(0))
    after = student.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before if name.startswith("hidden"))
    assert not torch.equal(before["output.weight"], after["output.weight"])


def test_a_vector_of_samples_is_one_column():
    one, other = examples.perceptron(1), examples.perceptron(1)
    x = np.linspace(-1, 1, 10)
    train(one, Lesson(x, x), Training(steps=3), Chance(0))
    train(other, Lesson(x[:, None], x), Training(steps=3), Chance(0))
    assert examples.same_bits(one, other)


def test_samples_with_lengths_come_in_batches_of_like_length():
    default, like, plain = (examples.text_cnn() for _ in range(3))
    lesson, plan, stream = examples.text_lesson(), Training(steps=5, batch_size=8), Chance(0).child("batches")
    train(default, lesson, plan, Chance(0))
    train(like, lesson, plan, Chance(0), batches=LikeLengths(like.lengths(lesson.X), 8, stream))
    train(plain, lesson, plan, Chance(0), batches=Shuffled(30, 8, stream))
    assert examples.same_bits(default, like)
    assert not examples.same_bits(default, plain)


def test_a_student_of_a_named_part_sees_nothing_of_the_others():
    one, other, lesson = examples.text_cnn(), examples.text_cnn(), examples.text_lesson()
    train(one, lesson, Training(steps=5), Chance(0))
    train(other, Lesson(lesson.X["tokens"], lesson.y), Training(steps=5), Chance(0))
    assert examples.same_bits(one, other)


def test_a_users_module_may_read_a_named_part():
    student, lesson = examples.wrapped(), examples.text_lesson()
    student.reads = "vector"
    numbers = np.zeros(30, dtype=[("tokens", np.int32, (2,)), ("vector", np.float64, (3,))])
    numbers["vector"] = lesson.X["vector"][:, :3]
    plain = examples.wrapped()
    train(student, Lesson(numbers, lesson.y), Training(steps=3), Chance(0))
    train(plain, Lesson(numbers["vector"], lesson.y), Training(steps=3), Chance(0))
    assert examples.same_bits(student, plain)
