import copy
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fwl.errors import InvalidInput, NotFinite, UnknownName, WrongShape
from fwl.randomness import Chance
from fwl.students import Bags, Lesson, PairRanker, Training, predict, ranker, represent, train
from fwl.students.losses import binary_cross_entropy
from fwl.students.ranker import WordMeans
from tests import examples
from tests.properties import PROPERTY
from tests.refusals import expect_refusal
from tests.tolerances import SINGLE

WORDS, COLUMNS = 12, 3
QUERIES = [[1, 2], [3], [], [4, 4, 11]]
DOCUMENTS = [[1, 2, 3, 3], [4], [], [5, 6, 7, 8, 9, 10], [2, 2, 2], [11, 0]]
SAMPLES = np.array([[0, 0, 1], [0, 1, 0], [1, 3, 2], [2, 4, 5], [3, 5, 5], [3, 0, 4]], dtype=np.int32)
TEXTS = st.lists(st.lists(st.integers(0, WORDS - 1), max_size=9), min_size=1, max_size=7)


def starting_vectors():
    return np.random.default_rng(1).normal(size=(WORDS, COLUMNS))


def starting_importance():
    return np.log(np.random.default_rng(2).uniform(0.5, 8.0, size=WORDS))


def pair_ranker(hidden=(5, 4), dropout=0.0, seed=0, **settings):
    settings = {"vectors": starting_vectors(), "importance": starting_importance()} | settings
    return PairRanker(
        Bags.of(QUERIES), Bags.of(DOCUMENTS), hidden=hidden, dropout=dropout, **settings, chance=Chance(seed)
    )


def biased(student):
    """The same with biases, which start at zero and would hide what they do."""
    with torch.no_grad():
        for name, value in student.named_parameters():
            if name.endswith("bias"):
                value.uniform_(-0.3, 0.3, generator=Chance(1).torch())
    return student


def plain_vector(student, text):
    """A text's vector, occurrence by occurrence."""
    total, weights = torch.zeros(COLUMNS), torch.zeros(())
    for word in text:
        weight = torch.exp(student.texts.importance.weight[word, 0])
        total, weights = total + weight * student.texts.words.weight[word], weights + weight
    return total / weights if text else total


def plain_logit(student, sample):
    query, plus, minus = sample
    vectors = [plain_vector(student, text) for text in (QUERIES[query], DOCUMENTS[plus], DOCUMENTS[minus])]
    return student.output(student.hidden(torch.cat(vectors)))


def preference_lesson(n=400, seed=0):
    """Whichever document has the smaller number is preferred, whatever the query; the empty ones are never named."""
    rng = np.random.default_rng(seed)
    documents = np.array([0, 1, 3, 4, 5])
    X = np.column_stack([rng.integers(0, 4, n), *(rng.choice(documents, n) for _ in range(2))]).astype(np.int32)
    X = X[X[:, 1] != X[:, 2]]
    return Lesson(X, (X[:, 1] < X[:, 2]).astype(float))


def test_bags_hold_each_word_of_a_text_once_with_its_count():
    bags = Bags.of(DOCUMENTS)
    assert len(bags) == 6
    assert bags.lengths.tolist() == [3, 1, 0, 6, 1, 2]
    assert bags.ids.tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 2, 0, 11]
    assert bags.counts.tolist() == [1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 3, 1, 1]
    assert bags.owners.tolist() == [0, 0, 0, 1, 3, 3, 3, 3, 3, 3, 4, 5, 5]
    assert (bags.offsets.dtype, bags.ids.dtype, bags.counts.dtype) == (np.int64, np.int32, np.float32)


@PROPERTY
@given(texts=TEXTS, data=st.data())
def test_taken_divided_and_joined_bags_are_those_of_the_same_texts(texts, data):
    numbers = data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=9))
    bags = Bags.of(texts)
    same(bags.take(np.array(numbers, dtype=np.int64)), Bags.of([texts[number] for number in numbers]))
    first, *others = bags.parts(2)
    for part in others:
        first = first.followed_by(part)
    same(first, bags)


