import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional

from fwl.errors import InvalidInput, NotFinite, UnknownName, WrongShape
from fwl.randomness import Chance
from fwl.students import Lesson, TextCNN, Training, predict, represent, train
from fwl.students.batches import Alternating, ByProbability
from fwl.students.losses import cross_entropy
from tests import examples
from tests.properties import PROPERTY
from tests.refusals import expect_refusal
from tests.tolerances import SINGLE

SAME = 1e-6  # the same text in another batch: sums of a few dozen numbers in single precision, in another order
LAYERS = pytest.mark.parametrize("layers", [1, 2, 3])
TEXTS = st.lists(st.lists(st.integers(1, examples.WORDS - 1), max_size=12), min_size=1, max_size=6)


def rows(texts: list[list[int]], columns: int) -> torch.Tensor:
    return torch.tensor([text + [0] * (columns - len(text)) for text in texts])


def plain(student: TextCNN, text: list[int]) -> torch.Tensor:
    """The outputs for one text, by torch's own convolutions on that text alone."""
    features = student.words.weight[torch.tensor(text, dtype=torch.int64)].T  # [m, L]
    *before, last = student.convolutions
    for layer in before:
        features = functional.max_pool1d(convolved(features, layer, student.width), 2, ceil_mode=True)
    psi = convolved(features, last, student.width).amax(dim=1)
    for layer in student.hidden:
        psi = layer(psi)
    return student.output(psi)


def convolved(features: torch.Tensor, layer: nn.Linear, width: int) -> torch.Tensor:
    missing = max(0, width - features.shape[1])
    kernel = layer.weight.reshape(layer.out_features, width, -1).transpose(1, 2)
    return functional.conv1d(functional.pad(features, (0, missing)), kernel, layer.bias).relu()


@LAYERS
@pytest.mark.parametrize("width", [1, 2, 3, 5])
@PROPERTY
@given(texts=TEXTS, padding=st.integers(0, 3))
def test_each_text_gives_what_torchs_own_convolution_gives_for_it_alone(texts, padding, layers, width):
    student = TextCNN(
        examples.WORDS, 2, filters=7, width=width, layers=layers, hidden=(5, 4), columns=3, chance=Chance(0)
    )
    with torch.no_grad():
        for layer in student.convolutions:
            layer.bias.uniform_(-0.2, 0.2, generator=Chance(1).torch())
        got = student.eval()(rows(texts, 12 + padding))
        expected = torch.stack([plain(student, text) for text in texts])
    torch.testing.assert_close(got, expected, rtol=0, atol=SAME)


@LAYERS
def test_gradients_are_those_of_torchs_own_convolution(layers):
    texts = [[1, 2, 3, 4, 5, 6, 7], [8], [3, 9], [10, 1, 5, 2]]
    ours, theirs = examples.text_cnn(layers), examples.text_cnn(layers)
    ours(rows(texts, 9)).square().sum().backward()
    torch.stack([plain(theirs, text) for text in texts]).square().sum().backward()
    for (name, one), (_, other) in zip(ours.named_parameters(), theirs.named_parameters(), strict=True):
        torch.testing.assert_close(one.grad.to_dense(), other.grad, rtol=1e-5, atol=SAME, msg=name)


@LAYERS
def test_the_padding_is_never_learned(layers):
    student, lesson = examples.text_cnn(layers), examples.text_lesson()
    train(student, lesson, Training(steps=20, batch_size=4, learning_rate=0.1), Chance(0))
    assert not student.words.weight[0].any()
    assert student.words.weight[1:].any(dim=1).all()


def test_only_the_words_of_a_batch_have_gradients():
    student = examples.text_cnn()
    student(torch.tensor([[3, 5, 3, 0], [7, 0, 0, 0]])).sum().backward()
    gradient = student.words.weight.grad
    assert gradient.is_sparse
    assert set(gradient.coalesce().indices()[0].tolist()) <= {3, 5, 7}


