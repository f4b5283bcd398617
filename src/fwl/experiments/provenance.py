"""Where a result comes from: version, commit, packages, data, seeds, time and machine."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = ("numpy", "scipy", "scikit-learn", "torch")


def provenance(seeds: Iterable[int], data_digests: Iterable[str], seconds: float) -> dict[str, Any]:
    """The record that stands in every `results.json`."""
    return {
        **made_with(),
        "data_sha256": _digest_of(data_digests),
        "seeds": list(seeds),
        "seconds": round(seconds, 1),
    }


def made_with() -> dict[str, Any]:
    """What ran: version, commit, packages and machine."""
    return {
        "version": installed_version(),
        "commit": _commit(),
        "packages": {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
    }


def installed_version() -> str:
    """This package's version."""
    try:
        return version("fwl")
    except PackageNotFoundError:
        return "not installed"


def _digest_of(digests: Iterable[str]) -> str:
    return hashlib.sha256("".join(sorted(digests)).encode()).hexdigest()


def _commit() -> str | None:
    """The commit the package runs from, if it runs from a checkout of itself; `+` when files differ from it."""
    root = Path(__file__).parents[3]
    if not (root / "pyproject.toml").exists() or not (root / ".git").exists():
        return None
    described = _git(root, "describe", "--always", "--abbrev=40", "--dirty=+", "--exclude=*")
    return described or None


def _git(root: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, timeout=10, check=True)  # noqa: S603, S607
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
