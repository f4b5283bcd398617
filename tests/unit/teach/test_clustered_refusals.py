import numpy as np
import pytest

from fwl.errors import InvalidInput, NotFinite, NotFitted, NumericalTrouble, UnknownName, WrongShape
from fwl.teach import RBF, ClusteredGP, Linear, Matern32, White, clustered
from tests.refusals import expect_refusal

Z = np.random.default_rng(0).normal(size=(20, 2))
Y = np.sin(Z[:, :1])


@pytest.mark.parametrize("ask", [lambda t: t.posterior(Z), lambda t: t.leave_one_out(), lambda t: t.state()])
def test_asking_before_teaching_is_refused(ask):
    with expect_refusal(NotFitted, "this teacher has not been fitted; call fit(Z, y) with strong labels first"):
        ask(ClusteredGP())


@pytest.mark.parametrize("name", ["clusters", "largest", "smallest"])
@pytest.mark.parametrize("value", [0, -1])
def test_counts_start_at_one(name, value):
    with expect_refusal(InvalidInput, f"{name} is at least 1, got {value}"):
        ClusteredGP(**{name: value}).fit(Z, Y)


def test_no_starts_are_refused():
    with expect_refusal(InvalidInput, "starts is at least 1, got 0"):
        ClusteredGP(hyperparameters="evidence", starts=0).fit(Z, Y)


def test_an_unknown_choice_is_answered_with_the_nearest():
    message = (
        "unknown choice of hyperparameters 'evidense'; did you mean 'evidence'? "
        "known: fixed, evidence, evidence_with_prior"
    )
    with expect_refusal(UnknownName, message):
        ClusteredGP(hyperparameters="evidense").fit(Z, Y)


def test_an_unknown_precision_is_answered_with_the_nearest():
    with expect_refusal(UnknownName, "unknown precision 'singel'; did you mean 'single'? known: single, double"):
        ClusteredGP(precision="singel").fit(Z, Y)


@pytest.mark.parametrize("seed", [-1, 0.5, "zero"])
def test_a_random_state_that_is_no_seed_is_refused(seed):
    with expect_refusal(InvalidInput, f"a seed is a whole number from 0 up, got {seed!r}"):
        ClusteredGP(2, random_state=seed).fit(Z, Y)


BROKEN = {
    "text": ([["a", "b"]], InvalidInput, "teacher inputs: expected numbers, got [['a', 'b']]"),
    "rows of two lengths": (
        [[1.0, 2.0], [3.0]],
        InvalidInput,
        "teacher inputs: expected numbers, got [[1.0, 2.0], [3.0]]",
    ),
    "nothing": ([], InvalidInput, "teacher inputs: the set is empty, expected at least one row"),
    "no rows": (Z[:0], InvalidInput, "teacher inputs: the set is empty, expected at least one row"),
    "no columns": (Z[:, :0], InvalidInput, "teacher inputs: the set is empty, expected at least one row"),
    "a number": (np.array(3.0), WrongShape, "teacher inputs: expected a vector or a matrix [N, C], got shape ()"),
    "a stack": (Z[None], WrongShape, "teacher inputs: expected a vector or a matrix [N, C], got shape (1, 20, 2)"),
    "a vector": (Z[0], WrongShape, "teacher inputs: expected [M, 2], got shape (2, 1)"),
    "nobody": (
        np.array([[None, 1.0]]),
        NotFinite,
        "teacher inputs: NaN or infinity in 1 of 1 rows (rows 0); drop or fill them first",
    ),
}


@pytest.mark.parametrize(("asked", "error", "message"), BROKEN.values(), ids=BROKEN)
def test_what_cannot_be_judged_is_refused(asked, error, message):
    with expect_refusal(error, message):
        ClusteredGP(2).fit(Z, Y).posterior(asked)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_broken_rows_are_counted_among_all_and_not_in_one_chunk(kind, monkeypatch):
    monkeypatch.setattr(clustered, "CHUNK", 7)
    asked = Z.astype(kind)
    asked[[8, 15], 0] = np.nan, np.inf
    with expect_refusal(
        NotFinite, "teacher inputs: NaN or infinity in 2 of 20 rows (rows 8, 15); drop or fill them first"
    ):
        ClusteredGP(2).fit(Z, Y).posterior(asked)


@pytest.mark.parametrize(("precision", "far"), [("single", -3e20), ("double", -3e20), ("double", -3e200)])
def test_samples_too_far_away_to_square_are_back_at_the_prior(precision, far):
    posterior = ClusteredGP(2, precision=precision).fit(Z, Y).posterior([[1.0, far]])
    np.testing.assert_array_equal(posterior.variance, posterior.prior)
    np.testing.assert_array_equal(posterior.mean, np.zeros_like(posterior.mean))


def test_samples_whose_prior_is_too_large_for_single_precision_are_refused():
    message = (
        "teacher inputs: values up to 3.0e+20 are too large for single precision; "
        "standardise the columns first, or ask for precision='double'"
    )
    teacher = ClusteredGP(2, kernel=Linear(0.5) + White(0.1)).fit(Z, Y)
    assert teacher.precision_ == "single"
    with expect_refusal(InvalidInput, message):
        teacher.posterior([[1.0, -3e20]])


def test_samples_whose_prior_is_too_large_for_double_precision_are_refused():
    message = "teacher inputs: values up to 3.0e+200 are too large for double precision; standardise the columns first"
    with expect_refusal(InvalidInput, message):
        ClusteredGP(2, kernel=Linear() + White(0.1), precision="double").fit(Z, Y).posterior([[1.0, -3e200]])


def test_inputs_too_large_to_square_are_trouble():
    message = (
        "a kernel matrix of 3 samples is not positive definite even with 0.0001 of its diagonal added; "
        "give the kernel some White noise, or look for NaN and huge values among its inputs"
    )
    with expect_refusal(NumericalTrouble, message):
        ClusteredGP(1, kernel=RBF() + White()).fit([[1e200], [0.0], [-1e200]], np.zeros(3))


SIGNALS = [RBF(), Matern32(), Linear(1.0), RBF() + Linear(), Matern32() + Linear(), RBF() + Matern32()]


@pytest.mark.parametrize("signal", SIGNALS, ids=str)
@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("n", [5, 16])
def test_no_kernel_takes_infinity_for_far_away(signal, precision, n):
    """Broken numbers are looked for in the beliefs, so each has to leave a trace there, whatever signs it meets."""
    rng = np.random.default_rng(0)
    positive, y = 1.0 + rng.uniform(size=(n, 1)), rng.normal(size=(n, 1))
    teacher = ClusteredGP(1, kernel=signal + White(), precision=precision).fit(positive, y)
    for broken in (np.inf, -np.inf, np.nan):
        with expect_refusal(
            NotFinite, "teacher inputs: NaN or infinity in 1 of 2 rows (rows 1); drop or fill them first"
        ):
            teacher.posterior([[1.0], [broken]])