def same(one, other):
    for name in ("offsets", "ids", "counts"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_no_texts_are_bags_too():
    assert len(Bags.of([])) == 0
    assert [len(part) for part in Bags.of([]).parts(3)] == [0]


RISING, ONCE, COUNTS = (
    "offsets of bags of words rise from 0 to the number of their ids",
    "bags of words: the ids of a text rise from 0 up, each named once; see Bags.of",
    "bags of words: counts are finite and above 0; leave out words that do not occur",
)
COLUMN = "bags of words: expected"


@pytest.mark.parametrize(
    ("offsets", "ids", "counts", "error", "message"),
    [
        ([0, 3], [1, 2], [1, 1], InvalidInput, f"{RISING} (2)"),
        ([1, 2], [1, 2], [1, 1], InvalidInput, f"{RISING} (2)"),
        ([0, 2, 1, 2], [1, 2], [1, 1], InvalidInput, f"{RISING} (2)"),
        ([], [], [], InvalidInput, f"{RISING} (0)"),
        ([0, 2], [1, 2], [1], WrongShape, f"{COLUMN} a count for each of 2 ids, got 1"),
        ([0, 2], [2, 1], [1, 1], InvalidInput, ONCE),
        ([0, 2], [1, 1], [1, 1], InvalidInput, ONCE),
        ([0, 2], [-1, 1], [1, 1], InvalidInput, ONCE),
        ([0, 1], [1], [0.0], InvalidInput, COUNTS),
        ([0, 1], [1], [np.nan], InvalidInput, COUNTS),
        ([0, 1], [1.0], [1], WrongShape, f"{COLUMN} ids as one column of whole numbers, got float64 of shape (1,)"),
        ([0, 1], [1], ["a"], WrongShape, f"{COLUMN} counts as one column of numbers, got <U1 of shape (1,)"),
        ([[0, 1]], [1], [1], WrongShape, f"{COLUMN} offsets as one column of whole numbers, got int64 of shape (1, 2)"),
    ],
)
def test_bags_that_contradict_themselves_are_refused(offsets, ids, counts, error, message):
    with expect_refusal(error, message):
        Bags(np.array(offsets), np.array(ids), np.array(counts))


@PROPERTY
@given(texts=TEXTS)
def test_a_texts_vector_is_the_weighted_mean_of_its_words(texts):
    student = pair_ranker()
    expected = torch.stack([plain_vector(student, text) for text in texts])
    torch.testing.assert_close(student.texts(Bags.of(texts)), expected, rtol=0, atol=SINGLE)
    with torch.no_grad():
        torch.testing.assert_close(student.texts(Bags.of(texts)), expected, rtol=0, atol=SINGLE)


@pytest.mark.parametrize("shift", [-300.0, 300.0])
def test_weights_beyond_the_range_of_exp_still_give_a_mean(shift):
    plain, shifted = (WordMeans(starting_vectors(), starting_importance() + by) for by in (0.0, shift))
    bags = Bags.of(DOCUMENTS)
    torch.testing.assert_close(shifted(bags), plain(bags), rtol=0, atol=1e-4)


def test_vectors_of_many_texts_come_in_parts(monkeypatch):
    student, bags = pair_ranker(), Bags.of(DOCUMENTS)
    with torch.no_grad():
        whole = student.texts(bags)
        monkeypatch.setattr(ranker, "TEXTS", 4)
        torch.testing.assert_close(student.texts(bags), whole, rtol=0, atol=0)


def test_a_text_without_words_is_zero():
    student = pair_ranker()
    assert not student.texts(Bags.of([[], [1], []]))[[0, 2]].any()


@pytest.mark.parametrize("hidden", [(4,), (5, 4), (6, 5, 4)])
def test_each_sample_gives_what_a_plain_loop_gives_for_it_alone(hidden):
    student = biased(pair_ranker(hidden))
    with torch.no_grad():
        expected = torch.stack([plain_logit(student, sample) for sample in SAMPLES]).double().numpy()
    np.testing.assert_allclose(predict(student, SAMPLES), expected, rtol=0, atol=SINGLE)
    assert represent(student, SAMPLES).shape == (6, 4)


def test_gradients_are_those_of_a_plain_loop():
    ours, theirs = biased(pair_ranker()), biased(pair_ranker())
    ours(torch.from_numpy(SAMPLES)).square().sum().backward()
    torch.stack([plain_logit(theirs, sample) for sample in SAMPLES]).square().sum().backward()
    for (name, one), (_, other) in zip(ours.named_parameters(), theirs.named_parameters(), strict=True):
        torch.testing.assert_close(one.grad.to_dense(), other.grad, rtol=1e-4, atol=SINGLE, msg=name)


def test_only_words_that_a_batch_has_get_a_gradient():
    student = pair_ranker()
    student(torch.tensor([[0, 1, 4], [0, 4, 1]])).sum().backward()
    for table in (student.texts.words, student.texts.importance):
        gradient = table.weight.grad
        assert gradient.is_sparse
        assert sorted(gradient._indices()[0].tolist()) == [1, 2, 4]


@pytest.mark.parametrize("hidden", [(4,), (5, 4)])
def test_it_learns_preferences(hidden):
    student, lesson = pair_ranker(hidden), preference_lesson()
    plan = Training(steps=300, learning_rate=0.02)
    train(student, lesson, plan, Chance(0), loss=binary_cross_entropy)
    assert ((predict(student, lesson.X) > 0) == lesson.y).mean() > 0.98
    ranked = student.rank_scores(0, np.array([3, 5, 0, 4, 1]), opponents=None, chance=Chance(0))
    assert np.argsort(-ranked).tolist() == [2, 4, 0, 3, 1]


def test_the_same_chance_gives_the_same_student_before_and_after_training():
    one, other, third = (pair_ranker(dropout=0.3, seed=seed) for seed in (0, 0, 1))
    assert examples.same_bits(one, other)
    assert not examples.same_bits(one, third)
    for student in (one, other):
        train(student, preference_lesson(), Training(steps=20), Chance(3), loss=binary_cross_entropy)
    assert examples.same_bits(one, other)


def test_building_leaves_the_global_generator_alone():
    before = torch.get_rng_state()
    pair_ranker()
    assert torch.equal(torch.get_rng_state(), before)


def test_a_copy_has_its_own_parameters_and_shares_the_texts():
    student = pair_ranker()
    other = copy.deepcopy(student)
    assert other.queries is student.queries
    assert other.documents is student.documents
    train(other, preference_lesson(), Training(steps=3), Chance(0), loss=binary_cross_entropy)
    assert not examples.same_bits(student, other)
    assert set(student.state_dict()) == {name for name, _ in student.named_parameters()}


def test_the_part_named_pair_is_read_of_samples_with_parts():
    student = pair_ranker()
    X = np.zeros(len(SAMPLES), dtype=[("pair", np.int32, (3,)), ("vector", np.float32, (2,))])
    X["pair"] = SAMPLES
    np.testing.assert_array_equal(predict(student, X), predict(student, SAMPLES))


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint32])
def test_numbers_of_any_whole_type_are_read(dtype):
    student = pair_ranker()
    np.testing.assert_array_equal(predict(student, SAMPLES.astype(dtype)), predict(student, SAMPLES))


