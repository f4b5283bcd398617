from itertools import islice, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwl.annotate import WeakPairs, strong_pairs
from fwl.annotate.preference import TARGETS, hard, ratio, sigmoid
from fwl.errors import InvalidInput, NotFinite, UnknownName, WrongShape
from fwl.randomness import Chance
from tests.properties import PROPERTY
from tests.refusals import expect_refusal

# Query 0: two ties and one alone; query 1: nothing to prefer; query 2: a score of 0; query 3: negative scores.
RANKINGS = [
    (np.array([7, 3, 5, 9]), np.array([6.0, 2.0, 2.0, 6.0])),
    (np.array([1, 4]), np.array([4.0, 4.0])),
    (np.array([2, 8]), np.array([0.0, 1.0])),
    (np.array([0, 1, 2]), np.array([-1.0, 0.0, 2.0])),
]
DOCUMENTS = 10
ONE_RANKING = st.dictionaries(st.integers(0, 30), st.integers(-3, 6), min_size=1, max_size=12)


def weak(rankings=RANKINGS, seed=0, **options):
    return WeakPairs(rankings, chance=Chance(seed), **options)


def scores_of(rankings=RANKINGS):
    """Query -> document -> score, raised to 0."""
    return {
        query: {int(d): float(s - min(0.0, scores.min())) for d, s in zip(documents, scores, strict=True)}
        for query, (documents, scores) in enumerate(rankings)
    }


def all_pairs(scores):
    """Every pair that may be drawn, in both orders."""
    return {
        (query, plus, minus)
        for query, of_query in scores.items()
        for plus, minus in product(of_query, repeat=2)
        if of_query[plus] != of_query[minus]
    }


def test_the_papers_target_is_a_share_of_both_scores():
    plus, minus = np.array([3.0, 0.0, 2.0, 0.0]), np.array([1.0, 2.0, 2.0, 0.0])
    assert ratio(plus, minus).tolist() == [0.75, 0.0, 0.5, 0.5]
    assert hard(plus, minus).tolist() == [1.0, 0.0, 0.5, 0.5]
    assert sigmoid(plus, minus) == pytest.approx([1 / (1 + np.exp(-2)), 1 / (1 + np.exp(2)), 0.5, 0.5])


@pytest.mark.parametrize("target", TARGETS)
def test_every_pair_of_different_scores_comes_up_in_both_orders_and_no_other(target):
    pairs, label = weak(target=target).draw(4000)
    assert (pairs.shape, pairs.dtype, label.shape) == ((4000, 3), np.int32, (4000, 1))
    assert set(map(tuple, pairs.tolist())) == all_pairs(scores_of())
    scores = scores_of()
    for (query, plus, minus), said in zip(pairs.tolist(), label[:, 0], strict=True):
        expected = TARGETS[target](np.float64(scores[query][plus]), np.float64(scores[query][minus]))
        assert said == pytest.approx(float(expected))


def test_queries_come_up_equally_often_and_so_do_orders():
    pairs, label = weak().draw(9000)
    counts = np.bincount(pairs[:, 0], minlength=4)
    assert counts[1] == 0
    assert np.abs(counts[[0, 2, 3]] - 3000).max() < 4 * np.sqrt(9000 * 2 / 9)
    assert abs((label > 0.5).mean() - 0.5) < 4 * 0.5 / np.sqrt(9000)


@PROPERTY
@given(st.lists(ONE_RANKING, min_size=1, max_size=5), st.sampled_from([0.0, 0.5, 1.0]))
def test_pairs_are_of_one_query_and_of_different_scores(rankings, unretrieved):
    rows = [(np.array(list(one)), np.array(list(one.values()), dtype=float)) for one in rankings]
    scores = scores_of(rows)
    if not all_pairs(scores):
        with pytest.raises(InvalidInput, match="none of"):
            weak(rows)
        return
    made = weak(rows, unretrieved=unretrieved, documents=31)
    assert made.skipped == sum(len(set(one.values())) < 2 for one in rankings)
    pairs, label = made.draw(200)
    assert ((label >= 0) & (label <= 1)).all()
    for (query, plus, minus), said in zip(pairs.tolist(), label[:, 0], strict=True):
        of_query = scores[query]
        assert plus in of_query or minus in of_query
        expected = ratio(np.float64(of_query.get(plus, 0.0)), np.float64(of_query.get(minus, 0.0)))
        assert said == pytest.approx(float(expected))
        assert said != 0.5


