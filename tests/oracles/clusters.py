"""Algorithm 2 by loops: the nearest centroid of each sample, then the textbook's process, cluster after cluster."""

import numpy as np

from fwl.teach import Kernel
from tests.oracles import gaussian_process


def nearest(Z: np.ndarray, centroids: np.ndarray) -> np.ndarray:
    """The nearest centroid of each sample, [N]."""
    return np.array([min(range(len(centroids)), key=lambda c: ((z - centroids[c]) ** 2).sum()) for z in Z])


def posterior(
    kernel: Kernel, Z: np.ndarray, y: np.ndarray, cluster: np.ndarray, new: np.ndarray, its_cluster: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Mean [M, C] and variance [M] at new samples, each by the strong samples of its own cluster."""
    mean, variance = np.empty((len(new), y.shape[1])), np.empty(len(new))
    for k in np.unique(its_cluster):
        here, asked = cluster == k, its_cluster == k
        mean[asked], variance[asked] = gaussian_process.posterior(kernel, Z[here], y[here], new[asked])
    return mean, variance


def log_evidence(kernel: Kernel, Z: np.ndarray, y: np.ndarray, cluster: np.ndarray) -> float:
    """The sum over clusters."""
    return sum(gaussian_process.log_evidence(kernel, Z[cluster == k], y[cluster == k]) for k in np.unique(cluster))


def leave_one_out(kernel: Kernel, Z: np.ndarray, y: np.ndarray, cluster: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean [N, C] and variance [N] at each sample by the others of its cluster."""
    mean, variance = np.empty(y.shape), np.empty(len(y))
    for k in np.unique(cluster):
        here = cluster == k
        mean[here], variance[here] = gaussian_process.leave_one_out(kernel, Z[here], y[here])
    return mean, variance


def weights(z: np.ndarray, centroids: np.ndarray) -> dict[int, float]:
    """How far each of the two nearest cells is heard at z [D]: its squared distance's head start over the third's."""
    squared = [float(((z - c) ** 2).sum()) for c in centroids]
    first, second, *rest = sorted(range(len(centroids)), key=squared.__getitem__)
    third = squared[first] + float(((centroids[first] - centroids[second]) ** 2).sum())
    if rest:
        third = min(third, squared[rest[0]])
    lead = {cell: max(third - squared[cell], 0.0) for cell in (first, second)}
    total = sum(lead.values())
    return {cell: value / total if total > 0 else 0.5 for cell, value in lead.items()}
