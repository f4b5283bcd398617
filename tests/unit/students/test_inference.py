import numpy as np
import pytest
import torch

from fwl.errors import InvalidInput
from fwl.students import inference, predict
from fwl.students.inference import as_input, part_of
from tests import examples
from tests.refusals import expect_refusal

LAYOUTS = {
    "double precision": lambda X: X,
    "single precision": lambda X: X.astype(np.float32),
    "columns first": np.asfortranarray,
    "a view of every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "whole numbers": lambda X: X.astype(np.int64),
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_any_layout_becomes_contiguous_single_precision(layout):
    X = layout(np.arange(12.0).reshape(4, 3))
    tensor = as_input(X)
    assert tensor.dtype == torch.float32
    assert tensor.is_contiguous()
    np.testing.assert_array_equal(tensor.numpy(), X)


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_the_layout_changes_no_prediction(layout):
    X = np.arange(12.0).reshape(4, 3)
    student = examples.perceptron()
    np.testing.assert_array_equal(predict(student, layout(X)), predict(student, X))


def test_read_only_samples_are_read():
    X = np.ones((4, 3), dtype=np.float32)
    X.flags.writeable = False
    assert predict(examples.perceptron(), X).shape == (4, 1)


def test_a_vector_is_one_column():
    np.testing.assert_array_equal(as_input(np.arange(3.0)).numpy(), [[0.0], [1.0], [2.0]])


def test_samples_of_more_dimensions_keep_them():
    assert as_input(np.zeros((2, 3, 4))).shape == (2, 3, 4)


def test_predictions_carry_no_gradient_and_repeat():
    student = examples.with_dropout()
    X = examples.lesson().X
    np.testing.assert_array_equal(predict(student, X), predict(student, X))


def test_the_mode_comes_back_after_an_error():
    student = examples.perceptron().train()
    with pytest.raises(RuntimeError):
        predict(student, np.zeros((2, 5)))
    assert student.training


TEXTS = examples.text_lesson().X


def test_a_student_reads_its_part_of_a_sample():
    np.testing.assert_array_equal(as_input(TEXTS, "tokens").numpy(), TEXTS["tokens"])
    np.testing.assert_array_equal(as_input(TEXTS, "vector").numpy(), TEXTS["vector"])
    assert as_input(TEXTS, "tokens").is_contiguous()
    assert np.shares_memory(part_of(TEXTS, "tokens"), TEXTS)


READ_AS = {
    np.int8: torch.int32,
    np.uint16: torch.int32,
    np.int32: torch.int32,
    np.uint32: torch.int64,
    np.int64: torch.int64,
    np.uint64: torch.int64,
    bool: torch.float32,
    np.float16: torch.float32,
    np.float64: torch.float32,
}


@pytest.mark.parametrize(("given", "read"), READ_AS.items())
def test_whole_numbers_of_a_part_stay_whole(given, read):
    X = np.ones((4, 3), dtype=given)
    named = np.zeros(4, dtype=[("tokens", given, (3,))])
    named["tokens"] = X
    assert as_input(named, "tokens").dtype == as_input(X, "tokens").dtype == read
    assert as_input(X).dtype == torch.float32


def test_a_part_of_one_number_is_one_column():
    X = np.array([(1,), (2,)], dtype=[("tokens", np.int64)])
    np.testing.assert_array_equal(as_input(X, "tokens").numpy(), [[1], [2]])


def test_named_parts_are_refused_by_a_student_of_plain_numbers():
    message = (
        "these samples have named parts (tokens, vector) and this student reads plain numbers; "
        "give it one part, or name the part in the student's `reads`"
    )
    with expect_refusal(InvalidInput, message):
        predict(examples.perceptron(), TEXTS)


def test_a_part_that_is_not_there_is_refused():
    message = (
        "this student reads the part 'tokens' of a sample, got samples with vector, weight; "
        "name one of their parts so, or set the student's `reads`"
    )
    X = np.zeros(3, dtype=[("vector", float, (2,)), ("weight", float)])
    with expect_refusal(InvalidInput, message):
        predict(examples.text_cnn(), X)


def test_a_student_in_double_precision_still_reads_whole_numbers():
    student = examples.text_cnn()
    single = predict(student, TEXTS)
    np.testing.assert_allclose(predict(student.double(), TEXTS), single, rtol=0, atol=1e-6)


def test_texts_are_asked_for_from_short_to_long_and_come_back_in_their_order(monkeypatch):
    asked, student = [], examples.text_cnn()
    represent = student.represent

    def listening(x):
        asked.append(int((x != 0).sum(dim=1).max()))
        return represent(x)

    whole = predict(student, TEXTS)
    monkeypatch.setattr(inference, "CHUNK", 20)
    monkeypatch.setattr(student, "represent", listening)
    np.testing.assert_allclose(predict(student, TEXTS), whole, rtol=0, atol=1e-6)
    assert asked == sorted(asked)
    assert len(asked) == 15  # thirty texts of at most nine words: two of them have no more than twenty


def test_several_parts_come_side_by_side_bit_by_bit():
    X = np.zeros(3, dtype=[("tokens", np.int32, (2,)), ("vector", np.float32, (4,)), ("other", np.float64)])
    X["tokens"], X["vector"] = [[1, 2], [3, 4], [2**31 - 1, 0]], np.linspace(-1, 1, 12).reshape(3, 4)
    tensor = as_input(X, ("tokens", "vector"))
    assert tensor.dtype == torch.int32
    assert np.array_equal(tensor[:, :2].numpy(), X["tokens"])
    assert np.array_equal(tensor[:, 2:].contiguous().view(torch.float32).numpy(), X["vector"])
    message = (
        "the part 'other' of these samples is float64; parts that are read side by side are whole or single precision "
        "numbers of 32 bits: convert it"
    )
    with expect_refusal(InvalidInput, message):
        part_of(X, ("tokens", "other"))
