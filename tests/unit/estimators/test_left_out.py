import numpy as np
import pytest
from tests.tolerances import ALGEBRA
from tests.unit.estimators.test_classifier import data as classes
from tests.unit.estimators.test_classifier import fitted
from tests.unit.estimators.test_regressor import QUICK, data

from fwl.errors import NoClosedForm
from fwl.estimators.left_out import left_out_told
from fwl.estimators.regressor import FWLRegressor
from fwl.records import WeakSet


def test_of_classes_the_bins_say_how_often_the_teacher_is_right():
    model = fitted(*classes())
    told, strong = model.report_["left_out"], model.report_["strong"]["rows"]
    assert sum(bin_["count"] for bin_ in told["reliability"]) == strong
    right = sum(bin_["count"] * bin_["was"] for bin_ in told["reliability"])
    assert right / strong == pytest.approx(told["accuracy"], abs=ALGEBRA)
    assert all(0.5 <= bin_["said"] <= 1.0 for bin_ in told["reliability"])


def test_numbers_are_told_on_their_own_scale():
    X, y = data()
    y = 1e6 + 1e4 * y
    told = FWLRegressor(**QUICK).fit(X[:30], y[:30], weak=WeakSet(X, y + 5e3)).report_["left_out"]
    true = np.array([bin_["was"] for bin_ in told["reliability"]])
    assert true.mean() == pytest.approx(y[:30].mean(), abs=1.0)
    assert told["rmse"] < 1e4


def test_a_teacher_without_a_closed_form_tells_nothing(monkeypatch):
    model = fitted(*classes())
    teacher = model.teacher_

    def none(self):
        raise NoClosedForm("none")

    monkeypatch.setattr(type(teacher.teacher), "leave_one_out", none)
    assert left_out_told(teacher, model._fitted.labels, np.zeros((1, 1))) is None
