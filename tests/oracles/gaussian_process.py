"""A Gaussian process as the textbook defines it: loops for kernels, an explicit inverse, refitting to leave one out."""

import math

import numpy as np

from fwl.teach import RBF, Kernel, Linear, Matern32, Sum, White


def covariance(kernel: Kernel, a: np.ndarray, b: np.ndarray) -> float:
    """k(a, b) of two different samples: no noise is shared."""
    distance = math.sqrt(sum((i - j) ** 2 for i, j in zip(a, b, strict=True)))
    match kernel:
        case RBF(lengthscale=scale, variance=variance):
            return variance * math.exp(-(distance**2) / (2 * scale**2))
        case Matern32(lengthscale=scale, variance=variance):
            r = math.sqrt(3) * distance / scale
            return variance * (1 + r) * math.exp(-r)
        case Linear(offset=offset, variance=variance):
            return offset + variance * sum(i * j for i, j in zip(a, b, strict=True))
        case White():
            return 0.0
        case Sum(parts=parts):
            return sum(covariance(part, a, b) for part in parts)
    raise NotImplementedError(kernel)


def noise(kernel: Kernel) -> float:
    """The variance that a label adds to the function's."""
    match kernel:
        case White(constant=constant):
            return constant
        case Sum(parts=parts):
            return sum(noise(part) for part in parts)
    return 0.0


def matrix(kernel: Kernel, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """[N, D], [M, D] -> [N, M], one pair at a time."""
    return np.array([[covariance(kernel, a, b) for b in B] for a in A]).reshape(len(A), len(B))


def gram(kernel: Kernel, A: np.ndarray) -> np.ndarray:
    """[N, D] -> [N, N], noise where a sample meets itself."""
    return matrix(kernel, A, A) + noise(kernel) * np.eye(len(A))


def posterior(kernel: Kernel, Z: np.ndarray, y: np.ndarray, new: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean [M, C] and variance of the label [M] at new [M, D], from y [N, C] at Z [N, D]."""
    K_inverse, k = np.linalg.inv(gram(kernel, Z)), matrix(kernel, new, Z)
    prior = np.array([covariance(kernel, z, z) for z in new]) + noise(kernel)
    return k @ K_inverse @ y, prior - np.diag(k @ K_inverse @ k.T)


def log_evidence(kernel: Kernel, Z: np.ndarray, y: np.ndarray) -> float:
    """log N(y | 0, K), summed over the columns of y [N, C]."""
    K, (N, C) = gram(kernel, Z), y.shape
    quadratic = np.trace(y.T @ np.linalg.inv(K) @ y)
    return -0.5 * float(quadratic + C * np.linalg.slogdet(K)[1] + N * C * math.log(2 * math.pi))


def leave_one_out(kernel: Kernel, Z: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean [N, C] and variance [N] at each sample by the process that never saw it."""
    others = [np.delete(np.arange(len(Z)), i) for i in range(len(Z))]
    answers = [posterior(kernel, Z[keep], y[keep], Z[[i]]) for i, keep in enumerate(others)]
    return np.concatenate([mean for mean, _ in answers]), np.concatenate([variance for _, variance in answers])
