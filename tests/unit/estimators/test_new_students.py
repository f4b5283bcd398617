import numpy as np
import pytest
import torch
from tests.examples import same_bits
from tests.refusals import expect_refusal
from torch import nn

from fwl.errors import InvalidInput, UnknownName
from fwl.estimators.new_students import as_student, new_student_for
from fwl.estimators.new_teachers import NewTeacher, teacher_named
from fwl.randomness import Chance
from fwl.students import Perceptron, TextCNN, WrappedStudent
from fwl.teach import ClusteredGP, ExactGP

NUMBERS = np.zeros((4, 3))
VECTORS = np.zeros(4, dtype=[("vector", np.float32, (5,))])
TEXTS = np.zeros(4, dtype=[("tokens", np.int32, (7,)), ("vector", np.float32, (5,))])
OTHERS = np.zeros(4, dtype=[("pixels", np.uint8, (2, 2))])


def make(samples, student="auto", **settings):
    return new_student_for(samples, 2, student, (6,), words=11, **settings)(Chance(0))


@pytest.mark.parametrize(
    ("samples", "student", "kind"),
    [
        (NUMBERS, "auto", Perceptron),
        (NUMBERS, "perceptron", Perceptron),
        (VECTORS, "auto", Perceptron),
        (VECTORS, "encoder", Perceptron),
        (TEXTS, "auto", TextCNN),
        (TEXTS, "text_cnn", TextCNN),
        (TEXTS, "perceptron", Perceptron),
    ],
)
def test_the_student_suits_the_samples(samples, student, kind):
    assert isinstance(make(samples, student), kind)


def test_a_perceptron_of_vectors_reads_that_part():
    assert make(VECTORS).reads == "vector"
    assert make(NUMBERS).reads is None


def own(samples, outputs, chance):
    return nn.Sequential(nn.Linear(samples.shape[1], 4), nn.ReLU(), nn.Linear(4, outputs))


def test_a_students_own_function_draws_by_chance_and_leaves_torchs_generator_alone():
    before = torch.get_rng_state()
    first, second = make(NUMBERS, own), make(NUMBERS, own)
    assert torch.equal(before, torch.get_rng_state())
    assert isinstance(first, WrappedStudent)
    assert same_bits(first, second)
    assert first.represent(torch.zeros(3, 3)).shape == (3, 4)


def test_a_student_of_ones_own_may_be_a_student_already():
    made = make(NUMBERS, lambda samples, outputs, chance: Perceptron(3, outputs, (2,), chance=chance))
    assert isinstance(made, Perceptron)


def test_a_module_that_does_not_say_where_its_representation_ends_is_refused():
    message = (
        "a Linear does not say where its representation ends; give an nn.Sequential whose last layer predicts, or wrap "
        "it: fwl.WrappedStudent(module, represent, predict_from)"
    )
    with expect_refusal(InvalidInput, message):
        as_student(nn.Linear(1, 1))


@pytest.mark.parametrize(
    ("samples", "student", "message"),
    [
        (NUMBERS, "text_cnn", "student='text_cnn' reads texts; give a list of texts, without a sentence encoder"),
        (TEXTS, "encoder", "student='encoder' needs texts and the folder of a sentence encoder: encoder=FOLDER"),
        (
            OTHERS,
            "auto",
            "samples with the parts pixels need a student of your own: student=function(samples, outputs, chance)",
        ),
        (NUMBERS, 7, "student: expected a name or a function that makes one, got 7"),
    ],
)
def test_a_student_that_does_not_suit_is_refused(samples, student, message):
    with expect_refusal(InvalidInput, message):
        make(samples, student)


def test_an_unknown_student_is_answered_with_the_nearest():
    known = "auto, perceptron, text_cnn, encoder, tuned_encoder"
    message = f"unknown student 'percepton'; did you mean 'perceptron'? known: {known}"
    with expect_refusal(UnknownName, message):
        make(NUMBERS, "percepton")


PLAIN = NewTeacher(width=8, rows=50)


@pytest.mark.parametrize(("name", "kind"), [("auto", ExactGP), ("exact", ExactGP), ("clustered", ClusteredGP)])
def test_teachers_by_name(name, kind):
    assert isinstance(teacher_named(name, PLAIN)[1](), kind)


def test_many_strong_rows_are_clustered():
    assert isinstance(NewTeacher(width=8, rows=5000)(), ClusteredGP)


def test_a_teacher_of_ones_own():
    assert teacher_named(ExactGP, PLAIN) == ((None,), ExactGP)


def test_an_unknown_teacher_is_refused():
    with expect_refusal(UnknownName, "unknown teacher 'exakt'; did you mean 'exact'? known: auto, exact, clustered"):
        teacher_named("exakt", PLAIN)
    with expect_refusal(InvalidInput, "teacher: expected a name or a function that makes one, got 3"):
        teacher_named(3, PLAIN)
