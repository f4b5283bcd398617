import numpy as np
import pytest

from fwl.errors import InvalidInput, NotFinite, NotFitted, NumericalTrouble, UnknownName, WrongShape
from fwl.teach import RBF, ExactGP, White
from tests.refusals import expect_refusal

Z, Y = np.zeros((3, 2)), np.zeros((3, 1))


@pytest.mark.parametrize("ask", [lambda t: t.posterior(Z), lambda t: t.leave_one_out()])
def test_asking_before_teaching_is_refused(ask):
    with expect_refusal(NotFitted, "this teacher has not been fitted; call fit(Z, y) with strong labels first"):
        ask(ExactGP())


def test_not_fitted_is_an_attribute_error():
    assert not hasattr(ExactGP(), "log_evidence_")


def test_labels_of_another_length_are_refused():
    with expect_refusal(
        WrongShape, "teacher inputs has 3 rows and strong labels has 2; they describe the same samples"
    ):
        ExactGP().fit(Z, Y[:2])


@pytest.mark.parametrize("broken", [np.nan, np.inf])
def test_broken_numbers_are_refused(broken):
    rest = "NaN or infinity in 3 of 3 rows (rows 0, 1, 2); drop or fill them first"
    with expect_refusal(NotFinite, f"teacher inputs: {rest}"):
        ExactGP().fit(Z + broken, Y)
    with expect_refusal(NotFinite, f"strong labels: {rest}"):
        ExactGP().fit(Z, Y + broken)
    with expect_refusal(NotFinite, f"teacher inputs: {rest}"):
        ExactGP().fit(Z, Y).posterior(Z + broken)


def test_no_samples_are_refused():
    with expect_refusal(InvalidInput, "teacher inputs: the set is empty, expected at least one row"):
        ExactGP().fit(Z[:0], Y[:0])
    with expect_refusal(InvalidInput, "teacher inputs: the set is empty, expected at least one row"):
        ExactGP().fit(Z, Y).posterior(Z[:0])


def test_inputs_of_three_dimensions_are_refused():
    with expect_refusal(WrongShape, "teacher inputs: expected a vector or a matrix [N, C], got shape (3, 2, 1)"):
        ExactGP().fit(Z[..., None], Y)


@pytest.mark.parametrize("asked", [np.zeros((4, 3)), np.zeros((4, 1))])
def test_inputs_of_another_width_than_taught_are_refused(asked):
    with expect_refusal(WrongShape, f"teacher inputs: expected [M, 2], got shape {asked.shape}"):
        ExactGP().fit(Z, Y).posterior(asked)


def test_an_unknown_choice_is_answered_with_the_nearest():
    message = (
        "unknown choice of hyperparameters 'evidense'; did you mean 'evidence'? "
        "known: fixed, evidence, evidence_with_prior"
    )
    with expect_refusal(UnknownName, message):
        ExactGP(hyperparameters="evidense").fit(Z, Y)


def test_no_starts_are_refused():
    with expect_refusal(InvalidInput, "starts is at least 1, got 0"):
        ExactGP(hyperparameters="evidence", starts=0).fit(Z, Y)


def test_inputs_too_large_to_square_are_trouble():
    message = (
        "a kernel matrix of 3 samples is not positive definite even with 0.0001 of its diagonal added; "
        "give the kernel some White noise, or look for NaN and huge values among its inputs"
    )
    with expect_refusal(NumericalTrouble, message):
        ExactGP(RBF() + White()).fit([[1e200], [0.0], [-1e200]], Y)