def test_unretrieved_documents_are_drawn_as_often_as_asked_each_as_likely():
    made = weak([(np.array([7, 0, 9]), np.array([6.0, 2.0, 1.0]))], unretrieved=0.25, documents=DOCUMENTS)
    pairs, label = made.draw(8000)
    outside = ~np.isin(pairs[:, 1:], [7, 0, 9])
    assert not outside.all(axis=1).any()
    assert abs(outside.any(axis=1).mean() - 0.25) < 4 * np.sqrt(0.25 * 0.75 / 8000)
    assert set(label[outside[:, 0], 0]) == {0.0}
    assert set(label[outside[:, 1], 0]) == {1.0}
    counts = np.bincount(pairs[:, 1:][outside], minlength=DOCUMENTS)
    assert counts[[7, 0, 9]].tolist() == [0, 0, 0]
    assert np.abs(counts[[1, 2, 3, 4, 5, 6, 8]] - 2000 / 7).max() < 4 * np.sqrt(2000 / 7)


def test_a_query_that_retrieves_everything_has_no_unretrieved_documents():
    everything = (np.arange(4), np.array([3.0, 2.0, 1.0, 1.0]))
    pairs, label = weak([everything], unretrieved=1.0, documents=4).draw(500)
    assert set(map(tuple, pairs.tolist())) == all_pairs(scores_of([everything]))
    assert (label != 0.5).all()


def test_the_same_step_gives_the_same_pairs_and_another_other_ones():
    made = weak()
    for one, other in zip(made.draw(50, step=3), weak().draw(50, step=3), strict=True):
        assert np.array_equal(one, other)
    assert not np.array_equal(made.draw(50, step=3)[0], made.draw(50, step=4)[0])
    assert not np.array_equal(made.draw(50)[0], weak(seed=1).draw(50)[0])


def test_weak_sets_come_without_end_and_can_be_taken_up_again():
    made = weak()
    sets = list(islice(made.weak_sets(20), 4))
    (third,) = islice(made.weak_sets(20, start=2), 1)
    assert np.array_equal(sets[2].X, third.X)
    assert np.array_equal(sets[2].y, third.y)
    assert all(len(one.X) == 20 for one in sets)
    assert np.array_equal(made.weak_set(20, 3).X, sets[3].X)


def test_queries_keep_the_numbers_they_are_given():
    pairs, _ = weak(queries=np.array([40, 30, 20, 10])).draw(300)
    assert set(pairs[:, 0].tolist()) == {40, 20, 10}
    assert weak().skipped == 1


def test_a_scale_softens_the_sigmoid_alone():
    soft, hard_ = weak(target="sigmoid", scale=100.0).draw(100)[1], weak(target="sigmoid").draw(100)[1]
    assert np.abs(soft - 0.5).max() < 0.02
    assert np.abs(hard_ - 0.5).min() > 0.2
    assert np.allclose(weak(scale=7.0).draw(100)[1], weak().draw(100)[1])