def test_the_default_is_the_papers():
    student = TextCNN(20, 3, chance=Chance(0))
    shapes = {name: tuple(value.shape) for name, value in student.named_parameters()}
    assert shapes == {
        "words.weight": (20, 100),
        "convolutions.0.weight": (200, 300),
        "convolutions.0.bias": (200,),
        "hidden.0.weight": (100, 200),
        "hidden.0.bias": (100,),
        "output.weight": (3, 100),
        "output.bias": (3,),
    }
    assert [m.p for m in student.modules() if isinstance(m, nn.Dropout)] == [0.2]


def test_psi_is_the_last_hidden_layer():
    student = TextCNN(20, 3, filters=8, hidden=(7, 5), columns=4, chance=Chance(0)).eval()
    x = torch.tensor([[4, 5, 6, 7], [8, 9, 0, 0]])
    psi = student.represent(x)
    assert psi.shape == (2, 5)
    assert torch.equal(student(x), student.output(psi))


def test_without_hidden_layers_psi_is_the_pooled_filters():
    student = TextCNN(20, 3, filters=8, hidden=(), columns=4, chance=Chance(0)).eval()
    assert student.represent(torch.tensor([[4, 5, 6, 7]])).shape == (1, 8)


def test_dropout_drops_in_training_only():
    student, x = examples.text_cnn(dropout=0.9), torch.tensor([[4, 5, 6, 7]]).repeat(50, 1)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        dropped = student.train().represent(x)
    assert len(torch.unique(dropped, dim=0)) > 1
    kept = student.eval().represent(x)
    assert torch.allclose(kept, kept[:1], rtol=SINGLE)  # a row's place in a product may change its last bit


def test_lengths_are_counted_to_the_last_word():
    X = np.array([[1, 2, 0, 0], [0, 0, 0, 0], [1, 1, 1, 1], [0, 0, 3, 0]])
    assert examples.text_cnn().lengths(X).tolist() == [2, 0, 4, 3]
    named = examples.text_lesson().X
    assert examples.text_cnn().lengths(named).tolist() == (named["tokens"] > 0).sum(axis=1).tolist()
    assert examples.text_cnn().lengths(X[:0]).tolist() == []
    assert examples.text_cnn().lengths(np.zeros((2, 0), dtype=np.int32)).tolist() == [0, 0]


def test_a_text_of_nothing_has_an_output():
    student = examples.text_cnn()
    nothing = predict(student, np.zeros((1, 5), dtype=np.int32))
    assert np.isfinite(nothing).all()
    np.testing.assert_array_equal(predict(student, np.zeros((1, 0), dtype=np.int32)), nothing)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint32])
def test_ids_of_any_whole_type_are_read(dtype):
    student, X = examples.text_cnn(), examples.text_lesson().X["tokens"]
    np.testing.assert_array_equal(predict(student, X.astype(dtype)), predict(student, X))


def test_it_learns_classes():
    texts, rng = examples.text_lesson(200), np.random.default_rng(0)
    y = np.eye(3)[np.where((texts.X["tokens"] == 2).any(axis=1), 0, np.where(rng.random(200) < 0.0, 1, 2))]
    student = examples.text_cnn(classes=3)
    train(student, Lesson(texts.X, y), Training(steps=200, learning_rate=0.02), Chance(0), loss=cross_entropy)
    assert (predict(student, texts.X).argmax(axis=1) == y.argmax(axis=1)).mean() > 0.95


OTHER_BATCHES = {
    "by probability": lambda: ByProbability(np.arange(1.0, 31.0), 8, Chance(0)),
    "alternating": lambda: Alternating(25, 5, 8, Chance(0)),
}


@pytest.mark.parametrize("make_batches", OTHER_BATCHES.values(), ids=OTHER_BATCHES)
def test_batches_of_any_kind_train_it(make_batches):
    plan = Training(steps=60, learning_rate=0.02)
    history = train(examples.text_cnn(), examples.text_lesson(), plan, Chance(0), batches=make_batches())
    assert np.mean(history.loss[-10:]) < np.mean(history.loss[:10])


