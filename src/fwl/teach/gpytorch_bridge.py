"""The way to GPyTorch: its import, our kernels in its terms, its settings, and the ascent of its bounds.

GPyTorch is an extra (`fwl[gp]`), so it is imported where it is needed and nowhere else.
"""

from __future__ import annotations

import math
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.nn import Parameter

from fwl.errors import InvalidInput, NumericalTrouble
from fwl.randomness import Chance
from fwl.teach.kernels import RBF, Kernel, Linear, Matern32, Scalar, Sum, White
from fwl.threads import one_thread

# Of the mean variance, added to the diagonal of a matrix that is not positive definite; then ten times that, to 1e-4.
FIRST_JITTER, JITTERS = 1e-12, 9
_TURNS = threading.RLock()  # its settings, torch's generator and the filter of warnings belong to all threads together
REMEDY = "try a smaller learning_rate, or look for huge values among the inputs"

Translated = tuple[Any, dict[str, Parameter]]


def require_gpytorch() -> Any:
    """The module, or a refusal that says how to get it."""
    with warnings.catch_warnings():
        # Its own business: it compiles some functions on import, in a way that torch has deprecated.
        warnings.filterwarnings("ignore", "`torch.jit.script` is deprecated", DeprecationWarning)
        try:
            import gpytorch
        except ImportError as error:
            raise InvalidInput("this teacher needs GPyTorch; install it with: pip install 'fwl[gp]'") from error
    return gpytorch


def exponential() -> Any:
    """The constraint of a positive parameter that is held as its logarithm, so that steps are factors."""
    return require_gpytorch().constraints.Positive(transform=torch.exp, inv_transform=torch.log)


class Translation:
    """A kernel in GPyTorch's terms.

    Args:
        kernel: RBF, Matern32, Linear, White, or sums of those.
        raw_noise: the likelihood's parameter that holds the logarithm of the noise; it is set to the kernel's.
        learn: whether the parameters are to be fitted.

    Attributes:
        covariance: GPyTorch's kernel for all parts but the noise.
    """

    def __init__(self, kernel: Kernel, raw_noise: Parameter, learn: bool) -> None:
        parts = list(_translated(kernel))
        if not parts:
            raise InvalidInput("a kernel of noise alone has no function to learn; add another, e.g. RBF() + White()")
        self.covariance = require_gpytorch().kernels.AdditiveKernel(*(module for module, _ in parts))
        self._kernel, self._learn, self._raw_noise = kernel, learn, raw_noise
        self._raw = {name: raw for _, named in parts for name, raw in named.items()}
        self._start()

    @property
    def learned(self) -> list[Parameter]:
        """What is to be fitted: logarithms."""
        return [raw for raw in (*self._raw.values(), self._raw_noise) if raw.requires_grad]

    def confine(self) -> None:
        """Bring what is being fitted back into the kernel's bounds."""
        bounds = self._kernel.bounds()
        confined = [(raw, bounds[name]) for name, raw in self._raw.items()]
        with torch.no_grad():
            for raw, (low, high) in [*confined, (self._raw_noise, White.BOUNDS["constant"])]:
                if raw.requires_grad:
                    raw.clamp_(math.log(low), math.log(high))

    def fitted(self) -> Kernel:
        """Our kernel, with the values that GPyTorch's has now."""
        if not self._learn:
            return self._kernel
        values: dict[str, Scalar] = {name: math.exp(raw.item()) for name, raw in self._raw.items()}
        return self._kernel.with_parameters({**values, **self._fitted_whites()})

    def _start(self) -> None:
        values, noise = self._kernel.parameters(), float(self._kernel.noise)
        for name, raw in self._raw.items():
            raw.data.fill_(math.log(values[name]))
            raw.requires_grad_(self._learn)
        self._raw_noise.data.fill_(math.log(noise) if noise else -math.inf)
        self._raw_noise.requires_grad_(self._learn and noise > 0)  # a zero stays zero, as it does in every kernel

    def _fitted_whites(self) -> dict[str, float]:
        # The likelihood knows the noise of all White parts together; each keeps its share.
        whites = {name: v for name, v in self._kernel.parameters().items() if name.split(".")[-1] == "constant"}
        return {name: v * math.exp(self._raw_noise.item()) / sum(whites.values()) for name, v in whites.items()}


