"""The encoder itself as a voice of FWL_auto: its upper layers trained on the strong tweets, once for all seeds.

As word vectors and principal components are: it is made from the strong tweets alone, whatever is drawn later, and
kept on disk by content.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from pathlib import Path

import torch
from filelock import FileLock

from fwl.errors import OutputTrouble
from fwl.experiments.tweets import PIECES, open_encoder
from fwl.learn.task import MULTICLASS
from fwl.randomness import Chance
from fwl.records import StrongSet
from fwl.storage import Stored, read_folder, write_folder
from fwl.students.encoder import FineTunedEncoder
from fwl.students.inference import part_of
from fwl.students.training import Lesson, Training, train
from fwl.students.vector_cache import default_cache_folder

UPDATES, BATCH = 120, 32
PASSES = 5  # over the strong tweets, at the most
_SCHEME = "upper layers, linear decay, 1"  # part of every digest: change it when guests change


@dataclass(frozen=True)
class EncoderGuest:
    """Makes the guest of some strong tweets.

    Attributes:
        folder: of the encoder.
        layers: upper ones that are trained.
        rate: of learning, at first; it falls to 0.
    """

    folder: Path
    layers: int
    rate: float

    def __call__(self, strong: StrongSet) -> FineTunedEncoder:
        """The trained student; read from the cache where somebody has trained it, while others wait for it."""
        guest = FineTunedEncoder(
            open_encoder(self.folder), strong.y.shape[1], self.layers, reads=PIECES, chance=Chance(0).child("guest")
        )
        kept = default_cache_folder().parent / "guests" / self._digest(strong)[:32]
        kept.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(kept.with_suffix(".lock")):
            if not _revived(guest, kept):
                plan = Training(_updates(len(strong.X)), BATCH, learning_rate=self.rate, annealing="linear")
                lesson = Lesson(strong.X, strong.y)
                train(guest, lesson, plan, Chance(0).child("guest training"), loss=MULTICLASS.loss)
                write_folder(kept, Stored("guest", {}, {name: p.detach().numpy() for name, p in _trained(guest)}))
        return guest.eval()

    def _digest(self, strong: StrongSet) -> str:
        told = json.dumps([_SCHEME, open_encoder(self.folder).digest, self.layers, self.rate, UPDATES, BATCH, PASSES])
        digest = hashlib.sha256(told.encode())
        for array in (part_of(strong.X, PIECES), strong.y):
            digest.update(array.tobytes())
        return digest.hexdigest()


def _updates(n: int) -> int:
    """As many as go over n strong tweets once; more where these are few, but not too often over the same."""
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
