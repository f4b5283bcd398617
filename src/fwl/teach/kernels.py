"""The kernels of the paper's appendix, composable by `+`.

    RBF       variance * exp(-|a - b|^2 / (2 l^2))      the paper prints it without its minus sign (DECISIONS.md, D10)
    Matern32  variance * (1 + r) exp(-r),  r = sqrt(3) |a - b| / l
    Linear    offset + variance * a.b                   offset is the paper's sigma_0^2, 0 by default
    White     constant where a sample meets itself, 0 between any two samples

All take torch tensors in double precision with samples in the last but one dimension, so that leading dimensions batch.
A parameter is a float, or a tensor while its value is being fitted. The defaults are the paper's: l = 1, variance 1.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from typing import ClassVar, Self, final

import torch
from torch import Tensor

from fwl.errors import InvalidInput

Scalar = float | Tensor


class Kernel(ABC):
    """A covariance function."""

    BOUNDS: ClassVar[dict[str, tuple[float, float]]] = {}

    @abstractmethod
    def __call__(self, A: Tensor, B: Tensor) -> Tensor:
        """The covariance between two sets of different samples: [..., N, D], [..., M, D] -> [..., N, M]."""

    @abstractmethod
    def diag(self, A: Tensor) -> Tensor:
        """The variance of each sample, noise included: [..., N, D] -> [..., N]."""

    @property
    @abstractmethod
    def noise(self) -> Scalar:
        """The part of the variance that belongs to the label and not to the function."""

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

    def __call__(self, A: Tensor, B: Tensor) -> Tensor:
        """The covariance between two sets."""
        return self.variance * torch.exp(-0.5 * _squared_distance(A / self.lengthscale, B / self.lengthscale))

    def diag(self, A: Tensor) -> Tensor:
        """The variance, the same everywhere."""
        return self.variance * A.new_ones(A.shape[:-1])


@dataclass(frozen=True)
class Matern32(_Single):
    """Rougher functions: once differentiable."""

    lengthscale: Scalar = 1.0
    variance: Scalar = 1.0
    BOUNDS = {"lengthscale": (1e-2, 1e3), "variance": (1e-3, 1e3)}  # noqa: RUF012

    def __call__(self, A: Tensor, B: Tensor) -> Tensor:
        """The covariance between two sets."""
        squared = _squared_distance(A / self.lengthscale, B / self.lengthscale)
        # The root's slope is infinite at zero; the floor keeps gradients finite where samples coincide.
        r = torch.sqrt(3.0 * squared.clamp_min(1e-24))
        return self.variance * (1.0 + r) * torch.exp(-r)

    def diag(self, A: Tensor) -> Tensor:
        """The variance, the same everywhere."""
        return self.variance * A.new_ones(A.shape[:-1])


@dataclass(frozen=True)
class Linear(_Single):
    """Linear functions; homogeneous (through the origin) while `offset` is 0."""

    offset: Scalar = 0.0
    variance: Scalar = 1.0
    BOUNDS = {"offset": (1e-6, 1e3), "variance": (1e-6, 1e3)}  # noqa: RUF012

    def __call__(self, A: Tensor, B: Tensor) -> Tensor:
        """The covariance between two sets."""
        return self.offset + self.variance * (A @ B.mT)

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

    def __call__(self, A: Tensor, B: Tensor) -> Tensor:
        """Nothing: two samples never share their noise, even where they coincide."""
        return A.new_zeros((*A.shape[:-1], B.shape[-2]))

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

    def __call__(self, A: Tensor, B: Tensor) -> Tensor:
        """The covariance between two sets."""
        return torch.stack([part(A, B) for part in self.parts]).sum(dim=0)

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


def _number(value: Scalar) -> float:
    return value.item() if isinstance(value, Tensor) else float(value)


def _parts(kernel: Kernel) -> tuple[Kernel, ...]:
    return kernel.parts if isinstance(kernel, Sum) else (kernel,)


def _of_part(values: dict[str, Scalar], i: int) -> dict[str, Scalar]:
    return {k.removeprefix(f"{i}."): v for k, v in values.items() if k.startswith(f"{i}.")}


def _squared_distance(A: Tensor, B: Tensor) -> Tensor:
    # |a|^2 + |b|^2 - 2 a.b, with both sets moved to A's mean first: far from the origin the difference would drown.
    centre = A.mean(dim=-2, keepdim=True)
    A, B = A - centre, B - centre
    squared = A.square().sum(-1)[..., :, None] + B.square().sum(-1)[..., None, :] - 2.0 * (A @ B.mT)
    return squared.clamp_min(0.0)
