"""A transformer in a local folder: what has to be there, reading it, and a digest of what is in it.

Nothing is downloaded and nothing is unpickled: weights come from safetensors, the rest from JSON and plain text.
Transformers is an extra (`fwl[encoder]`), so it is imported where it is needed and nowhere else.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import safetensors
import torch
from torch import nn

from fwl.errors import InvalidInput, OutputTrouble

CONFIG = "config.json"
WEIGHTS = ("model.safetensors", "model.safetensors.index.json")
PICKLES = ("pytorch_model.bin", "pytorch_model.bin.index.json")
VOCABULARIES = (
    *("tokenizer.json", "vocab.txt", "vocab.json"),
    *("tokenizer.model", "spiece.model", "sentencepiece.bpe.model"),
)
_BESIDE_A_VOCABULARY = ("merges.txt", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json")
_TROUBLE = (OSError, ValueError, KeyError, TypeError, RuntimeError, ImportError, safetensors.SafetensorError)


def require_transformers() -> Any:
    """The module, or a refusal that says how to get it."""
    try:
        import transformers
    except ImportError as error:
        raise InvalidInput(
            "a sentence encoder needs transformers; install it with: pip install 'fwl[encoder]'"
        ) from error
    return transformers


def check_folder(folder: Path) -> None:
    """Refuse a folder that lacks a part of an encoder, before anything large is read."""
    if not folder.is_dir():
        raise OutputTrouble(
            f"{folder} is not a folder; expected one with {CONFIG}, {WEIGHTS[0]} and {VOCABULARIES[0]}: "
            "nothing is downloaded, give the path of a local copy"
        )
    if not (folder / CONFIG).is_file():
        raise OutputTrouble(f"{folder} has no {CONFIG}; expected a folder that transformers' save_pretrained wrote")
    _check_weights(folder)
    if not any((folder / name).is_file() for name in VOCABULARIES):
        raise OutputTrouble(
            f"{folder} has no tokeniser; expected one of {', '.join(VOCABULARIES)}: "
            "save the tokeniser of the same model into it"
        )
    _check_config(folder, require_transformers())


def read_transformer(folder: Path) -> nn.Module:
    """The network in single precision, ready to be asked, without the pooling layer that sentences do not need."""
    transformers = require_transformers()
    # Whatever the file lacks is drawn at random before it is refused below: not from the caller's generator.
    with _quiet(transformers), torch.random.fork_rng(devices=[]):
        try:
            transformer, report = transformers.AutoModel.from_pretrained(
                str(folder),
                local_files_only=True,
                use_safetensors=True,
                trust_remote_code=False,
                output_loading_info=True,
            )
        except _TROUBLE as error:
            raise OutputTrouble(
                f"the transformer in {folder} cannot be read ({_first_line(error)}); save it again, "
                "with weights and config.json of one model"
            ) from error
    _check_complete(folder, report)
    if isinstance(getattr(transformer, "pooler", None), nn.Module):
        transformer.pooler = None
    network: nn.Module = transformer.float().eval()
    return network


def read_tokeniser(folder: Path) -> Any:
    """The tokeniser of the same folder; it must have a token for padding."""
    transformers = require_transformers()
    with _quiet(transformers):
        try:
            tokeniser = transformers.AutoTokenizer.from_pretrained(
                str(folder), local_files_only=True, trust_remote_code=False
            )
        except Exception as error:  # its Rust half raises plain Exception
            raise OutputTrouble(
                f"the tokeniser in {folder} cannot be read ({_first_line(error)}); save it again"
            ) from error
    if tokeniser.pad_token_id is None:
        raise OutputTrouble(f"the tokeniser in {folder} has no padding token; set its pad_token and save it again")
    return tokeniser


def digest(folder: Path) -> str:
    """SHA-256 over every file that a vector depends on: config, weights and tokeniser, each with its name."""
    whole = hashlib.sha256()
    names = {CONFIG, *WEIGHTS, *VOCABULARIES, *_BESIDE_A_VOCABULARY}
    for path in sorted(folder.iterdir()):
        if path.name in names or path.suffix == ".safetensors":
            with path.open("rb") as file:
                whole.update(f"{path.name} {hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return whole.hexdigest()


def _check_weights(folder: Path) -> None:
    if any((folder / name).is_file() for name in WEIGHTS):
        return
    if any((folder / name).is_file() for name in PICKLES):
        raise OutputTrouble(
            f"{folder} has its weights in {PICKLES[0]} only: a pickle can run code and is never read; "
            f"expected {WEIGHTS[0]}: save the model again with save_pretrained(..., safe_serialization=True)"
        )
    raise OutputTrouble(f"{folder} has no weights; expected {WEIGHTS[0]}: copy the whole folder of the model")


def _check_config(folder: Path, transformers: Any) -> None:
    """Refuse what transformers would guess at: a config without a kind is read by the folder's name otherwise."""
    path = folder / CONFIG
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
        kind = config["model_type"]
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise OutputTrouble(
            f"{path} is not the config of a transformer: it has no model_type; "
            "expected what transformers' save_pretrained writes"
        ) from error
    if kind not in transformers.CONFIG_MAPPING:
        raise OutputTrouble(
            f"{path} has model_type {kind!r}, which the installed transformers {transformers.__version__} "
            "does not know; try a newer transformers, or a model of a kind such as 'bert'"
        )
    if config.get("is_encoder_decoder"):
        raise OutputTrouble(f"{path} describes an encoder with a decoder; expected an encoder alone, such as 'bert'")


def _check_complete(folder: Path, report: dict[str, Any]) -> None:
    """Refuse weights of another architecture: transformers would leave what is missing at random values."""
    missing = sorted(name for name in report["missing_keys"] if not name.startswith("pooler."))
    if missing:
        raise OutputTrouble(
            f"the weights in {folder} lack {len(missing)} arrays of the transformer that {CONFIG} describes "
            f"({missing[0]}, ...); expected weights and {CONFIG} of one model"
        )


@contextmanager
def _quiet(transformers: Any) -> Iterator[None]:
    """Inside, transformers prints neither bars nor reports; what matters in them is checked and said by us."""
    logging = transformers.utils.logging
    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
