"""The encoder itself as a voice of FWL_auto: its upper layers trained on weak tweets, then on the strong ones.

As word vectors and principal components are: it is made from the tweets alone, whatever is drawn later, and kept on
disk by content. Seeds and amounts of strong tweets share what it learned from the weak ones.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import OrderedDict
from collections.abc import Hashable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import torch
from filelock import FileLock, Timeout

from fwl.errors import OutputTrouble
from fwl.experiments.remembered import latest
from fwl.experiments.tweets import PIECES, open_encoder
from fwl.learn.recipe import Problem
from fwl.learn.task import MULTICLASS
from fwl.randomness import Chance
from fwl.storage import Stored, read_folder, write_folder
from fwl.students.encoder import FineTunedEncoder
from fwl.students.inference import part_of
from fwl.students.training import Lesson, Training, train
from fwl.students.vector_cache import default_cache_folder

UPDATES, BATCH = 120, 32
PASSES = 5  # over the strong tweets, at the most
FOREVER = -1.0  # how long to wait for another process that trains the same guest
GUESTS = 2  # that a process keeps, the latest
_SCHEME = "upper layers, linear decay, weak then strong, 1"  # part of every digest: change it when guests change

_MADE: OrderedDict[Hashable, RememberingEncoder] = OrderedDict()


class RememberingEncoder(FineTunedEncoder):
    """One that is not trained any more: what it made of a batch it makes again without looking.

    Seeds ask it about the same validation and test sets, which takes longer than all else they ask of it.
    """

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._known: dict[bytes, torch.Tensor] = {}

    def represent(self, x: torch.Tensor) -> torch.Tensor:
        """The mean of the tokens' vectors: token ids [N, L] -> [N, width]."""
        if self.training:
            return super().represent(x)
        key = hashlib.sha256(x.numpy().tobytes()).digest()
        if key not in self._known:
            self._known[key] = super().represent(x)
        return self._known[key]

    def train(self, mode: bool = True) -> Self:
        """Training or not; training forgets what was made."""
        if mode:
            self._known.clear()
        return super().train(mode)


@dataclass(frozen=True)
class EncoderGuest:
    """Makes the guest of a problem.

    Attributes:
        folder: of the encoder.
        layers: upper ones that are trained.
        rate: of learning, at first; it falls to 0.
        n_weak: weak tweets that it learns from before the strong ones, drawn once for all seeds; 0 for none.
    """

    folder: Path
    layers: int
    rate: float
    n_weak: int = 0

    def __call__(self, problem: Problem) -> FineTunedEncoder:
        """The trained student; read from the cache where somebody has trained it, while others wait for it."""
        lessons = self._lessons(problem)
        return latest(_MADE, self._digest(lessons), lambda: self._after(lessons), GUESTS)

    def begin(self, problem: Problem) -> None:
        """Train it now, unless somebody is at it: whoever has other things to do first need not wait for it then."""
        with suppress(Timeout):
            self._after(self._lessons(problem), patience=0.0)

    def _lessons(self, problem: Problem) -> tuple[Lesson, ...]:
        """What it learns, one after the other."""
        strong, weak = problem.strong, problem.weak
        if not self.n_weak:
            return (Lesson(strong.X, strong.y),)
        rows = Chance(0).child("guest's weak tweets").numpy().permutation(len(weak.X))[: self.n_weak]
        return Lesson(weak.X[rows], weak.y[rows]), Lesson(strong.X, strong.y)

    def _after(self, lessons: tuple[Lesson, ...], patience: float = FOREVER) -> RememberingEncoder:
        """What the encoder has become after these lessons; after each it is kept on disk."""
        kept = default_cache_folder().parent / "guests" / self._digest(lessons)[:32]
        kept.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(kept.with_suffix(".lock"), timeout=patience):
            guest = self._untrained(lessons[-1].y.shape[1])
            if not _revived(guest, kept):
                guest = self._after(lessons[:-1], patience) if lessons[:-1] else guest
                _teach(guest, lessons[-1], self.rate)
                write_folder(kept, Stored("guest", {}, {name: p.detach().numpy() for name, p in _trained(guest)}))
        return guest.eval()

    def _untrained(self, n_outputs: int) -> RememberingEncoder:
        chance = Chance(0).child("guest")
        return RememberingEncoder(open_encoder(self.folder), n_outputs, self.layers, reads=PIECES, chance=chance)

    def _digest(self, lessons: tuple[Lesson, ...]) -> str:
        told = json.dumps([_SCHEME, open_encoder(self.folder).digest, self.layers, self.rate, UPDATES, BATCH, PASSES])
        digest = hashlib.sha256(told.encode())
        for lesson in lessons:
            digest.update(part_of(lesson.X, PIECES).tobytes())
            digest.update(lesson.y.tobytes())
        return digest.hexdigest()


def _teach(guest: FineTunedEncoder, lesson: Lesson, rate: float) -> None:
    plan = Training(_updates(len(lesson.X)), BATCH, learning_rate=rate, annealing="linear")
    train(guest, lesson, plan, Chance(0).child("guest training"), loss=MULTICLASS.loss)


def _updates(n: int) -> int:
    """As many as go over n tweets once; more where these are few, but not too often over the same."""
    once = math.ceil(n / BATCH)
    return max(once, min(PASSES * once, UPDATES))


def _trained(guest: FineTunedEncoder) -> list[tuple[str, torch.nn.Parameter]]:
    return [(name, parameter) for name, parameter in guest.named_parameters() if parameter.requires_grad]


def _revived(guest: FineTunedEncoder, folder: Path) -> bool:
    """Whether a guest that was kept has been read into this one; one that cannot be read is trained anew."""
    if not (folder / "manifest.json").exists():
        return False
    try:
        arrays = read_folder(folder).arrays
    except OutputTrouble:
        return False
    with torch.no_grad():
        for name, parameter in _trained(guest):
            parameter.copy_(torch.from_numpy(arrays[name]))
    return True