def test_given_vectors_are_where_words_start():
    vectors = np.random.default_rng(0).normal(size=(6, 4))
    student = TextCNN(vectors, 2, filters=3, chance=Chance(0))
    np.testing.assert_array_equal(student.words.weight.detach()[1:], vectors[1:].astype(np.float32))
    assert not student.words.weight[0].any()
    train(student, Lesson(np.full((4, 3), 2), np.ones((4, 2))), Training(steps=2), Chance(0))
    assert vectors[0].any()  # the caller's own are left alone
    assert student.words.weight[2].tolist() != vectors[2].astype(np.float32).tolist()


@pytest.mark.parametrize("initialisation", ["glorot", "he"])
def test_the_same_chance_gives_the_same_student(initialisation):
    one, other, third = (
        TextCNN(9, 2, filters=3, layers=2, initialisation=initialisation, columns=4, chance=Chance(seed))
        for seed in (0, 0, 1)
    )
    assert examples.same_bits(one, other)
    assert all(not torch.equal(a, b) or not a.any() for a, b in zip(one.parameters(), third.parameters(), strict=True))


def test_weights_fill_their_bounds_and_biases_start_at_zero():
    student = TextCNN(99, 30, filters=50, layers=2, columns=40, chance=Chance(0))
    for layer in (module for module in student.modules() if isinstance(module, nn.Linear)):
        bound = math.sqrt(6 / (layer.in_features + layer.out_features))
        assert 0.9 * bound < layer.weight.abs().max().item() <= bound * (1 + 1e-6)
        assert not layer.bias.any()
    assert 0.24 < student.words.weight.abs().max().item() <= 0.25


def test_building_leaves_the_global_generator_alone():
    before = torch.get_rng_state()
    TextCNN(9, 2, chance=Chance(0))
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"vocabulary": 0}, "vocabulary is at least 1, got 0"),
        ({"classes": 0}, "classes is at least 1, got 0"),
        ({"filters": 0}, "filters is at least 1, got 0"),
        ({"width": 0}, "width is at least 1, got 0"),
        ({"layers": 0}, "layers is at least 1, got 0"),
        ({"columns": -1}, "columns is at least 1, got -1"),
        ({"hidden": (5, 0)}, "hidden[1] is at least 1, got 0"),
        ({"dropout": 1.0}, "dropout is a share from 0 to below 1, got 1.0"),
        ({"dropout": -0.1}, "dropout is a share from 0 to below 1, got -0.1"),
    ],
)
def test_sizes_out_of_range_are_refused(setting, message):
    with expect_refusal(InvalidInput, message):
        TextCNN(**{"vocabulary": 9, "classes": 2} | setting, chance=Chance(0))


def test_an_unknown_initialisation_is_answered_with_the_nearest():
    known = "glorot, he, truncated_normal, torch"
    with expect_refusal(UnknownName, f"unknown initialisation 'gloro'; did you mean 'glorot'? known: {known}"):
        TextCNN(9, 2, initialisation="gloro", chance=Chance(0))


@pytest.mark.parametrize("vectors", [np.zeros(3), np.zeros((0, 4)), np.zeros((3, 4), dtype=np.int64)])
def test_vectors_that_are_no_matrix_are_refused(vectors):
    message = f"word vectors: expected a matrix of numbers [V, m], got {vectors.dtype} of shape {vectors.shape}"
    with expect_refusal(WrongShape, message):
        TextCNN(vectors, 2, chance=Chance(0))


def test_broken_vectors_are_refused():
    message = "word vectors: NaN or infinity among them; leave such words out of the vocabulary"
    with expect_refusal(NotFinite, message):
        TextCNN(np.array([[1.0], [np.nan], [2.0]]), 2, chance=Chance(0))


@pytest.mark.parametrize(("ids", "named"), [([[1, 11]], 11), ([[-2, 500]], -2), ([[500, 3]], 500)])
def test_an_id_outside_the_vocabulary_is_refused_by_name(ids, named):
    message = (
        f"word id {named} is outside the vocabulary of 11 (0 to 10); "
        "encode texts with the vocabulary this student was made for"
    )
    with expect_refusal(InvalidInput, message):
        predict(examples.text_cnn(), np.array(ids))


