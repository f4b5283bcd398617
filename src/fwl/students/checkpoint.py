"""Save a training now and then, and go on from there to the same bits.

One safetensors file: the student, its optimisers, the best student so far and torch's generator as tensors, the rest as
JSON in the file's metadata. It is written to the side and moved into place, so a kill leaves the last whole one.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import safetensors
import safetensors.torch
import torch
from torch import nn
from torch.optim import Optimizer

from fwl.errors import InvalidInput, OutputTrouble

FORMAT = 1


class Resumable(Protocol):
    """The moving parts of a training that a checkpoint saves and restores."""

    @property
    def student(self) -> nn.Module:
        """The network in training."""

    optimisers: list[Optimizer]
    best: dict[str, torch.Tensor]
    step: int
    history: Any


class Checkpoint:
    """A file that a training saves itself to every so many steps, and resumes from if it is there."""

    def __init__(self, path: str | os.PathLike[str], every: int = 1000) -> None:
        if every < 1:
            raise InvalidInput(f"a checkpoint is saved every so many steps, at least 1, got {every}")
        self.path, self.every = Path(path), every
        self._key = ""

    def is_due(self, step: int) -> bool:
        """Whether this step ends with a save."""
        return step % self.every == 0

    def save(self, run: Resumable) -> None:
        """Write the training as it stands."""
        tensors, numbers = _optimiser_state(run.optimisers)
        tensors |= {f"student.{name}": value for name, value in run.student.state_dict().items()}
        tensors |= {f"best.{name}": value for name, value in run.best.items()}
        tensors["generator"] = torch.get_rng_state()
        manifest = {
            "format": FORMAT,
            "key": self._key,
            "step": run.step,
            "history": dataclasses.asdict(run.history),
            "optimisers": numbers,
        }
        beside = self.path.with_name(self.path.name + ".part")
        owned = {name: value.detach().clone().contiguous() for name, value in tensors.items()}
        try:
            safetensors.torch.save_file(owned, beside, metadata={"manifest": json.dumps(manifest)})
            beside.replace(self.path)
        except (safetensors.SafetensorError, OSError) as error:
            raise OutputTrouble(f"cannot write checkpoint {self.path} ({error})") from error

    def resume(self, run: Resumable, key: str) -> None:
        """Put a saved training back into its moving parts; without a file, start from the beginning."""
        self._key = key
        if not self.path.exists():
            return
        tensors, manifest = self._read()
        if manifest["key"] != key:
            raise OutputTrouble(
                f"checkpoint {self.path} belongs to another training (other student, data, plan or seed); "
                "remove it to start afresh, or name another file"
            )
        run.student.load_state_dict(_below("student.", tensors))
        run.best = _below("best.", tensors)
        _restore_optimisers(run.optimisers, tensors, manifest["optimisers"])
        torch.set_rng_state(tensors["generator"])
        run.step = manifest["step"]
        for name, value in manifest["history"].items():
            setattr(run.history, name, value)

    def _read(self) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
        try:
            with safetensors.safe_open(self.path, framework="pt") as file:
                manifest = json.loads((file.metadata() or {})["manifest"])
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except (safetensors.SafetensorError, KeyError, ValueError, OSError) as error:
            raise OutputTrouble(
                f"{self.path} is not a whole checkpoint ({error}); remove it to start afresh"
            ) from error
        if manifest.get("format") != FORMAT:
            raise OutputTrouble(
                f"checkpoint {self.path} has format {manifest.get('format')!r}, this version reads {FORMAT}; "
                "remove it to start afresh"
            )
        return tensors, manifest


def fingerprint(*parts: Any) -> str:
    """A digest of what defines a training: its plan, its seed and its data."""
    digest = hashlib.sha256()
    for part in parts:
        if part is not None and dataclasses.is_dataclass(part):
            for field in dataclasses.fields(part):
                value = getattr(part, field.name)
                digest.update(field.name.encode())
                digest.update(_bytes(value))
        else:
            digest.update(repr(part).encode())
    return digest.hexdigest()


def _bytes(value: Any) -> bytes:
    if isinstance(value, np.ndarray) and value.dtype.names:  # part by part: what lies between parts is anybody's
        return b"".join(name.encode() + _bytes(value[name]) for name in value.dtype.names)
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape}".encode() + np.ascontiguousarray(value).tobytes()
    return repr(value).encode()


def _optimiser_state(optimisers: list[Optimizer]) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Per-parameter state, tensors apart from plain numbers, each under optimiser.parameter.name."""
    tensors: dict[str, torch.Tensor] = {}
    numbers: dict[str, Any] = {}
    for i, optimiser in enumerate(optimisers):
        for parameter, state in optimiser.state_dict()["state"].items():
            for name, value in state.items():
                target = tensors if isinstance(value, torch.Tensor) else numbers
                target[f"optimiser.{i}.{parameter}.{name}"] = value
    return tensors, numbers


def _restore_optimisers(optimisers: list[Optimizer], tensors: dict[str, torch.Tensor], numbers: dict[str, Any]) -> None:
    for i, optimiser in enumerate(optimisers):
        states: dict[int, dict[str, Any]] = {}
        for path, value in (_below(f"optimiser.{i}.", tensors) | _below(f"optimiser.{i}.", numbers)).items():
            parameter, name = path.split(".", 1)
            states.setdefault(int(parameter), {})[name] = value
        optimiser.load_state_dict({**optimiser.state_dict(), "state": states})


def _below(prefix: str, entries: dict[str, Any]) -> dict[str, Any]:
    return {name.removeprefix(prefix): value for name, value in entries.items() if name.startswith(prefix)}