def test_no_samples_give_no_rows():
    assert predict(pair_ranker(), SAMPLES[:0]).shape == (0, 1)


def test_words_start_where_they_are_told_and_the_callers_own_stay():
    vectors, importance = starting_vectors().astype(np.float32), starting_importance()
    student = pair_ranker(vectors=vectors, importance=importance)
    np.testing.assert_array_equal(student.texts.words.weight.detach().numpy(), vectors)
    np.testing.assert_array_equal(student.texts.importance.weight.detach()[:, 0], importance.astype(np.float32))
    train(student, preference_lesson(), Training(steps=3), Chance(0), loss=binary_cross_entropy)
    np.testing.assert_array_equal(vectors, starting_vectors().astype(np.float32))


def test_other_queries_can_be_shown_to_it():
    student = pair_ranker()
    expected = predict(student, np.array([[3, 0, 1]]))
    student.show(Bags.of([QUERIES[3]]), student.documents)
    np.testing.assert_allclose(predict(student, np.array([[0, 0, 1]])), expected, rtol=0, atol=SINGLE)


def plain_rank_scores(student, query, candidates, opponents):
    """Every pair by itself, in both orders."""
    scores = []
    for document in candidates:
        wins = []
        for other in (other for other in opponents if other != document):
            ahead, behind = predict(student, np.array([[query, document, other], [query, other, document]]))
            wins.append((1 / (1 + math.exp(-ahead[0])) + 1 - 1 / (1 + math.exp(-behind[0]))) / 2)
        scores.append(np.mean(wins))
    return np.array(scores)