@contextmanager
def careful(variance: float, chance: Chance) -> Iterator[None]:
    """GPyTorch on one thread, drawing from `chance` alone, with a jitter relative to `variance`, and no chatter."""
    gpytorch, utils = require_gpytorch(), _linear_operator_utils()
    with ExitStack() as stack:
        stack.enter_context(_TURNS)
        stack.enter_context(one_thread())
        stack.enter_context(torch.random.fork_rng(devices=[]))
        stack.enter_context(gpytorch.settings.cholesky_jitter(double_value=FIRST_JITTER * variance))
        stack.enter_context(gpytorch.settings.cholesky_max_tries(JITTERS))
        stack.enter_context(warnings.catch_warnings())
        # It warns of every jitter, and inducing points that come close to each other need one.
        warnings.simplefilter("ignore", utils.warnings.NumericalWarning)
        torch.default_generator.manual_seed(chance.integer())
        try:
            yield
        except (utils.errors.NotPSDError, utils.errors.NanError) as error:
            raise NumericalTrouble(
                f"the inducing points' kernel matrix cannot be factored ({error}); {REMEDY}"
            ) from error


def climb(bound: Callable[[], Tensor], groups: list[dict[str, Any]], steps: int, confine: Callable[[], None]) -> None:
    """Raise a bound by Adam, with steps that shrink to nothing so that it ends at rest.

    Args:
        bound: what is raised, a scalar; it may differ from step to step.
        groups: parameters with their learning rates, as torch's optimisers take them.
        steps: how many.
        confine: called after each step to bring the parameters back to where they may be.
    """
    optimiser = torch.optim.Adam(groups)
    annealing = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    for step in range(steps):
        optimiser.zero_grad()
        value = bound()
        if not torch.isfinite(value):
            raise NumericalTrouble(f"the bound is {value.item()} after {step} steps; {REMEDY}")
        (-value).backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        annealing.step()
        confine()


def _translated(kernel: Kernel, place: str = "") -> Iterator[Translated]:
    """Each part but the noise, with its parameters' logarithms, named as in `Kernel.parameters`."""
    match kernel:
        case Sum(parts=parts):
            for i, part in enumerate(parts):
                yield from _translated(part, f"{place}{i}.")
        case RBF() | Matern32():
            yield from _stationary(kernel, place)
        case Linear():
            yield from _linear(kernel, place)
        case White():
            return
        case _:
            raise InvalidInput(
                f"{type(kernel).__name__} has no counterpart in GPyTorch; "
                "use RBF, Matern32, Linear, White and their sums, or ExactGP"
            )


def _stationary(kernel: RBF | Matern32, place: str) -> Iterator[Translated]:
    k, shared = require_gpytorch().kernels, {"lengthscale_constraint": exponential()}
    if "variance" in kernel.parameters():  # a zero switches it off
        shape = k.RBFKernel(**shared) if isinstance(kernel, RBF) else k.MaternKernel(nu=1.5, **shared)
        scaled = k.ScaleKernel(shape, outputscale_constraint=exponential()).double()
        yield scaled, {f"{place}lengthscale": shape.raw_lengthscale, f"{place}variance": scaled.raw_outputscale}


def _linear(kernel: Linear, place: str) -> Iterator[Translated]:
    k = require_gpytorch().kernels
    if "offset" in kernel.parameters():
        constant = k.ConstantKernel(constant_constraint=exponential()).double()
        yield constant, {f"{place}offset": constant.raw_constant}
    if "variance" in kernel.parameters():
        linear = k.LinearKernel(variance_constraint=exponential()).double()
        yield linear, {f"{place}variance": linear.raw_variance}


def _linear_operator_utils() -> Any:
    from linear_operator import utils

    return utils
