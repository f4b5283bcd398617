import numpy as np

from fwl.estimators.overlap import near_copies, twins


def test_rows_that_stand_in_both_sets_are_found_bit_by_bit():
    rng = np.random.default_rng(0)
    pool = rng.normal(size=(500, 4))
    strong = np.concatenate([pool[[7, 400]], rng.normal(size=(3, 4)), pool[[8]] + 1e-12])
    assert twins(pool, strong) == {7: 0, 400: 1}


def test_samples_with_named_parts_are_compared_too():
    pool = np.zeros(10, dtype=[("tokens", np.int32, (3,)), ("vector", np.float32, (2,))])
    pool["tokens"] = np.arange(30).reshape(10, 3)
    assert twins(pool, pool[[4]]) == {4: 0}


def test_a_sample_twice_in_the_pool_is_found_twice():
    pool = np.array([[1.0], [2.0], [1.0]])
    assert twins(pool, np.array([[5.0], [1.0]])) == {0: 1, 2: 1}


def test_where_nearly_all_rows_look_alike_nothing_is_taken_for_the_same():
    pool = np.zeros((100, 2))
    assert twins(pool, np.zeros((5, 2))) == {}


def test_large_pools_are_searched_a_chunk_at_a_time():
    pool = np.arange(140_000, dtype=np.float64)[:, None]
    assert twins(pool, np.array([[139_999.0], [3.0]])) == {3: 1, 139_999: 0}


SENTENCE = "the addition of [A]apomorphine[/A] blocked the channel and [B]ritodrine[/B] opened it again"


def pool_with(*texts):
    return [*texts, *(f"row {i} speaks of something else altogether, number {i}" for i in range(20))]


def test_texts_that_differ_by_marks_or_a_word_are_near_copies():
    marked = "The addition of apomorphine blocked the [B]channel[/B], and ritodrine opened it again!"
    changed = SENTENCE.replace("opened", "closed")
    other = "apomorphine and ritodrine were compared in the channel"
    assert near_copies(pool_with(marked, other, changed), [SENTENCE]).tolist() == [0, 2]


def test_texts_without_words_are_copies_of_nothing():
    assert near_copies(pool_with("", "?!"), ["", "...", SENTENCE]).tolist() == []
    assert near_copies([], [SENTENCE]).tolist() == []


def test_where_copies_are_common_new_rows_will_have_some_too():
    assert near_copies([SENTENCE] * 10 + pool_with(), [SENTENCE]).tolist() == []


def test_a_large_pool_is_looked_through_in_pieces(monkeypatch):
    monkeypatch.setattr("fwl.estimators.overlap.PAIRS", 10)
    pool = pool_with(SENTENCE)
    assert near_copies([*pool[1:], SENTENCE], [SENTENCE, "none"]).tolist() == [20]
