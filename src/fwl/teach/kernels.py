"""The kernels of the paper's appendix, composable by `+`.

    RBF       variance * exp(-|a - b|^2 / (2 l^2))      the paper prints it without its minus sign (DECISIONS.md, D10)
    Matern32  variance * (1 + r) exp(-r),  r = sqrt(3) |a - b| / l
    Linear    offset + variance * a.b                   offset is the paper's sigma_0^2, 0 by default
    White     constant where a sample meets itself, 0 between any two samples

All take torch tensors with samples in the last but one dimension, so that leading dimensions batch. Every kernel is a
function of how two samples lie to each other (`Pairs`: squared distance, dot product), so those are computed once for
all parts of a sum and for all parameter values tried. A parameter is a float, or a tensor while its value is being
fitted. The defaults are the paper's: l = 1, variance 1.
"""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Protocol, Self, final

import torch
from torch import Tensor

from fwl.errors import InvalidInput, UnknownName

Scalar = float | Tensor


class Pairs(Protocol):
    """How samples A [..., N, D] lie to samples B [..., M, D]."""

    @property
    def squared(self) -> Tensor:
        """Squared distances, [..., N, M]."""

    @property
    def dot(self) -> Tensor:
        """Dot products, [..., N, M]."""


class Between:
    """The pairs of two sets, computed when asked for and then kept."""

    def __init__(self, A: Tensor, B: Tensor) -> None:
        self._A, self._B = A, B

    @cached_property
    def squared(self) -> Tensor:
        """Squared distances."""
        # |a|^2 + |b|^2 - 2 a.b, with both sets moved to B's mean first: far from the origin the difference would drown.
        centre = self._B.mean(dim=-2, keepdim=True)
        A, B = self._A - centre, self._B - centre
        squared = A.square().sum(-1)[..., :, None] + B.square().sum(-1)[..., None, :] - 2.0 * (A @ B.mT)
        return squared.clamp_min(0.0)

    @cached_property
    def dot(self) -> Tensor:
        """Dot products."""
        return self._A @ self._B.mT


class Kernel(ABC):
    """A covariance function."""

    BOUNDS: ClassVar[dict[str, tuple[float, float]]] = {}

    @abstractmethod
    def of(self, pairs: Pairs) -> Tensor:
        """The covariance between two sets of different samples, [..., N, M]: new memory, the caller's to change."""

    @abstractmethod
    def diag(self, A: Tensor) -> Tensor:
        """The variance of each sample, noise included: [..., N, D] -> [..., N]."""

    @property
    @abstractmethod
    def noise(self) -> Scalar:
        """The part of the variance that belongs to the label and not to the function."""

    @property
    @abstractmethod
    def stationary(self) -> bool:
        """Whether only the distance of two samples counts, not where they lie."""

    @abstractmethod
    def parameters(self) -> dict[str, float]:
        """The parameters that can be fitted, by name; all are positive."""

    @abstractmethod
    def with_parameters(self, values: dict[str, Scalar]) -> Kernel:
        """The same kernel with other parameter values."""

    @abstractmethod
    def bounds(self) -> dict[str, tuple[float, float]]:
        """Where each of `parameters` may lie when it is fitted."""

    @final
    def __call__(self, A: Tensor, B: Tensor) -> Tensor:
        """The covariance between two sets of different samples: [..., N, D], [..., M, D] -> [..., N, M]."""
        return self.of(Between(A, B))

    @final
    def gram(self, A: Tensor) -> Tensor:
        """The covariance of a set with itself, noise on the diagonal: [..., N, D] -> [..., N, N]."""
        K = self(A, A)
        eye = torch.eye(A.shape[-2], dtype=A.dtype)
        return K + self.noise * eye

    @final
    def __add__(self, other: Kernel) -> Sum:
        if not isinstance(other, Kernel):
            return NotImplemented
        return Sum((*_parts(self), *_parts(other)))


class _Single(Kernel):
    """A kernel that is a frozen dataclass of positive numbers."""

    def __post_init__(self) -> None:
        for name, value in self._fields().items():
            number = _number(value)
            if not (math.isfinite(number) and number >= 0):
                raise InvalidInput(f"{type(self).__name__}({name}={number}): expected a number from 0 up")
            if name == "lengthscale" and number == 0:  # distances are divided by it
                raise InvalidInput(f"{type(self).__name__}({name}={number}): expected a number above 0")

    @property
    def noise(self) -> Scalar:
        """No noise, unless a kernel says otherwise."""
        return 0.0

    @property
    def stationary(self) -> bool:
        """So it is, unless a kernel says otherwise."""
        return True

    def parameters(self) -> dict[str, float]:
        """Every field that is not zero: a zero (the paper's sigma_0) switches its term off for good."""
        numbers = {name: _number(value) for name, value in self._fields().items()}
        return {name: number for name, number in numbers.items() if number > 0}

    def with_parameters(self, values: dict[str, Scalar]) -> Self:
        """A copy with these fields replaced."""
        return replace(self, **values)  # type: ignore[type-var]

    def bounds(self) -> dict[str, tuple[float, float]]:
        """The class's bounds of the fields that can be fitted."""
        return {name: self.BOUNDS[name] for name in self.parameters()}

    def _fields(self) -> dict[str, Scalar]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]


@dataclass(frozen=True)
class RBF(_Single):
    """Smooth functions that vary over a distance of about `lengthscale`."""

    lengthscale: Scalar = 1.0
    variance: Scalar = 1.0
    BOUNDS = {"lengthscale": (1e-2, 1e3), "variance": (1e-3, 1e3)}  # noqa: RUF012

    def of(self, pairs: Pairs) -> Tensor:
        """The covariance between two sets."""
        return _scaled((pairs.squared * (-0.5 / self.lengthscale**2)).exp_(), self.variance)

    def diag(self, A: Tensor) -> Tensor:
        """The variance, the same everywhere."""
        return self.variance * A.new_ones(A.shape[:-1])