def test_numbers_that_are_not_whole_are_refused():
    message = (
        "a text student reads word ids, expected whole numbers of 32 or 64 bits, got torch.float32; "
        "encode texts with a vocabulary first"
    )
    with expect_refusal(InvalidInput, message):
        predict(examples.text_cnn(), np.ones((3, 4)))


def test_ids_in_three_dimensions_are_refused():
    with expect_refusal(WrongShape, "word ids: expected one row a text, [N, L], got shape (2, 3, 4)"):
        examples.text_cnn()(torch.ones((2, 3, 4), dtype=torch.int64))


def words_and_vectors(n: int, columns: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    X = np.zeros(n, dtype=[("tokens", np.int32, (6,)), ("vector", np.float32, (columns,))])
    X["tokens"] = rng.integers(1, examples.WORDS, size=(n, 6)) * (np.arange(6) < rng.integers(0, 7, size=(n, 1)))
    X["vector"] = rng.normal(size=(n, columns))
    return X


def test_a_vector_beside_the_words_is_read_by_the_hidden_layer():
    student = TextCNN(examples.WORDS, 3, 4, beside=5, hidden=(7,), columns=8, chance=Chance(0)).eval()
    X = words_and_vectors(10, 5)
    outputs = predict(student, X)
    words = torch.from_numpy(X["tokens"])
    pooled = student._strongest(words, torch.from_numpy(student.lengths(X)))
    psi = student.hidden(torch.cat([pooled, torch.from_numpy(X["vector"])], dim=1))
    np.testing.assert_allclose(outputs, student.output(psi).detach().numpy(), atol=SAME)
    X["vector"] = 0.0
    assert not np.allclose(outputs, predict(student, X))


def test_without_hidden_layers_psi_ends_with_the_vector():
    student = TextCNN(examples.WORDS, 3, 4, beside=5, hidden=(), columns=8, chance=Chance(0)).eval()
    X = words_and_vectors(10, 5)
    np.testing.assert_array_equal(represent(student, X)[:, 4:], X["vector"])


def test_the_class_is_learned_from_the_vector_where_the_words_say_nothing():
    X = words_and_vectors(300, 5)
    y = np.eye(2)[(X["vector"][:, 0] > 0).astype(int)]
    student = TextCNN(examples.WORDS, 2, 4, beside=5, hidden=(8,), columns=8, chance=Chance(0))
    train(student, Lesson(X, y), Training(steps=300, learning_rate=1e-2), Chance(0), loss=cross_entropy)
    assert (predict(student, X).argmax(axis=1) == y.argmax(axis=1)).mean() > 0.95


def test_a_student_of_words_and_vector_refuses_words_alone():
    student = TextCNN(examples.WORDS, 3, 4, beside=5, columns=8, chance=Chance(0))
    message = (
        "word ids and a vector of 5 columns: expected their bits side by side, whole numbers of 32 bits, [N, L + 5], "
        "got torch.int32 of shape (2, 3); give samples with the parts 'tokens' and 'vector'"
    )
    with expect_refusal(WrongShape, message):
        student(torch.ones(2, 3, dtype=torch.int32))
    with expect_refusal(InvalidInput, "beside is a number of columns from 0 up, got -1"):
        TextCNN(examples.WORDS, 3, beside=-1, chance=Chance(0))


def test_word_dropout_changes_what_is_learned_from_and_not_what_is_predicted() -> None:
    student = TextCNN(30, 3, filters=8, hidden=(6,), word_dropout=0.5, columns=5, chance=Chance(0))
    ids = torch.randint(1, 30, (4, 9), generator=torch.Generator().manual_seed(0))
    student.train()
    torch.manual_seed(0)
    noisy = {tuple(student(ids).flatten().tolist()) for _ in range(3)}
    student.eval()
    assert len(noisy) == 3
    assert torch.equal(student(ids), student(ids))
