"""Loops that turn documents into lists of postings, compiled on first use."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Frequencies = npt.NDArray[np.uint16]
MOST = 65535  # occurrences in one document that are told apart


@njit(nogil=True)
def count_documents(tokens: Int32s, lengths: Int32s, terms: int) -> Int64s:
    """How many documents hold each term; the tokens [T] of all documents end to end."""
    counts, last = np.zeros(terms, dtype=np.int64), np.full(terms, -1, dtype=np.int32)
    at = 0
    for document in range(len(lengths)):
        for place in range(at, at + lengths[document]):
            term = tokens[place]
            if last[term] != document:
                last[term] = document
                counts[term] += 1
        at += lengths[document]
    return counts


@njit(nogil=True)
def fill_postings(
    tokens: Int32s, lengths: Int32s, first: int, offsets: Int64s, items: Int32s, frequencies: Frequencies
) -> None:
    """Each term's documents, numbered from `first`, in their order, and how often it occurs in them.

    No sorting: documents come in order, so a term's next posting is either the one just written or the next place.
    """
    free = offsets[:-1].copy()
    at = 0
    for i in range(len(lengths)):
        document = np.int32(first + i)
        for place in range(at, at + lengths[i]):
            term = tokens[place]
            last = free[term] - 1
            if last >= offsets[term] and items[last] == document:
                if frequencies[last] < MOST:
                    frequencies[last] += 1
            else:
                items[last + 1], frequencies[last + 1] = document, 1
                free[term] = last + 2
        at += lengths[i]


@njit(nogil=True)
def append_postings(
    offsets: Int64s, items: Int32s, frequencies: Frequencies, free: Int64s, out: Int32s, out_frequencies: Frequencies
) -> None:
    """The postings of one run behind those that each term has already; `free` is each term's next place."""
    for term in range(len(offsets) - 1):
        at = free[term]
        for place in range(offsets[term] - offsets[0], offsets[term + 1] - offsets[0]):
            out[at], out_frequencies[at] = items[place], frequencies[place]
            at += 1
        free[term] = at


@njit(nogil=True)
def transpose(
    offsets: Int64s, items: Int32s, frequencies: Frequencies, free: Int64s, out: Int32s, out_frequencies: Frequencies
) -> None:
    """For each item the lists that it stands in, in their order; `free` is each item's next place."""
    for number in range(len(offsets) - 1):
        for place in range(offsets[number], offsets[number + 1]):
            at = free[items[place]]
            out[at], out_frequencies[at] = number, frequencies[place]
            free[items[place]] = at + 1