@pytest.mark.parametrize("hidden", [(4,), (5, 4), (6, 5, 4)])
@pytest.mark.parametrize("pairs", [1, 7, 8192])
def test_rank_scores_are_the_mean_preference_over_all_pairs(hidden, pairs, monkeypatch):
    monkeypatch.setattr(ranker, "PAIRS", pairs)
    student, candidates = biased(pair_ranker(hidden, dropout=0.5)), np.array([5, 0, 3, 2, 1])
    scores = student.train().rank_scores(3, candidates, opponents=None, chance=Chance(0))
    expected = plain_rank_scores(student, 3, candidates, candidates)
    np.testing.assert_allclose(scores, expected, rtol=0, atol=SINGLE)
    assert abs(scores.sum() - 2.5) < SINGLE  # what one wins the other loses
    assert student.training


def test_rank_scores_against_drawn_opponents_are_means_over_those():
    student, candidates = biased(pair_ranker()), np.array([5, 0, 3, 2, 1])
    scores = student.rank_scores(0, candidates, opponents=2, chance=Chance(4))
    possible = [
        plain_rank_scores(student, 0, candidates, candidates[[i, j]]) for i in range(5) for j in range(i + 1, 5)
    ]
    assert sum(np.allclose(scores, one, rtol=0, atol=SINGLE) for one in possible) == 1
    np.testing.assert_array_equal(scores, student.rank_scores(0, candidates, opponents=2, chance=Chance(4)))


def test_a_single_candidate_is_as_good_as_any_and_none_are_none():
    student = pair_ranker()
    assert student.rank_scores(0, np.array([3]), chance=Chance(0)).tolist() == [0.5]
    assert student.rank_scores(0, np.array([], dtype=np.int64), chance=Chance(0)).shape == (0,)


def test_the_error_of_drawn_opponents_falls_with_their_number_and_is_none_for_all():
    rng = np.random.default_rng(0)
    documents = Bags.of([rng.integers(0, WORDS, size=5) for _ in range(60)])
    student = PairRanker(
        Bags.of(QUERIES), documents, 3 * starting_vectors(), starting_importance(), (8,), chance=Chance(0)
    )
    all_, few, one = (
        student.opponents_error(0, np.arange(60), opponents=number, sample=30, chance=Chance(0))
        for number in (60, 20, 1)
    )
    assert (all_.mean, all_.largest, all_.swapped) == (0.0, 0.0, 0.0)
    assert 0 < few.mean < one.mean
    assert few.mean <= few.largest
    assert 0 <= few.swapped < 0.1


def test_the_error_needs_two_candidates():
    with expect_refusal(InvalidInput, "candidates: expected at least 2 to compare, got 1"):
        pair_ranker().opponents_error(0, np.array([1]), chance=Chance(0))


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        ([[4, 0, 1]], "query 4 is unknown to this student: it has a text for 4 (0 to 3)"),
        ([[-1, 0, 1]], "query -1 is unknown to this student: it has a text for 4 (0 to 3)"),
        ([[0, 6, 1]], "document 6 is unknown to this student: it has a text for 6 (0 to 5)"),
        ([[0, 1, -2]], "document -2 is unknown to this student: it has a text for 6 (0 to 5)"),
    ],
)
def test_numbers_without_a_text_are_refused_by_name(samples, message):
    with expect_refusal(InvalidInput, f"{message}; show it the texts that samples name"):
        predict(pair_ranker(), np.array(samples))


