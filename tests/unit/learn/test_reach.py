import numpy as np
import pytest
from tests.tolerances import ALGEBRA

from fwl.learn.beliefs import ACCURACY, SPREAD, cautious_covariance, expected_lead
from fwl.learn.compare_methods import Comparison, Point
from fwl.learn.decision_words import _on_reach
from fwl.learn.reach import ALIKE, FALLS, LUCK, WORTH, Reach, Trend, believed_lead, over_all, reach_of

FWL, RIVAL = "FWL_auto", "NN_W->S"


def comparison(points, lower_is_better=False):
    metric = "squared error" if lower_is_better else "accuracy"
    return Comparison(metric, lower_is_better, 100, 80, {}, tuple(points), 10)


def point(size, lead, rows=100, fwl=FWL, rival=RIVAL):
    """A point at which FWL is right on so large a share more of the rows; on half of them they take turns."""
    right, lost = np.zeros((2, rows))
    right[: rows // 4], lost[rows // 4 : rows // 2] = 1.0, 1.0
    more = np.arange(rows // 2, rows // 2 + round(abs(lead) * rows))
    (right if lead > 0 else lost)[more] = 1.0
    return Point(size, {fwl: right, rival: lost})


def curve(*leads, rows=100):
    return [point(10 * 2**i, lead, rows) for i, lead in enumerate(leads)]


def said(points):
    return reach_of(comparison(points), ACCURACY)


def test_a_belief_is_a_normal_one_given_what_was_seen():
    """Conditioned by hand: points and a number of labels that was not tried are jointly normal."""
    points = curve(0.05, 0.1, -0.02, rows=60)
    seen = believed_lead(points, FWL, RIVAL, comparison(points), ACCURACY)
    leads = np.stack([each.of_rows[FWL] - each.of_rows[RIVAL] for each in points])
    doublings = np.array([-2.0, -1.0, 0.0, 3.0])  # from the last point on: 10, 20, 40 and 320 labels
    size = SPREAD * 2.0 ** (-FALLS[RIVAL] * doublings)
    joint = np.array(
        [
            [a * b * np.exp(-(((p - q) / ALIKE) ** 2) / 2) for q, b in zip(doublings, size, strict=True)]
            for p, a in zip(doublings, size, strict=True)
        ]
    )
    joint[:3, :3] += cautious_covariance(leads, 1.0) + LUCK**2 * np.eye(3)
    before = expected_lead(FWL, RIVAL, comparison(points)) * 2.0 ** (-FALLS[RIVAL] * doublings)
    inverse = np.linalg.inv(joint)  # of the last given the others: its row of the inverse says it
    mean = before[3] - inverse[3, :3] @ (leads.mean(axis=1) - before[:3]) / inverse[3, 3]
    found, deviation = seen.at(np.array([320]))
    assert found[0] == pytest.approx(mean, abs=ALGEBRA)
    assert deviation[0] == pytest.approx(inverse[3, 3] ** -0.5, abs=ALGEBRA)


def test_the_farther_from_the_points_the_less_they_tell():
    points = curve(0.1, 0.1, 0.1)
    seen, labels = believed_lead(points, FWL, RIVAL, comparison(points), ACCURACY), np.array([20, 80, 320, 1280, 10**6])
    beforehand = SPREAD * 2.0 ** (-FALLS[RIVAL] * np.log2(labels / 40))
    _, deviations = seen.at(labels)
    assert (np.diff(deviations / beforehand) > 0).all()
    assert deviations[-1] == pytest.approx(beforehand[-1])


def test_leads_are_believed_to_shrink():
    many = np.array([40, 160, 640])
    for rival, falls in FALLS.items():
        mean, _ = believed_lead(curve(0.0, rows=4), FWL, RIVAL, comparison(()), ACCURACY).at(many)
        assert (np.diff(mean) < 0).all()
        trend = Trend(expected_lead(FWL, rival, comparison(())), SPREAD, falls)
        assert trend.mean(np.array([1.0])) == pytest.approx(trend.lead * 2.0**-falls)


def test_a_lead_over_the_best_of_the_others_is_the_least_one():
    points = [Point(20, {**point(20, 0.2).of_rows, "LR_S": point(20, 0.4, rival="LR_S").of_rows["LR_S"]})]
    over = [believed_lead(points, FWL, rival, comparison(points), ACCURACY) for rival in (RIVAL, "LR_S")]
    labels = np.array([20, 40])
    lead, sure = over_all(over, labels, ACCURACY)
    alone = [over_all([each], labels, ACCURACY) for each in over]
    assert np.array_equal(lead, np.minimum(alone[0][0], alone[1][0]))
    assert np.array_equal(sure, np.minimum(alone[0][1], alone[1][1]))


def test_a_clear_lead_is_told_from_the_first_point_on():
    reach = said(curve(0.3, 0.3, 0.3, rows=10_000))
    assert reach.believed[0] == reach.probably[0] == 10
    assert reach.believed[1] is None  # not with a hundred times as many labels
    assert 400 < reach.probably[1] < 4000
    assert reach.probably_behind_from is None
    assert min(reach.sure) > 0.95


def test_where_a_lead_ends_is_told():
    reach = said(curve(0.2, 0.1, 0.0, -0.1, rows=10_000))
    assert reach.believed[0] == reach.probably[0] == 10
    assert 25 < reach.believed[1] < 45  # there is none with 40 labels
    assert reach.probably[1] < 40 < reach.probably_behind_from < 80
    assert reach.leads == pytest.approx((0.2, 0.1, 0.0, -0.1))


def test_where_a_lead_begins_is_told():
    reach = said(curve(-0.06, 0.0, 0.06, rows=10_000))
    assert 15 < reach.believed[0] < 25  # there is none with 20 labels
    assert reach.probably[0] > reach.believed[0]
    assert reach.probably_behind_from is None  # behind with few labels is no end of a lead


def test_a_lead_that_makes_no_difference_is_none_worth_having():
    small, large = (said(curve(*3 * [lead], rows=100_000)) for lead in (0.6 * WORTH, 2 * WORTH))
    assert small.believed is None or small.believed[0] > 10
    assert large.believed[0] == 10


def test_a_method_that_is_behind_everywhere_does_not_lead():
    reach = said(curve(-0.3, -0.3, -0.3, rows=10_000))
    assert (reach.believed, reach.probably) == (None, None)
    assert max(reach.sure) < 0.05


def test_few_rows_that_are_level_leave_the_guess():
    reach = said(curve(0.0, rows=20))
    assert reach.believed[0] == 10
    assert (reach.probably, reach.probably_behind_from) == (None, None)


def test_of_errors_less_is_better():
    points = [point(size, -0.3, 10_000) for size in (10, 20, 40)]  # FWL has the smaller squared errors
    reach = reach_of(comparison(points, lower_is_better=True), ACCURACY)
    assert reach.leads == pytest.approx((0.3, 0.3, 0.3))
    assert reach.believed[0] == reach.probably[0] == 10


def test_the_reading_committee_is_spoken_of_where_it_was_run():
    points = [Point(20, {**point(20, 0.1).of_rows, "FWL_auto+W": point(20, 0.2).of_rows[FWL]})]
    assert said(points).method == "FWL_auto+W"


@pytest.mark.parametrize(
    "points", [(), [Point(20, {FWL: np.ones(9)})], [Point(20, {RIVAL: np.ones(9)})]], ids=["no curve", "alone", "gone"]
)
def test_nothing_is_said_where_nothing_can_be_compared(points):
    assert said(points) is None


def test_what_is_called_probable_is_right_four_times_in_five():
    """Curves drawn from what is believed beforehand: of the sizes of which something is said, enough are right."""
    rng = np.random.default_rng(0)
    trend = Trend(expected_lead(FWL, RIVAL, comparison(())), SPREAD, FALLS[RIVAL])
    sizes, right, told = np.array([10, 20, 40, 80, 320, 1280]), 0, 0
    doublings = np.log2(sizes / 40)
    for _ in range(300):
        truth = rng.multivariate_normal(trend.mean(doublings), trend.covariance(doublings, doublings))
        points = [_seen(size, lead + rng.normal(0, LUCK), rng) for size, lead in zip(sizes, truth[:3], strict=False)]
        over = [believed_lead(points, FWL, RIVAL, comparison(points), ACCURACY)]
        _, sure = over_all(over, sizes, ACCURACY)
        elsewhere = truth + rng.normal(0, ACCURACY.elsewhere)
        for probable, lead in zip(sure, elsewhere, strict=True):
            if probable >= 0.8 or probable <= 0.2:
                told += 1
                right += (lead > 0) == (probable > 0.5)
    assert told > 300
    assert right / told > 0.8


def _seen(size, lead, rng, rows=200):
    """A lead as so many rows show it, on a tenth of which methods differ."""
    fwl, other = np.zeros((2, rows))
    differ = rng.permutation(rows)[: rows // 10]
    wins = rng.random(len(differ)) < 0.5 + 5 * np.clip(lead, -0.1, 0.1)
    fwl[differ[wins]], other[differ[~wins]] = 1.0, 1.0
    return Point(size, {FWL: fwl, RIVAL: other})


WORDS = {
    "up to": (
        (10, 412),
        (10, 96),
        2_345,
        "up to about 410 strong labels (probably ahead with 10 to 96, probably",
    ),
    "behind": ((10, 412), None, 2_345, "strong labels (probably behind from 2,300 on; of other numbers these rows"),
    "no end": ((10, None), (10, None), None, "with 10 strong labels and more (probably ahead from 10 on; "),
    "from": ((35, None), (60, 100), None, "from about 35 strong labels on (probably ahead with 60 to 100; "),
    "between": ((35, 412), None, None, "with 35 to 410 strong labels, but that is a guess: these rows cannot tell."),
    "never": (None, None, 10, "with any number of strong labels that can be seen from here (probably behind "),
}


@pytest.mark.parametrize(("believed", "probably", "behind", "words"), WORDS.values(), ids=WORDS)
def test_it_is_told_in_words(believed, probably, behind, words):
    reach = Reach(FWL, (10, 40), (0.0, 0.0), (0.1, 0.1), (0.5, 0.5), believed, probably, behind)
    should = "should" if believed else "should not"
    assert _on_reach(reach, comparison(())).startswith(f"FWL_auto {should} lead by half a point or more ")
    assert words in _on_reach(reach, comparison(()))
    of_numbers = _on_reach(reach, comparison((), lower_is_better=True))
    assert of_numbers.startswith(f"FWL_auto {should} lead by a twentieth of the error or more ")
