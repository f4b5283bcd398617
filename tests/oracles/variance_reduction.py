"""Which sample to label next, by trying each: add it, solve the process anew, and see how much variance is left."""

import numpy as np


def signal_variance(kernel_function, noise, Z, A):
    """The variance of the function at A given labels at Z, by the textbook's formula with a plain inverse."""
    K = kernel_function(Z, Z) + noise * np.eye(len(Z))
    cross = kernel_function(A, Z)
    return np.array(
        [kernel_function(a[None], a[None])[0, 0] - c @ np.linalg.inv(K) @ c for a, c in zip(A, cross, strict=True)]
    )


def greedy_by_trying(kernel_function, noise, Z, candidates, references, weight, n):
    """The places of the picked candidates, and the share of the variance at first that each removed."""
    total = weight @ signal_variance(kernel_function, noise, Z, references)
    left, picked, gains = total, [], []
    for _ in range(n):
        sums = [
            weight @ signal_variance(kernel_function, noise, np.concatenate([Z, candidate[None]]), references)
            if i not in picked
            else np.inf
            for i, candidate in enumerate(candidates)
        ]
        best = int(np.argmin(sums))
        gains.append((left - sums[best]) / total)
        left = sums[best]
        picked.append(best)
        Z = np.concatenate([Z, candidates[best][None]])
    return picked, gains
