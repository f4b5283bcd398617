from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from tests.refusals import expect_refusal
from tests.tolerances import SINGLE

from fwl.errors import InvalidInput, UnknownName, WrongShape
from fwl.estimators.inputs import fit_inputs, kind_of, revive_inputs
from fwl.estimators.number_inputs import PlainInputs, TableInputs
from fwl.randomness import Chance
from fwl.tables.encoding import fit_encoding
from fwl.teach.state import State

PARTS = np.zeros(3, dtype=[("tokens", np.int32, (2,)), ("vector", np.float32, (2,))])
KINDS = {
    "array": [np.zeros((2, 3)), [[1, 2], [3, 4]], pd.Series([1.0, 2.0]), np.array([["a", "b"]])],
    "sparse": [scipy.sparse.eye(3), scipy.sparse.coo_array(np.eye(2))],
    "table": [pd.DataFrame({"a": [1]}), pl.DataFrame({"a": [1]}), pa.table({"a": [1]})],
    "texts": [
        ["a", "b"],
        ("a", None),
        np.array(["a", "b"]),
        pd.Series(["a", None]),
        pl.Series(["a", "b"]),
        pa.array(["a", None]),
    ],
    "parts": [PARTS],
}


@pytest.mark.parametrize(
    ("kind", "X"), [(kind, X) for kind, many in KINDS.items() for X in many], ids=lambda value: type(value).__name__
)
def test_the_kind_of_samples_is_told_from_what_they_are(kind, X):
    assert kind_of(X) == kind


def encoded(strong, pool, **settings):
    return fit_inputs(strong, pool, Chance(0), **settings)


def again(inputs):
    state = inputs.state()
    return revive_inputs(type(inputs).__name__, State(state.settings, state.arrays))


def test_columns_of_numbers_are_standardised_over_both_sets():
    rng = np.random.default_rng(0)
    pool, strong = rng.normal(5, 3, (90, 2)), rng.normal(5, 3, (10, 2))
    inputs, strong_samples, pool_samples = encoded(strong, pool)
    both = np.concatenate([strong_samples, pool_samples])
    np.testing.assert_allclose(both.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(both.std(axis=0), 1)
    assert np.array_equal(again(inputs).of(strong), strong_samples)


def test_without_a_weak_set_both_are_the_same_samples():
    X = np.random.default_rng(0).normal(size=(10, 2))
    _, strong, pool = encoded(X, X)
    assert strong is pool


def test_wide_sparse_rows_keep_their_distances():
    rng = np.random.default_rng(0)
    low = rng.normal(size=(200, 5)) @ rng.normal(size=(5, 1500))
    rows = scipy.sparse.csr_matrix(low)
    inputs, strong, _ = encoded(rows[:50], rows)
    scale = np.linalg.norm(strong["vector"][0] - strong["vector"][1]) / np.linalg.norm(low[0] - low[1])
    ours = np.linalg.norm(strong["vector"][2] - strong["vector"][3])
    np.testing.assert_allclose(ours, scale * np.linalg.norm(low[2] - low[3]), rtol=SINGLE)
    assert np.array_equal(again(inputs).of(rows[:50]), strong)


def test_texts_become_word_ids_and_vectors():
    pool = ["good film", "bad film", "good good song", "bad song"] * 5
    inputs, strong, _ = encoded(["good song", "unheard", ""], pool)
    assert strong.dtype.names == ("tokens", "vector")
    assert (strong["tokens"] > 0).sum(axis=1).tolist() == [2, 1, 1]  # an empty text is one unknown word
    assert not strong["vector"][2].any()
    assert inputs.described() == {"kind": "texts", "words": 4, "pieces": 64, "tokens_read": 3, "empty": 1}
    revived = again(inputs)
    assert np.array_equal(revived.of(["good film tonight"]), inputs.of(["good film tonight"]))


def test_like_texts_have_like_vectors():
    pool = ["great film", "great movie film", "late train", "the train was late again"] * 10
    _, vectors, _ = encoded(["great film", "movie film", "late train"], pool)
    near, far = (np.linalg.norm(vectors["vector"][0] - vectors["vector"][i]) for i in (1, 2))
    assert near < far


def test_texts_that_were_saved_without_spelling_are_read_without():
    inputs, _, _ = encoded(["good song", "bad song"], ["good film", "bad film"] * 5)
    old = again(replace(inputs, spelling=None))
    words = old.of(["good film"])["vector"]
    assert old.described()["pieces"] == 0
    assert np.array_equal(words, inputs.of(["good film"])["vector"][:, : words.shape[1]])


def test_blank_texts_have_words_of_nothing_and_no_spelling():
    inputs, samples, _ = encoded(["", "  "], ["", " "])
    assert inputs.spelling is None
    assert not samples["vector"].any()


def test_a_table_may_come_as_an_array_if_all_its_columns_are_numbers():
    table = pa.table({"a": [1.0, 2.0, 4.0], "b": [0.0, 1.0, 0.0]})
    inputs = TableInputs(fit_encoding(table))
    assert np.array_equal(inputs.of(table), inputs.of(np.array([[1.0, 0.0], [2.0, 1.0], [4.0, 0.0]])))
    message = "expected a frame with the columns a, b, got an array of shape (1, 3)"
    with expect_refusal(WrongShape, message):
        inputs.of(np.zeros((1, 3)))


def test_columns_of_two_kinds_in_the_two_sets_are_refused_by_name():
    message = "column 'b' holds int64 in the strong set and string in the weak one; expected the same kind in both"
    with expect_refusal(InvalidInput, message):
        encoded(pa.table({"a": [1], "b": [1]}), pa.table({"a": [1.5], "b": ["x"]}))


def test_whole_numbers_and_fractions_in_one_column_go_together():
    _, strong, pool = encoded(pa.table({"a": [1, 2]}), pa.table({"a": [1.5, 2.0]}))
    assert strong[1, 0] == pool[1, 0]


def test_samples_with_named_parts_stay_as_they_are():
    inputs, strong, _ = encoded(PARTS, PARTS)
    assert strong is PARTS
    assert again(inputs).of(PARTS) is PARTS
    with pytest.raises(WrongShape, match="expected samples with the parts tokens, vector, got float64"):
        PlainInputs(("tokens", "vector")).of(np.zeros(2))


def test_an_encoder_for_numbers_is_refused():
    message = "encoder: a sentence encoder reads texts, got samples of another kind (array)"
    with expect_refusal(InvalidInput, message):
        encoded(np.zeros((2, 1)), np.zeros((2, 1)), encoder="folder")


def test_an_unknown_kind_of_inputs_is_refused():
    with pytest.raises(UnknownName, match="unknown kind of inputs 'Exec'"):
        revive_inputs("Exec", State({}, {}))


def test_something_else_among_texts_is_refused_by_its_row():
    from fwl.estimators.text_inputs import as_text_list

    with expect_refusal(InvalidInput, "texts: row 1 is a int (3), expected a str"):
        as_text_list(["a", 3])