def test_candidates_without_a_text_are_refused_by_name():
    message = "it has a text for {}; show it the texts that samples name"
    with expect_refusal(InvalidInput, f"document 9 is unknown to this student: {message.format('6 (0 to 5)')}"):
        pair_ranker().rank_scores(0, np.array([1, 9]), chance=Chance(0))
    with expect_refusal(InvalidInput, f"query 7 is unknown to this student: {message.format('4 (0 to 3)')}"):
        pair_ranker().rank_scores(7, np.array([1, 2]), chance=Chance(0))
    student = pair_ranker()
    student.show(Bags.of([]), student.documents)
    with expect_refusal(InvalidInput, f"query 0 is unknown to this student: {message.format('0 (none)')}"):
        student.rank_scores(0, np.array([1, 2]), chance=Chance(0))


@pytest.mark.parametrize("candidates", [np.array([[1, 2]]), np.array([1.0, 2.0])])
def test_candidates_that_are_no_numbers_of_documents_are_refused(candidates):
    message = (
        f"candidates: expected whole numbers of documents, [N], got {candidates.dtype} of shape {candidates.shape}"
    )
    with expect_refusal(WrongShape, message):
        pair_ranker().rank_scores(0, candidates, chance=Chance(0))


def test_too_few_opponents_are_refused():
    with expect_refusal(InvalidInput, "opponents: expected at least 1, or None for all candidates, got 0"):
        pair_ranker().rank_scores(0, np.array([1, 2]), opponents=0, chance=Chance(0))


def test_samples_of_another_shape_are_refused():
    message = "pairs: expected rows of three numbers (query, document+, document-), got shape (2, 4)"
    with expect_refusal(WrongShape, message):
        predict(pair_ranker(), np.ones((2, 4), dtype=np.int32))


def test_numbers_that_are_not_whole_are_refused():
    message = (
        "a ranking student reads numbers of queries and documents, expected whole numbers of 32 or 64 bits, "
        "got torch.float32"
    )
    with expect_refusal(InvalidInput, message):
        predict(pair_ranker(), np.ones((2, 3)))


def test_texts_of_another_vocabulary_are_refused():
    message = (
        "documents: word id 12 is outside the vocabulary of 12 (0 to 11); "
        "encode texts with the vocabulary this student was made for"
    )
    with expect_refusal(InvalidInput, message):
        pair_ranker().show(Bags.of(QUERIES), Bags.of([[3, 12]]))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hidden": ()}, "hidden: expected at least one layer, of a width of at least 1, got ()"),
        ({"hidden": (5, 0)}, "hidden: expected at least one layer, of a width of at least 1, got (5, 0)"),
        ({"dropout": 1.0}, "dropout is a share from 0 to below 1, got 1.0"),
    ],
)
def test_sizes_out_of_range_are_refused(settings, message):
    with expect_refusal(InvalidInput, message):
        pair_ranker(**settings)


def test_an_unknown_initialisation_is_answered_with_the_nearest():
    known = "glorot, he, truncated_normal, torch"
    with expect_refusal(UnknownName, f"unknown initialisation 'gloro'; did you mean 'glorot'? known: {known}"):
        pair_ranker(initialisation="gloro")


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        (
            {"vectors": np.zeros(3)},
            WrongShape,
            "word vectors: expected a matrix of numbers [V, m], got float64 of shape (3,)",
        ),
        (
            {"vectors": np.full((WORDS, 2), np.nan)},
            NotFinite,
            "word vectors: NaN or infinity among them; leave such words out of the vocabulary",
        ),
        (
            {"importance": np.zeros(5)},
            WrongShape,
            "importance: expected a number for each of 12 words, got float64 of shape (5,)",
        ),
        (
            {"importance": np.full(WORDS, -np.inf)},
            NotFinite,
            "importance: NaN or infinity among the logs of inverse document frequencies; keep frequencies above 0",
        ),
    ],
)
def test_words_that_cannot_be_used_are_refused(settings, error, message):
    with expect_refusal(error, message):
        pair_ranker(**settings)
