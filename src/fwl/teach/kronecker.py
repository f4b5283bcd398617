"""A Gaussian process whose covariance is a Kronecker product: solved side by side, never as the product itself.

R [Q, N] ~ GP(0, K_q x K_d) + noise. With K_q = V diag(mu) V^T and K_d = U diag(lambda) U^T, the covariance of
V^T R U is diagonal: mu_i lambda_j + noise. One decomposition of each side serves every noise; in the basis U, each
column is a small process over the rows alone with the covariance lambda_j K_q + noise, and leaving a row out is the
textbook's leave-one-out of that.

Where K_d has too many rows to be decomposed, U holds only the directions that its landmarks span (Nyström): K_d is
exact between any row and a landmark, and too small between others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import hardshrink

from fwl.errors import InvalidInput
from fwl.randomness import Chance
from fwl.records import Array
from fwl.teach.cosines import Rows, Seen, covariance, gram, pieces

AT_ONCE = 2048  # rows of a low-rank basis worked on in double precision at a time
SAMPLED = 256  # rows on which the error of a low rank is taken
NEGLIGIBLE = 1e-7  # eigenvalues, relative to the largest, that carry nothing but rounding
NOTHING = 1e-15  # entries of unit vectors that are 0: products with the squares of such take a hundred times as long


@dataclass(frozen=True, eq=False)
class Basis:
    """A covariance matrix K [n, n] as vectors diag(values) vectors^T.

    Attributes:
        values: eigenvalues, [r], double precision.
        vectors: orthonormal columns, [n, r]: in double precision if all there are, else in single.
        error: the Frobenius norm of what is missing of K, relative to K's, on a sample of the rows.
        missing: the share of the residuals' squares at rows that the basis cannot reach: 1 less a row's own variance
            in it, averaged with the residuals' squares as weights.
    """

    values: Tensor
    vectors: Tensor
    error: float = 0.0
    missing: float = 0.0


@dataclass(frozen=True, eq=False)
class Conditioned:
    """The process after it has seen residuals R [Q, N], in the bases of its two sides.

    Attributes:
        rows: V and mu, of the queries.
        columns: U and lambda, of the documents.
        projected: R U, [Q, r].
        squares: the sum of the squares of R.
        noise: the variance of each entry of R around the function.
    """

    rows: Basis
    columns: Basis
    projected: Tensor
    squares: float
    noise: float

    @cached_property
    def precision(self) -> Tensor:
        """1 / (mu_i lambda_j + noise), [Q, r]."""
        return 1.0 / (self.rows.values[:, None] * self.columns.values + self.noise)

    @cached_property
    def weights(self) -> Tensor:
        """Alpha U = V ((V^T R U) / (mu lambda + noise)), [Q, r]."""
        return self.rows.vectors @ ((self.rows.vectors.mT @ self.projected) * self.precision)

    def mean(self, cross: Tensor) -> Tensor:
        """The function at new rows with covariances `cross` [M, Q], in the basis U, [M, r]."""
        return (cross @ self.weights) * self.columns.values

    def explained(self, cross: Tensor) -> Tensor:
        """What the residuals took off the variance lambda_j of each coefficient at new rows, [M, r]."""
        squares = (cross @ self.rows.vectors).square()
        return (self.columns.values.square() * (squares @ self.precision)).clamp_max(self.columns.values)

    def left_out_mean(self) -> Tensor:
        """The function at each row by the process that never saw its residuals, in the basis U, [Q, r]."""
        return self.projected - self.weights / self._inverse_diagonal()

    def left_out_explained(self) -> Tensor:
        """As `explained`, at each row by the process that never saw its residuals, [Q, r]."""
        values = self.columns.values
        # The left-out variance of a coefficient, noise included, is 1 over its entry in the inverse's diagonal.
        explained = values + self.noise - 1.0 / self._inverse_diagonal()
        return torch.minimum(explained.clamp_min(0.0), values)

    def log_evidence(self) -> float:
        """The log density of R under N(0, K_q x K_d + noise)."""
        (Q, r), N = self.projected.shape, len(self.columns.vectors)
        precision = self.precision
        quadratic = ((self.rows.vectors.mT @ self.projected).square() * precision).sum()
        log_determinant = -precision.log().sum()
        if r < N:  # across the basis there is nothing but noise
            across = max(0.0, self.squares - float(self.projected.square().sum()))
            quadratic = quadratic + across / self.noise
            log_determinant = log_determinant + Q * (N - r) * math.log(self.noise)
        return -0.5 * float(quadratic + log_determinant + Q * N * math.log(2 * math.pi))

    def _inverse_diagonal(self) -> Tensor:
        """The diagonal of (lambda_j K_q + noise)^-1 for every j, [Q, r]."""
        return self.rows.vectors.square() @ self.precision


def decomposed(seen: Seen, lengthscale: float) -> Basis:
    """The covariance of some rows in all its directions."""
    values, vectors = torch.linalg.eigh(gram(seen, lengthscale))
    _check_not_negative(values, seen.name)
    # Row by row, as files keep them: in another layout, products differ in their last bits.
    return Basis(values.clamp_min_(0.0), hardshrink(vectors, NOTHING).contiguous())


def approximated(seen: Seen, lengthscale: float, landmarks: int, weights: Array, chance: Chance) -> Basis:
    """The covariance of many rows in the directions that some landmarks among them span.

    What residuals at a landmark say of other rows is exact; so landmarks are drawn where residuals are large.

    Args:
        seen: the rows.
        lengthscale: of the covariance.
        landmarks: how many.
        weights: the sum of squared residuals of each row, [n].
        chance: where landmarks are drawn from.
    """
    chosen = _drawn(weights, landmarks, chance.child("landmarks"))
    features = _features(seen, lengthscale, chosen)
    products = torch.zeros(features.shape[1], features.shape[1], dtype=torch.float64)
    for rows in pieces(len(seen), AT_ONCE):
        products.addmm_(features[rows].double().mT, features[rows].double())
    values, turn = _turned(products, seen.name)
    vectors = torch.empty(len(seen), len(values), dtype=torch.float32)
    for rows in pieces(len(seen), AT_ONCE):
        vectors[rows] = hardshrink(features[rows] @ turn.float(), NOTHING)
    error = _relative_error(seen, lengthscale, features, chance.child("sampled rows"))
    return Basis(values, vectors, error, _out_of_reach(features, weights))


def _features(seen: Seen, lengthscale: float, landmarks: Rows) -> Tensor:
    """Phi [n, r] with Phi Phi^T = K between every row and every landmark."""
    _, whitening = _turned(covariance(seen.among(landmarks, landmarks), lengthscale), seen.name)
    everyone = np.arange(len(seen))
    features = torch.empty(len(seen), whitening.shape[1], dtype=torch.float32)
    for rows in pieces(len(seen), AT_ONCE):
        features[rows] = (covariance(seen.among(everyone[rows], landmarks), lengthscale) @ whitening).float()
    return features


def _turned(K: Tensor, name: str) -> tuple[Tensor, Tensor]:
    """The eigenvalues of K that are any, and its eigenvectors over their roots."""
    values, directions = torch.linalg.eigh(K)
    _check_not_negative(values, name)
    kept = values > NEGLIGIBLE * values[-1]
    return values[kept], directions[:, kept] / values[kept].sqrt()


def _check_not_negative(values: Tensor, name: str) -> None:
    least, most = float(values[0]), float(values[-1])
    if least < -1e-6 * most:
        raise InvalidInput(
            f"{name}: these cosines are not those of any vectors (their covariance has an eigenvalue of {least:.3g}); "
            f"cosines of vectors, and averages of such, are fine"
        )


def _out_of_reach(features: Tensor, weights: Array) -> float:
    own = features.square().sum(dim=1).double().clamp_max(1.0).numpy()
    return float((1.0 - own) @ weights / weights.sum()) if weights.any() else 0.0


def _drawn(weights: Array, landmarks: int, chance: Chance) -> Rows:
    """So many different rows, by their weights; those without any only when no others are left."""
    least = 1e-9 * weights.mean() if weights.any() else 1.0
    shares = weights + least
    return np.sort(chance.numpy().choice(len(weights), landmarks, replace=False, p=shares / shares.sum()))


def _relative_error(seen: Seen, lengthscale: float, features: Tensor, chance: Chance) -> float:
    everyone = np.arange(len(seen))
    sampled = np.sort(chance.numpy().permutation(len(seen))[:SAMPLED])
    K = covariance(seen.among(sampled, everyone), lengthscale)
    return float((K - features[torch.from_numpy(sampled)] @ features.mT).norm() / K.norm())
