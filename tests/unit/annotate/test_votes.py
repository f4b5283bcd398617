import numpy as np
import pytest
from scipy.stats import binomtest

from fwl.annotate.votes import (
    PSEUDO,
    Ballots,
    ByObject,
    DawidSkene,
    Majority,
    ballots_from_matrix,
    fit_dawid_skene,
    make_combiner,
    reliability,
)
from fwl.errors import InvalidInput, UnknownName, WrongShape
from tests.oracles.dawid_skene import dawid_skene
from tests.refusals import expect_refusal
from tests.tolerances import ALGEBRA


def crowd(n=300, accuracies=(0.9, 0.8, 0.55, 0.55, 0.55), classes=3, coverage=0.7, seed=0):
    """Annotators who err at random and abstain at random, and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(classes, size=n)
    votes = np.full((n, len(accuracies)), -1)
    for who, accuracy in enumerate(accuracies):
        wrong = (truth + rng.integers(1, classes, size=n)) % classes
        said = np.where(rng.random(n) < accuracy, truth, wrong)
        votes[:, who] = np.where(rng.random(n) < coverage, said, -1)
    return votes, truth


def test_ballots_and_their_matrix_are_the_same_votes():
    votes, _ = crowd(20)
    assert np.array_equal(ballots_from_matrix(votes, 3).matrix(), votes)


def test_some_samples_keep_their_votes_in_the_order_asked_for():
    votes, _ = crowd(20)
    rows = np.array([7, 3, 11])
    assert np.array_equal(ballots_from_matrix(votes, 3).of(rows).matrix(), votes[rows])


def test_the_majority_shares_where_classes_draw_and_is_silent_where_all_are():
    shares = Majority().combine(ballots_from_matrix([[0, 1, 1], [0, 1, -1], [-1, -1, -1]], 2))
    np.testing.assert_allclose(shares, [[1 / 3, 2 / 3], [0.5, 0.5], [np.nan, np.nan]])


@pytest.mark.parametrize("known", [None, {0: 2, 5: 1}])
def test_dawid_skene_equals_plain_loops(known):
    votes, _ = crowd(40)
    ballots = ballots_from_matrix(votes[ballots_from_matrix(votes, 3).heard], 3)
    triples = list(zip(ballots.row.tolist(), ballots.who.tolist(), ballots.choice.tolist(), strict=True))
    _, prior, confusion = dawid_skene(triples, 3, 25, PSEUDO, known)
    fitted = fit_dawid_skene(ballots, known, rounds=25)
    np.testing.assert_allclose(fitted.prior, prior, atol=ALGEBRA)
    np.testing.assert_allclose(fitted.confusion, confusion, atol=ALGEBRA)


def test_dawid_skene_finds_out_who_is_good_and_beats_the_majority():
    votes, truth = crowd(2000, coverage=1.0)
    ballots = ballots_from_matrix(votes, 3)
    model = fit_dawid_skene(ballots)
    right = np.diagonal(model.confusion, axis1=1, axis2=2).mean(axis=1)
    np.testing.assert_allclose(right, [0.9, 0.8, 0.55, 0.55, 0.55], atol=0.05)
    by_model, by_count = (each.combine(ballots).argmax(axis=1) == truth for each in (model, Majority()))
    assert by_model.mean() > by_count.mean() + 0.02


def test_dawid_skene_is_silent_where_nobody_voted_and_answers_for_new_samples():
    votes, _ = crowd()
    model = fit_dawid_skene(ballots_from_matrix(votes, 3))
    new = model.combine(ballots_from_matrix([[1, 1, 1, 1, 1], [-1] * 5], 3))
    assert new[0].argmax() == 1
    assert np.isnan(new[1]).all()


def test_known_classes_are_believed():
    liars = np.repeat([[1, 1, 1]], 30, axis=0)
    votes = np.concatenate([liars, np.repeat([[0, 0, 0]], 30, axis=0)])
    known = dict.fromkeys(range(10), 0) | dict.fromkeys(range(30, 40), 1)
    model = fit_dawid_skene(ballots_from_matrix(votes, 2), known)
    assert model.combine(ballots_from_matrix([[1, 1, 1]], 2)).argmax() == 0  # they say 1 where it is 0


class Doubled:
    def predict_proba(self, votes):
        assert votes.min() == -1
        return np.full((len(votes), 3), 1 / 3)


def test_any_object_with_predict_proba_combines_votes():
    votes, _ = crowd(10)
    votes[0] = -1
    combined = make_combiner(Doubled(), ballots_from_matrix(votes, 3)).combine(ballots_from_matrix(votes, 3))
    assert np.isnan(combined[0]).all()
    np.testing.assert_allclose(combined[1:], 1 / 3)


def test_an_object_that_gives_another_shape_is_refused():
    message = (
        "predict_proba of Doubled gave shape (1, 3), expected (1, 2): a row for each sample and a column for each class"
    )
    with expect_refusal(WrongShape, message):
        ByObject(Doubled()).combine(ballots_from_matrix([[0, -1]], 2))


def test_an_unknown_way_to_combine_is_answered_with_the_nearest():
    message = "unknown way to combine votes 'mayority'; did you mean 'majority'? known: majority, dawid_skene"
    with expect_refusal(UnknownName, message):
        make_combiner("mayority", ballots_from_matrix([[0]], 2))


def test_an_object_without_predict_proba_is_refused():
    message = "combine: a int has no predict_proba; expected 'majority', 'dawid_skene' or an object with it"
    with expect_refusal(InvalidInput, message):
        make_combiner(3, ballots_from_matrix([[0]], 2))


def test_votes_of_other_annotators_than_at_first_are_refused():
    model = DawidSkene(np.ones(2) / 2, np.ones((3, 2, 2)) / 2)
    message = "votes of 2 annotators on 2 classes; expected 3 and 2, as when the votes were first combined"
    with expect_refusal(WrongShape, message):
        model.combine(ballots_from_matrix([[0, 1]], 2))


def test_nobody_at_all_is_refused():
    message = "votes: every annotator abstains everywhere; there is nothing to combine"
    with expect_refusal(InvalidInput, message):
        fit_dawid_skene(ballots_from_matrix([[-1, -1]], 2))


def test_a_class_out_of_range_is_refused():
    with expect_refusal(InvalidInput, "votes: choice lies in 0 to 1, got 0 to 2"):
        ballots_from_matrix([[0, 2]], 2)


def test_a_vector_is_no_matrix_of_votes():
    with expect_refusal(WrongShape, "votes: expected a matrix [N, L] of class numbers, got shape (2,)"):
        ballots_from_matrix([0, 1], 2)


def test_entries_that_do_not_pair_are_refused():
    with expect_refusal(WrongShape, "votes: who has shape (1,), expected one entry a vote (2)"):
        Ballots([0, 1], [0], [0, 1], 2, 2)


def test_reliability_tells_coverage_and_accuracy_with_wilsons_interval():
    pool = ballots_from_matrix([[0, -1], [1, -1], [-1, 0], [1, -1]], 2, names=["good", "shy"])
    strong = ballots_from_matrix([[0, -1], [1, -1], [0, -1]], 2, names=["good", "shy"])
    good, shy = reliability(pool, strong, np.array([0, 1, 1]))
    interval = binomtest(2, 3).proportion_ci(0.95, method="wilson")
    assert (good.name, good.coverage, good.compared, good.accuracy) == ("good", 0.75, 3, 2 / 3)
    assert (good.low, good.high) == (interval.low, interval.high)
    assert (shy.coverage, shy.compared, shy.accuracy, shy.low) == (0.25, 0, None, None)


def test_without_strong_votes_only_coverage_is_told():
    (only,) = reliability(ballots_from_matrix([[0], [-1]], 2))
    assert (only.coverage, only.accuracy) == (0.5, None)
