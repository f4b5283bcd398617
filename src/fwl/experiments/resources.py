"""Where experiments find word vectors and a sentence encoder when nobody names them."""

from __future__ import annotations

from pathlib import Path

from fwl.students.packaged import packaged_encoder

NEARBY = 3  # folders, from the data's own upwards, beside which word vectors are looked for
_ENDINGS = ("npy", "bin", "gz")


def embeddings_file(wanted: str, data: str) -> Path | None:
    """A file of word vectors by its name; for "auto" what lies in a folder `embeddings` in or above the data's."""
    if wanted != "auto":
        return Path(wanted) if wanted else None
    if not data:
        return None
    folder = Path(data).resolve()
    for place in [folder, *folder.parents][:NEARBY]:
        files = sorted(path for end in _ENDINGS for path in (place / "embeddings").glob(f"*.{end}"))
        if files:
            return files[0]
    return None


def encoder_folder(wanted: str, data: str) -> Path | None:
    """A sentence encoder by its folder; for "auto" the packaged one, where it is installed and the data is real."""
    if wanted != "auto":
        return Path(wanted) if wanted else None
    return packaged_encoder() if data else None