def test_the_order_in_which_a_ranking_is_told_does_not_matter():
    turned = [(documents[::-1], scores[::-1]) for documents, scores in RANKINGS]
    for one, other in zip(weak().draw(100), weak(turned).draw(100), strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scale": 0.0}, "scale: expected a number above 0, got 0.0"),
        ({"scale": float("nan")}, "scale: expected a number above 0, got nan"),
        ({"unretrieved": 1.5}, "unretrieved: expected a share from 0 to 1, got 1.5"),
        (
            {"unretrieved": 0.5},
            "unretrieved documents can only be drawn if `documents` says how many there are in all",
        ),
        ({"documents": 9}, "ranking of query 0: document 9 is not among 9 (0 to 8)"),
        ({"queries": np.array([0, 0, 1, 2])}, "queries: expected numbers from 0 up, each once"),
        ({"queries": np.array([0, 3, -1, 2])}, "queries: expected numbers from 0 up, each once"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with expect_refusal(InvalidInput, message):
        weak(**options)


def test_an_unknown_target_is_refused():
    with expect_refusal(UnknownName, "unknown target 'ration'; did you mean 'ratio'? known: ratio, sigmoid, hard"):
        weak(target="ration")


@pytest.mark.parametrize("queries", [np.array([1.0, 2.0, 3.0, 4.0]), np.array([1])])
def test_queries_that_are_not_one_number_for_each_are_refused(queries):
    with expect_refusal(
        WrongShape,
        f"queries: expected a whole number for each of 4 lists, got {queries.dtype} of shape {queries.shape}",
    ):
        weak(queries=queries)


@pytest.mark.parametrize(
    ("documents", "scores", "error", "message"),
    [
        ([1, 2], [1.0], WrongShape, "ranking of query 0: expected a score for each of 2 documents, got shape (1,)"),
        (
            [1, 2],
            [1.0, np.nan],
            NotFinite,
            "ranking of query 0: NaN or infinity among its scores; leave such documents out",
        ),
        ([1, 2, 1], [1.0, 2.0, 3.0], InvalidInput, "ranking of query 0: document 1 is named twice"),
        (
            [1, -2],
            [1.0, 2.0],
            InvalidInput,
            "ranking of query 0: documents are numbered from 0 up to 2**31 - 1, got -2 to 1",
        ),
        (
            [1.5, 2.0],
            [1.0, 2.0],
            WrongShape,
            "ranking of query 0: expected whole numbers of documents, got float64 of shape (2,)",
        ),
    ],
)
def test_a_ranking_that_is_none_is_refused(documents, scores, error, message):
    with expect_refusal(error, message):
        weak([(np.array(documents), np.array(scores))])


@pytest.mark.parametrize("rankings", [[], RANKINGS[1:2], [(np.array([], dtype=int), np.array([]))]])
def test_rankings_without_preferences_are_refused(rankings):
    with expect_refusal(
        InvalidInput,
        f"weak pairs: none of {len(rankings)} queries has two documents of different scores; "
        "ask the annotator for more of each, or other queries",
    ):
        weak(rankings)


def test_drawing_nothing_is_refused():
    with expect_refusal(InvalidInput, "pairs: expected to draw at least 1, got 0"):
        weak().draw(0)


RELEVANT = [np.array([1, 2]), np.array([3]), np.array([4]), np.array([], dtype=int)]
OTHERS = [np.array([5, 6, 7]), np.array([8]), np.array([], dtype=int), np.array([9])]
QUERIES = np.array([10, 11, 12, 13])


def strong(relevant=RELEVANT, others=OTHERS, queries=QUERIES, seed=0, **options):
    return strong_pairs(queries, relevant, others, chance=Chance(seed), **options)


def test_relevant_documents_meet_as_many_others_each_each():
    pairs, label = strong(both_orders=False)
    assert (pairs.dtype, label.shape) == (np.int32, (5, 1))
    assert (label == 1.0).all()
    of_first = pairs[pairs[:, 0] == 10]
    assert len(of_first) == 4
    met = set(of_first[:, 2].tolist())
    assert len(met) == 2
    assert met <= {5, 6, 7}
    assert set(map(tuple, of_first[:, 1:].tolist())) == set(product([1, 2], met))
    assert pairs[pairs[:, 0] == 11].tolist() == [[11, 3, 8]]
    assert set(pairs[:, 0].tolist()) == {10, 11}  # the others lack one side


def test_both_orders_are_the_same_pairs_turned_round():
    one, both = strong(both_orders=False)[0], strong()
    assert np.array_equal(both[0], np.concatenate([one, one[:, [0, 2, 1]]]))
    assert both[1][:, 0].tolist() == [1.0] * 5 + [0.0] * 5


def test_pairs_of_a_query_can_be_capped():
    pairs, _ = strong(both_orders=False, most=3)
    assert np.bincount(pairs[:, 0])[10:].tolist() == [3, 1]
    assert len(set(map(tuple, pairs.tolist()))) == 4
    assert {*map(tuple, pairs.tolist())} <= {*map(tuple, strong(both_orders=False)[0].tolist())}


def test_a_querys_pairs_do_not_depend_on_other_queries():
    alone = strong(RELEVANT[:1], OTHERS[:1], QUERIES[:1], both_orders=False)[0]
    assert np.array_equal(alone, strong(both_orders=False)[0][:4])
    drawn = {tuple(strong(seed=seed)[0][:4, 2].tolist()) for seed in range(20)}
    assert len(drawn) > 1


def test_judgments_that_contradict_themselves_are_refused():
    with expect_refusal(InvalidInput, "judgments of query 10: document 2 is both relevant and not"):
        strong(others=[np.array([2, 5]), *OTHERS[1:]])


def test_judgments_on_one_side_alone_are_refused():
    with expect_refusal(
        InvalidInput,
        "strong pairs: none of 2 queries has a relevant document and another; judge some documents as not relevant too",
    ):
        strong(RELEVANT[2:], OTHERS[2:], QUERIES[2:])


def test_lists_that_do_not_belong_together_are_refused():
    with expect_refusal(WrongShape, "judgments: 4 lists of relevant documents and 3 of others"):
        strong(others=OTHERS[:3])


def test_a_cap_of_none_at_all_is_refused():
    with expect_refusal(InvalidInput, "most: expected at least 1 pair of a query, or None for all, got 0"):
        strong(most=0)
