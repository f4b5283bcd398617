"""Dawid and Skene's model by loops over votes, straight from its definition."""

import numpy as np


def dawid_skene(votes, classes, rounds, pseudo, known=None):
    """Votes are triples (sample, annotator, class). Returns beliefs, prior and confusion after so many rounds."""
    samples = 1 + max(row for row, _, _ in votes)
    annotators = 1 + max(who for _, who, _ in votes)
    belief = np.zeros((samples, classes))
    for row, _, choice in votes:
        belief[row, choice] += 1.0
    belief /= belief.sum(axis=1, keepdims=True)
    for _ in range(rounds):
        for row, c in (known or {}).items():
            belief[row] = np.eye(classes)[c]
        prior, confusion = _maximise(votes, belief, annotators, pseudo)
        belief = np.array([_posterior(row, votes, prior, confusion) for row in range(samples)])
    for row, c in (known or {}).items():
        belief[row] = np.eye(classes)[c]
    return belief, *_maximise(votes, belief, annotators, pseudo)


def _maximise(votes, belief, annotators, pseudo):
    classes = belief.shape[1]
    prior = np.array([pseudo + sum(row[c] for row in belief) for c in range(classes)])
    confusion = np.full((annotators, classes, classes), pseudo)
    for row, who, choice in votes:
        for c in range(classes):
            confusion[who, c, choice] += belief[row, c]
    return prior / prior.sum(), confusion / confusion.sum(axis=2, keepdims=True)


def _posterior(row, votes, prior, confusion):
    joint = prior.copy()
    for voted, who, choice in votes:
        if voted == row:
            joint = joint * confusion[who, :, choice]
    return joint / joint.sum()
