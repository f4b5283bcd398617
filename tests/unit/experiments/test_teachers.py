import re
from functools import cache

import numpy as np
import pytest

from fwl.errors import FWLError
from fwl.experiments.analyses import TEACHERS as STUDY
from fwl.experiments.runner import run_experiment
from fwl.experiments.settings import change_settings
from fwl.experiments.taught import TEACHERS
from fwl.experiments.teachers import (
    TeacherSettings,
    _set_up_classes,
    _task,
    measure_teachers,
    new_teacher,
)
from fwl.randomness import Chance
from fwl.teach.clustered import ClusteredGP
from fwl.teach.exact import ExactGP
from fwl.teach.kernels import RBF, White
from fwl.teach.reduced import Reduced

SMALL = TeacherSettings(
    n_weak=60,
    n_strong=30,
    n_test=50,
    columns=4,
    hidden=(8,),
    pretrain_steps=10,
    finetune_steps=10,
    components=3,
    clusters=2,
    smallest=5,
)
TOY = change_settings(SMALL, {"task": "toy", "smallest": 3})
OF_CLASSES = {
    "accuracy": False,
    "accuracy of the teacher": False,
    "NLL of the teacher": True,
    "ECE of the teacher": True,
}


@cache
def measured(settings=SMALL, methods=TEACHERS, seed=1):
    return measure_teachers(settings, "data", methods, seed, False)


def scores(outcome, method):
    return {score.metric: score.value for score in outcome.scores if score.method == method}


@pytest.mark.parametrize("calibrate", [False, True])
def test_every_teacher_of_classes_has_its_four_scores(calibrate):
    outcome = measured(change_settings(SMALL, {"calibrate": calibrate}))
    assert [(s.method, s.metric, s.lower_is_better) for s in outcome.scores] == [
        (method, metric, lower) for method in TEACHERS for metric, lower in OF_CLASSES.items()
    ]
    assert {score.dataset for score in outcome.scores} == {"data"}
    for score in outcome.scores:
        assert np.isfinite(score.value)
        assert 0.0 <= score.value <= (1.0 if "NLL" not in score.metric else 20.0)
    assert outcome.curves == {}


def test_every_teacher_of_the_toy_has_its_two():
    outcome = measured(TOY, ("FWL_GP", "FWL_clusteredGP"), 0)
    assert [(s.method, s.metric, s.lower_is_better) for s in outcome.scores] == [
        (method, metric, True) for method in ("FWL_GP", "FWL_clusteredGP") for metric in ("rmse", "rmse of the teacher")
    ]
    assert all(0.0 < score.value < 2.0 for score in outcome.scores)


def test_teachers_differ():
    answers = [tuple(scores(measured(), method).values()) for method in TEACHERS]
    assert len(set(answers)) == 3


def test_calibration_changes_the_probabilities_and_not_the_data():
    plain, calibrated = measured(), measured(change_settings(SMALL, {"calibrate": True}))
    assert scores(plain, "FWL_GP")["NLL of the teacher"] != scores(calibrated, "FWL_GP")["NLL of the teacher"]
    assert plain.data_sha256 == calibrated.data_sha256


def test_one_seed_gives_one_outcome_and_another_another():
    again = measure_teachers(SMALL, "data", TEACHERS, 1, False)
    assert measured().scores == again.scores
    assert measured().data_sha256 == again.data_sha256
    assert measured().data_sha256 != measured(seed=2).data_sha256
    assert re.fullmatch("[0-9a-f]{64}", again.data_sha256)


def test_a_teachers_scores_do_not_depend_on_its_company():
    alone = measured(methods=("FWL_clusteredGP",))
    assert scores(alone, "FWL_clusteredGP") == scores(measured(), "FWL_clusteredGP")