@dataclass(frozen=True)
class Matern32(_Single):
    """Rougher functions: once differentiable."""

    lengthscale: Scalar = 1.0
    variance: Scalar = 1.0
    BOUNDS = {"lengthscale": (1e-2, 1e3), "variance": (1e-3, 1e3)}  # noqa: RUF012

    def of(self, pairs: Pairs) -> Tensor:
        """The covariance between two sets."""
        # Distances do not depend on the parameters, so the root's infinite slope at zero is never met.
        r = pairs.squared.sqrt() * (math.sqrt(3.0) / self.lengthscale)
        return _scaled(torch.exp(-r) * (1.0 + r), self.variance)

    def diag(self, A: Tensor) -> Tensor:
        """The variance, the same everywhere."""
        return self.variance * A.new_ones(A.shape[:-1])


@dataclass(frozen=True)
class Linear(_Single):
    """Linear functions; homogeneous (through the origin) while `offset` is 0."""

    offset: Scalar = 0.0
    variance: Scalar = 1.0
    BOUNDS = {"offset": (1e-6, 1e3), "variance": (1e-6, 1e3)}  # noqa: RUF012

    @property
    def stationary(self) -> bool:
        """It grows with the distance from the origin."""
        return False

    def of(self, pairs: Pairs) -> Tensor:
        """The covariance between two sets."""
        return self.offset + self.variance * pairs.dot

    def diag(self, A: Tensor) -> Tensor:
        """The variance, growing with the distance from the origin."""
        return self.offset + self.variance * A.square().sum(dim=-1)


@dataclass(frozen=True)
class White(_Single):
    """The noise that even a trusted label carries."""

    constant: Scalar = 0.01
    BOUNDS = {"constant": (1e-6, 1e2)}  # noqa: RUF012

    @property
    def noise(self) -> Scalar:
        """Its one parameter."""
        return self.constant

    def of(self, pairs: Pairs) -> Tensor:
        """Nothing: two samples never share their noise, even where they coincide."""
        return torch.zeros_like(pairs.squared)

    def diag(self, A: Tensor) -> Tensor:
        """The noise, the same everywhere."""
        return self.constant * A.new_ones(A.shape[:-1])


@dataclass(frozen=True)
class Sum(Kernel):
    """The sum of kernels: a function made of independent parts."""

    parts: tuple[Kernel, ...]

    @property
    def noise(self) -> Scalar:
        """All parts' noise together."""
        return sum((part.noise for part in self.parts), 0.0)

    @property
    def stationary(self) -> bool:
        """If all parts are."""
        return all(part.stationary for part in self.parts)

    def of(self, pairs: Pairs) -> Tensor:
        """The covariance between two sets."""
        signal = [part for part in self.parts if not isinstance(part, White)] or self.parts[:1]
        return functools.reduce(torch.add, (part.of(pairs) for part in signal))

    def diag(self, A: Tensor) -> Tensor:
        """All parts' variance together."""
        return torch.stack([part.diag(A) for part in self.parts]).sum(dim=0)

    def parameters(self) -> dict[str, float]:
        """The parts' parameters, each name led by its part's place."""
        return {f"{i}.{k}": v for i, part in enumerate(self.parts) for k, v in part.parameters().items()}

    def with_parameters(self, values: dict[str, Scalar]) -> Sum:
        """The same sum with other values in its parts."""
        return Sum(tuple(part.with_parameters(_of_part(values, i)) for i, part in enumerate(self.parts)))

    def bounds(self) -> dict[str, tuple[float, float]]:
        """The parts' bounds, named like their parameters."""
        return {f"{i}.{k}": v for i, part in enumerate(self.parts) for k, v in part.bounds().items()}


def as_spec(kernel: Kernel) -> dict[str, Any]:
    """A kernel as plain values, for JSON."""
    if isinstance(kernel, Sum):
        return {"kind": "Sum", "parts": [as_spec(part) for part in kernel.parts]}
    assert isinstance(kernel, _Single)
    return {"kind": type(kernel).__name__, **{name: _number(value) for name, value in kernel._fields().items()}}


def from_spec(spec: dict[str, Any]) -> Kernel:
    """The kernel that `as_spec` wrote down."""
    values = {name: value for name, value in spec.items() if name != "kind"}
    if spec["kind"] == "Sum":
        return Sum(tuple(from_spec(part) for part in values["parts"]))
    known: dict[str, type[Kernel]] = {kind.__name__: kind for kind in (RBF, Matern32, Linear, White)}
    if spec["kind"] not in known:
        raise UnknownName("kernel", str(spec["kind"]), known)
    return known[spec["kind"]](**values)


def _number(value: Scalar) -> float:
    return value.item() if isinstance(value, Tensor) else float(value)


def _parts(kernel: Kernel) -> tuple[Kernel, ...]:
    return kernel.parts if isinstance(kernel, Sum) else (kernel,)


def _of_part(values: dict[str, Scalar], i: int) -> dict[str, Scalar]:
    return {k.removeprefix(f"{i}."): v for k, v in values.items() if k.startswith(f"{i}.")}


def _scaled(K: Tensor, variance: Scalar) -> Tensor:
    if isinstance(variance, Tensor):  # its slope needs K as it is
        return variance * K
    return K if variance == 1.0 else K.mul_(variance)
