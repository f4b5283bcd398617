import numpy as np
import pytest
from tests.problems import class_problem, class_recipe
from tests.tolerances import ALGEBRA

from fwl.learn.eyes import OneStudent
from fwl.learn.fitted import fit_teacher
from fwl.learn.own_data import weak_or_student
from fwl.learn.task import BINARY, MULTICLASS, REGRESSION
from fwl.learn.verdicts import doubt, verdicts, witnesses
from fwl.randomness import Chance
from fwl.teach.insight import insight

SILENT = [np.nan] * 3


def test_classes_are_kept_corrected_or_ignored():
    weak = np.array([[1, 0, 0], [1, 0, 0], [1, 0, 0], SILENT, SILENT], dtype=float)
    label = np.array([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.4, 0.5, 0.1], [0.1, 0.8, 0.1], [0.4, 0.5, 0.1]])
    found = verdicts(MULTICLASS, weak, label, np.zeros(5))
    assert found.tolist() == ["kept", "corrected", "ignored", "corrected", "ignored"]


def test_two_classes_in_one_column_are_judged_alike():
    found = verdicts(
        BINARY, np.array([[1.0], [1.0], [0.0], [np.nan]]), np.array([[0.6], [0.2], [0.6], [0.9]]), np.zeros(4)
    )
    assert found.tolist() == ["kept", "corrected", "ignored", "corrected"]


def test_numbers_are_kept_near_the_soft_label_and_corrected_where_the_teacher_reaches():
    weak, label = np.array([[1.0], [5.0], [5.0], [np.nan]]), np.array([[1.5], [1.0], [1.0], [1.0]])
    left, deviation = np.array([0.5, 0.5, 0.95, 0.5]), np.full(4, 0.5)
    found = verdicts(REGRESSION, weak, label, left, deviation)
    assert found.tolist() == ["kept", "corrected", "ignored", "corrected"]


def test_doubt_is_disagreement_times_fidelity():
    weak, label = np.array([[1.0, 0, 0], [1.0, 0, 0], SILENT]), np.array([[0.9, 0.1, 0.0], [0.2, 0.7, 0.1], [1, 0, 0]])
    np.testing.assert_allclose(doubt(MULTICLASS, weak, label, np.array([1.0, 0.5, 1.0])), [0.1, 0.4, np.nan])
    two = doubt(BINARY, np.array([[1.0], [0.0]]), np.array([[0.9], [0.9]]), np.ones(2))
    np.testing.assert_allclose(two, [0.1, 0.9])


def test_doubt_of_numbers_is_the_distance_in_deviations():
    label = np.array([[0.0], [2.0]])
    np.testing.assert_allclose(doubt(REGRESSION, label + 3.0, label, np.ones(2)), [3.0, 3.0])


@pytest.fixture(scope="module", params=[2, 3])
def fitted(request):
    made = class_problem(classes=request.param)
    problem = made.problem
    recipe = class_recipe(outputs=problem.strong.y.shape[1])
    student = OneStudent(recipe.new_student(Chance(0)))
    return fit_teacher(student, problem.strong, problem.all_samples, recipe.teaching, problem.task), made


def test_witnesses_are_the_strong_samples_that_move_the_label_most(fitted):
    teacher, made = fitted
    X, weak = made.X[:20], made.weak[:20]
    label = teacher.predict(X, weak_or_student(teacher, X, weak))
    found = witnesses(teacher, X, label, 3)
    inside = insight(teacher.teacher)
    W, residual = inside.weights(teacher.view(X)), inside.residual()
    for i in range(20):
        if label.shape[1] == 1:
            pull = W[i] * residual[:, 0] * (1.0 if label[i, 0] >= 0.5 else -1.0)
        else:
            pull = W[i] * residual[:, label[i].argmax()]
        best = np.argsort(-pull)[:3]
        assert found.rows[i].tolist() == [j if pull[j] > 0 else -1 for j in best]
        np.testing.assert_allclose(found.weight[i], np.maximum(pull[best], 0.0), atol=ALGEBRA)


def test_most_strong_samples_speak_for_themselves(fitted):
    teacher, made = fitted
    strong = made.problem.strong
    label = teacher.predict(strong.X, strong.weak)
    found = witnesses(teacher, strong.X, label, 1)
    agrees = (label >= 0.5) == (strong.y >= 0.5)
    own = found.rows[:, 0] == np.arange(len(strong.X))
    assert own[agrees.all(axis=1)].mean() > 0.5


def test_there_are_no_more_witnesses_than_strong_samples(fitted):
    teacher, made = fitted
    assert witnesses(teacher, made.X[:2], made.weak[:2], 1000).rows.shape == (2, 60)