def test_the_annotator_and_the_strong_labels_are_as_planted():
    flawless = change_settings(SMALL, {"distortion": 0.0, "flips": 0.0, "sharpness": 20.0, "n_strong": 200})
    task, problem = _task(flawless, Chance(3).child("classes")), _set_up_classes(flawless, 3).problem
    weak, strong = problem.weak, problem.strong
    assert (weak.X.shape, strong.X.shape) == ((60, 4), (200, 4))
    assert np.array_equal(weak.y.argmax(axis=1), task.posterior(weak.X).argmax(axis=1))
    assert (strong.y.argmax(axis=1) == task.posterior(strong.X).argmax(axis=1)).mean() > 0.85
    distorted = _set_up_classes(change_settings(flawless, {"flips": 1.0}), 3).problem
    assert np.array_equal(distorted.strong.y, strong.y)
    assert (distorted.weak.y.argmax(axis=1) == weak.y.argmax(axis=1)).mean() < 0.6


def test_every_row_has_its_kind_of_teacher():
    kernel = RBF() + White()
    single, reduced, clustered = (new_teacher(method, kernel, SMALL) for method in TEACHERS)
    assert isinstance(single, ExactGP)
    assert isinstance(reduced, Reduced)
    assert (reduced.components, type(reduced.new_teacher())) == (3, ExactGP)
    assert isinstance(clustered, ClusteredGP)
    assert (clustered.clusters, clustered.smallest) == (2, 5)
    fitted_by = {single.hyperparameters, reduced.new_teacher().hyperparameters, clustered.hyperparameters}
    assert fitted_by == {"evidence_with_prior"}


def test_the_experiment_makes_a_row_of_each_teacher_data_and_metric(tmp_path):
    small = [f"{name}={value}" for name, value in vars(SMALL).items() if value != getattr(TeacherSettings(), name)]
    small = [text for text in small if not text.startswith("hidden")] + ["hidden=8"]
    result = run_experiment(
        STUDY.parts["toy"], tmp_path, size="tiny", seeds=1, methods=["FWL_GP"], assignments=small, jobs=1
    )
    assert [(row.dataset, row.metric) for row in result.rows] == [
        ("toy", "rmse"),
        ("toy", "rmse of the teacher"),
        *(("classes", metric) for metric in OF_CLASSES),
        *(("classes, calibrated", metric) for metric in OF_CLASSES),
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"task": "tyo"}, "unknown task 'tyo'; did you mean 'toy'? known: toy, classes"),
        ({"n_weak": 0}, "setting n_weak=0: expected at least 1"),
        ({"n_strong": 1}, "setting n_strong=1: expected at least 2"),
        ({"n_test": 0}, "setting n_test=0: expected at least 1"),
        ({"components": 0}, "setting components=0: expected at least 1"),
        ({"clusters": 0}, "setting clusters=0: expected at least 1"),
        ({"smallest": 0}, "setting smallest=0: expected at least 1"),
        ({"classes": 1}, "classes=1: expected at least 2"),
        ({"sharpness": -1.0}, "sharpness=-1.0: expected at least 0"),
        ({"flips": 2.0}, "flips=2.0: expected a share from 0 to 1"),
        ({"distortion": -0.5}, "distortion=-0.5: expected a share from 0 to 1"),
        ({"pretrain_steps": -1}, "steps is at least 0, got -1"),
        ({"finetune_steps": -1}, "steps is at least 0, got -1"),
        ({"hidden": (0,)}, "a perceptron needs hidden layers and widths of at least 1, got [20, 0], 3"),
        ({"seed": -1}, "a seed is a whole number from 0 up, got -1"),
        (
            {"beta": -1.0},
            "beta=-1.0: expected a number from 0 up; 0 trusts the teacher everywhere, "
            "larger values stay closer to the weak labels",
        ),
    ],
)
def test_settings_that_cannot_be_are_refused_before_any_work(changes, message):
    with pytest.raises(FWLError, match=f"^{re.escape(message)}$"):
        TeacherSettings(**changes)
