import sys
import warnings

import numpy as np
import pytest
import torch

from fwl.errors import InvalidInput, NoClosedForm, NotFinite, NotFitted, NumericalTrouble, UnknownName, WrongShape
from fwl.teach import RBF, Kernel, White
from fwl.teach.sparse import SparseGP
from fwl.teach.sparse_classes import SparseClassifierGP
from tests.refusals import expect_refusal

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # its own, on import
    pytest.importorskip("gpytorch")

Z, Y = np.arange(6.0).reshape(3, 2), np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
BOTH = pytest.mark.parametrize("new", [SparseGP, SparseClassifierGP])


OWN = {**dict.fromkeys(Kernel.__abstractmethods__), "noise": 0.1, "diag": lambda self, A: torch.ones(len(A))}


@BOTH
def test_without_gpytorch_it_says_what_to_install(new, monkeypatch):
    monkeypatch.setitem(sys.modules, "gpytorch", None)
    with expect_refusal(InvalidInput, "this teacher needs GPyTorch; install it with: pip install 'fwl[gp]'"):
        new().fit(Z, Y)


@BOTH
def test_a_fitted_one_answers_without_gpytorch(new, monkeypatch):
    teacher = new(steps=1).fit(Z, Y)
    monkeypatch.setitem(sys.modules, "gpytorch", None)
    assert teacher.posterior(Z).mean.shape == (3, 2)


@BOTH
def test_asking_before_teaching_is_refused(new):
    with expect_refusal(NotFitted, "this teacher has not been fitted; call fit(Z, y) with strong labels first"):
        new().posterior(Z)
    assert not hasattr(new(), "log_evidence_")


def test_leaving_one_out_before_teaching_is_refused():
    with expect_refusal(NotFitted, "this teacher has not been fitted; call fit(Z, y) with strong labels first"):
        SparseGP().leave_one_out()


def test_a_classifier_leaves_none_out():
    message = "SparseClassifierGP has no closed form for leaving one out; refit it without each sample"
    with expect_refusal(NoClosedForm, message):
        SparseClassifierGP(steps=1).fit(Z, Y).leave_one_out()


@BOTH
def test_labels_of_another_length_are_refused(new):
    with expect_refusal(
        WrongShape, "teacher inputs has 3 rows and strong labels has 2; they describe the same samples"
    ):
        new().fit(Z, Y[:2])


@BOTH
@pytest.mark.parametrize("broken", [np.nan, np.inf])
def test_broken_numbers_are_refused(new, broken):
    rest = "NaN or infinity in 3 of 3 rows (rows 0, 1, 2); drop or fill them first"
    with expect_refusal(NotFinite, f"teacher inputs: {rest}"):
        new().fit(Z + broken, Y)
    with expect_refusal(NotFinite, f"strong labels: {rest}"):
        new().fit(Z, Y + broken)
    with expect_refusal(NotFinite, f"prior mean: {rest}"):
        new().fit(Z, Y, Y + broken)
    with expect_refusal(NotFinite, f"teacher inputs: {rest}"):
        new(steps=1).fit(Z, Y).posterior(Z + broken)


@BOTH
def test_no_samples_are_refused(new):
    with expect_refusal(InvalidInput, "teacher inputs: the set is empty, expected at least one row"):
        new().fit(Z[:0], Y[:0])


@BOTH
@pytest.mark.parametrize("asked", [np.zeros((4, 3)), np.zeros((4, 1))])
def test_inputs_of_another_width_than_taught_are_refused(new, asked):
    with expect_refusal(WrongShape, f"teacher inputs: expected [M, 2], got shape {asked.shape}"):
        new(steps=1).fit(Z, Y).posterior(asked)


@BOTH
def test_a_prior_mean_is_given_to_both_or_to_neither(new):
    with expect_refusal(
        InvalidInput, "this teacher was fitted with a prior mean; give the prior mean of these samples too"
    ):
        new(steps=1).fit(Z, Y, Y).posterior(Z)
    with expect_refusal(InvalidInput, "this teacher was fitted without a prior mean; fit it with one or ask without"):
        new(steps=1).fit(Z, Y).posterior(Z, Y)
    with expect_refusal(WrongShape, "prior mean: expected shape (3, 2) like the labels, got (2, 2)"):
        new().fit(Z, Y, Y[:2])


@BOTH
def test_an_unknown_choice_is_answered_with_the_nearest(new):
    message = "unknown choice of hyperparameters 'fix'; did you mean 'fixed'? known: fixed, evidence"
    with expect_refusal(UnknownName, message):
        new(hyperparameters="fix").fit(Z, Y)


SETTINGS = [(SparseGP, "inducing"), (SparseGP, "steps"), (SparseClassifierGP, "batch_size")]


@pytest.mark.parametrize(("new", "name"), SETTINGS)
def test_counts_start_at_one(new, name):
    with expect_refusal(InvalidInput, f"{name} is at least 1, got 0"):
        new(**{name: 0}).fit(Z, Y)


@BOTH
@pytest.mark.parametrize("rate", [0.0, -1.0, float("nan"), float("inf")])
def test_a_learning_rate_is_positive(new, rate):
    with expect_refusal(InvalidInput, f"learning_rate is a number above 0, got {rate}"):
        new(learning_rate=rate).fit(Z, Y)


@BOTH
def test_noise_alone_is_refused(new):
    message = "a kernel of noise alone has no function to learn; add another, e.g. RBF() + White()"
    with expect_refusal(InvalidInput, message):
        new(White()).fit(Z, Y)


@pytest.mark.parametrize("kernel", [RBF(), RBF() + White(0.0)])
def test_regression_without_noise_is_refused(kernel):
    message = "SparseGP divides by the noise and this kernel has none; add some, e.g. + White(0.01)"
    with expect_refusal(InvalidInput, message):
        SparseGP(kernel).fit(Z, Y)


@BOTH
def test_a_kernel_unknown_to_gpytorch_is_refused(new):
    message = "Brownian has no counterpart in GPyTorch; use RBF, Matern32, Linear, White and their sums, or ExactGP"
    with expect_refusal(InvalidInput, message):
        new(type("Brownian", (Kernel,), OWN)()).fit(Z, Y)


def test_a_single_column_is_no_distribution():
    message = "strong labels: expected a column per class [N, C], two or more; got (3, 1)"
    with expect_refusal(WrongShape, message):
        SparseClassifierGP().fit(Z, Y[:, :1])


@pytest.mark.parametrize("row", [[0.5, 0.4], [1.5, -0.5], [0.0, 0.0]])
def test_labels_that_are_no_distributions_are_refused(row):
    message = (
        "strong labels: expected a distribution over classes in each row, one-hot for a single class; "
        f"got {row} in row 2"
    )
    with expect_refusal(InvalidInput, message):
        SparseClassifierGP().fit(Z, [*Y[:2], row])


@BOTH
def test_inputs_too_large_to_square_are_trouble(new):
    with pytest.raises(NumericalTrouble, match="huge values among"):
        new().fit([[1e200], [0.0], [-1e200]], Y)
