"""Term-at-a-time scoring, compiled on first use.

A posting is worth `weight * gain[f] / (rise[f] + spread[d])`, where f is how often the term occurs in document d. All
arithmetic is single precision in the order of the query's terms: a document has the same bits whoever asks for it.

Documents are gone through in blocks that fit a processor's cache. Terms that may add most come first in each. Once k
documents of earlier blocks have scores that all the terms left together cannot reach, no other document can be among
the best k, and further postings of a block count for documents that it has met alone.

Indices are unsigned where postings are read: the compiler looks at no other for counting from the end.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Frequencies = npt.NDArray[np.uint16]
Floats = npt.NDArray[np.float32]
Keys = npt.NDArray[np.uint64]

BLOCK = 16_384  # documents; their totals and spreads take 128 KB
BUCKETS = 2048  # of scores
SAFE = np.float32(1.0001)  # times what terms may add, for rounding
MANY = 32  # hits in a bucket that are worth a proper sort
TINY = np.finfo(np.float32).tiny  # the least a match is worth: a document that was met never looks as if it was not


@njit(nogil=True, error_model="numpy")
def best_of_each(
    queries: tuple[Int64s, Int32s, Floats, Floats],
    postings: tuple[Int64s, Int32s, Frequencies],
    worth: tuple[Floats, Floats, Floats],
    room: tuple[Floats, Int32s, Floats, Keys],
    out: tuple[Int32s, Floats, Int64s],
) -> None:
    """The best documents of some queries, best first; of equal ones the first document.

    Args:
        queries: where each starts [Q + 1] in its terms, their weights, and the most that each may add to a score.
        postings: where each term starts, documents, frequencies.
        worth: gain and rise by frequency, spread by document [N].
        room: to work in: totals by document [N], all zero before and after; documents met [N + 1] and their scores
            [N + 1]; sort keys of the best [N].
        out: documents [Q, k], scores [Q, k] and how many [Q] there are.
    """
    starts, terms, weights, most = queries
    _, met, scores, keys = room
    documents, found, counts = out
    order = np.empty(BUCKETS, dtype=np.int64)
    for i in range(len(starts) - 1):
        start, end = starts[i], starts[i + 1]
        query = terms[start:end], weights[start:end], most[start:end]
        n, floor = _gather(query, postings, worth, room[:3], order, documents.shape[1])
        n = _keep_from(floor, met[:n], scores[:n])
        counts[i] = _sort_best(met[:n], scores[:n], floor, order, keys, documents[i], found[i])


@njit(nogil=True, error_model="numpy")
def score_each(
    queries: tuple[Int64s, Int32s, Floats],
    postings: tuple[Int64s, Int32s, Frequencies],
    worth: tuple[Floats, Floats, Floats],
    asked: tuple[Int64s, Int32s],
    out: Floats,
) -> None:
    """The scores of the documents asked about: where each query's start [Q + 1], and the documents [M]."""
    starts, terms, weights = queries
    offsets, items, frequencies = postings
    gain, rise, spread = worth
    first, documents = asked
    for i in range(len(starts) - 1):
        for place in range(first[i], first[i + 1]):
            document, total = documents[place], np.float32(0.0)
            for j in range(starts[i], starts[i + 1]):
                start, end = offsets[terms[j]], offsets[terms[j] + 1]
                at = start + np.searchsorted(items[start:end], document)
                if at < end and items[at] == document:
                    f = frequencies[at]
                    total += _worth(weights[j], gain[f], rise[f], spread[document])
            out[place] = total


@njit(nogil=True, error_model="numpy")
def squares_of_documents(
    postings: tuple[Int64s, Int32s, Frequencies], gain: Floats, weights: npt.NDArray[np.float64], documents: int
) -> npt.NDArray[np.float64]:
    """The sum over each document's terms of (gain * weight)^2, [N]."""
    offsets, items, frequencies = postings
    squares = np.zeros(documents, dtype=np.float64)
    for term in range(len(offsets) - 1):
        for place in range(offsets[term], offsets[term + 1]):
            squares[items[place]] += (weights[term] * gain[frequencies[place]]) ** 2
    return squares


@njit(nogil=True, error_model="numpy")
def _worth(weight: np.float32, gain: np.float32, rise: np.float32, spread: np.float32) -> np.float32:
    return max(weight * gain / (rise + spread), TINY)


@njit(nogil=True, error_model="numpy")
def largest_worths(
    postings: tuple[Int64s, Int32s, Frequencies], worth: tuple[Floats, Floats, Floats]
) -> npt.NDArray[np.float32]:
    """The most that a posting of each term is worth at a weight of 1, [T]."""
    offsets, items, frequencies = postings
    gain, rise, spread = worth
    largest = np.zeros(len(offsets) - 1, dtype=np.float32)
    for term in range(len(largest)):
        most = np.float32(0.0)
        for place in range(offsets[term], offsets[term + 1]):
            f = frequencies[place]
            most = max(most, _worth(np.float32(1.0), gain[f], rise[f], spread[items[place]]))
        largest[term] = most
    return largest


@njit(nogil=True, error_model="numpy")
def _gather(
    query: tuple[Int32s, Floats, Floats],
    postings: tuple[Int64s, Int32s, Frequencies],
    worth: tuple[Floats, Floats, Floats],
    room: tuple[Floats, Int32s, Floats],
    counts: Int64s,
    k: int,
) -> tuple[int, np.float32]:
    """Leave documents that may be among the best k, and their scores, in the room.

    Returns:
        How many they are, and a score that none of the best k is below.
    """
    totals, met, scores = room
    highest = SAFE * query[2].sum()
    scale = (BUCKETS - 1) / np.float64(highest) if 0 < highest < np.inf else 0.0
    places = postings[0][query[0]]
    counts[:] = 0
    n, lowest, above, floor = 0, 0, 0, np.float32(0.0)
    for first in range(0, len(totals), BLOCK):
        end = _accumulate(query, postings, worth, places, first + BLOCK, totals, met, n, floor)
        kept = _drain(totals, met, scores, n, end, lowest, scale, counts)
        n, above = n + kept, above + kept
        while scale > 0 and above - counts[lowest] >= k:
            above -= counts[lowest]
            lowest += 1
            floor = np.float32(lowest / scale)
    return n, floor


@njit(nogil=True, error_model="numpy")
def _accumulate(
    query: tuple[Int32s, Floats, Floats],
    postings: tuple[Int64s, Int32s, Frequencies],
    worth: tuple[Floats, Floats, Floats],
    places: Int64s,
    limit: int,
    totals: Floats,
    met: Int32s,
    n: int,
    floor: np.float32,
) -> int:
    """Add up what the postings below a limit are worth, from the `places` where the terms stand; these move on.

    Returns:
        How many documents were met by now that may reach the floor.
    """
    terms, weights, most = query
    offsets, items, _ = postings
    left = most.sum()
    for j in range(len(terms)):
        start = places[j]
        end = places[j] = _first_from(limit, items, start, offsets[terms[j] + 1])
        if floor > SAFE * left:
            _add_to_known(start, end, weights[j], postings, worth, totals)
        else:
            n = _add(start, end, weights[j], postings, worth, totals, met, n)
        left -= most[j]
    return n


@njit(nogil=True, error_model="numpy")
def _first_from(limit: int, items: Int32s, start: int, end: int) -> int:
    """Where the documents from a limit on begin; they ascend, and it is near the start as a rule."""
    if start == end or items[end - 1] < limit:
        return end
    step = 1
    while start + step < end and items[start + step] < limit:
        start += step
        step *= 2
    end = min(end, start + step)
    while start < end:
        middle = (start + end) // 2
        if items[middle] < limit:
            start = middle + 1
        else:
            end = middle
    return start


@njit(nogil=True, error_model="numpy")
def _add(
    start: int,
    end: int,
    weight: np.float32,
    postings: tuple[Int64s, Int32s, Frequencies],
    worth: tuple[Floats, Floats, Floats],
    totals: Floats,
    met: Int32s,
    n: int,
) -> int:
    """One term's postings; returns how many documents were met so far.

    Every document is written down as met, and kept if it is new: that takes no branch, which nothing could predict.
    """
    items, frequencies = postings[1].view(np.uint32), postings[2]
    gain, rise, spread = worth
    for place in range(np.uint64(start), np.uint64(end)):
        document, f = items[place], frequencies[place]
        before = totals[document]
        met[n] = document
        n += before == 0
        totals[document] = before + _worth(weight, gain[f], rise[f], spread[document])
    return n


@njit(nogil=True, error_model="numpy")
def _add_to_known(
    start: int,
    end: int,
    weight: np.float32,
    postings: tuple[Int64s, Int32s, Frequencies],
    worth: tuple[Floats, Floats, Floats],
    totals: Floats,
) -> None:
    """One term's postings of documents that were met before; most are not."""
    items, frequencies = postings[1].view(np.uint32), postings[2]
    gain, rise, spread = worth
    for place in range(np.uint64(start), np.uint64(end)):
        document = items[place]
        before = totals[document]
        if before != 0:
            f = frequencies[place]
            totals[document] = before + _worth(weight, gain[f], rise[f], spread[document])


@njit(nogil=True)
def _drain(
    totals: Floats, met: Int32s, scores: Floats, start: int, end: int, lowest: int, scale: float, counts: Int64s
) -> int:
    """Move the scores of a block's documents out of the totals, which are zero again, and count them in buckets.

    Returns:
        How many are kept: those in the lowest bucket that matters or above.
    """
    kept = start
    for i in range(start, end):
        document = met[i]
        score = totals[document]
        totals[document] = 0
        bucket = min(BUCKETS - 1, int(score * scale))
        if bucket >= lowest:
            met[kept], scores[kept] = document, score
            counts[bucket] += 1
            kept += 1
    return kept - start


@njit(nogil=True)
def _keep_from(floor: np.float32, met: Int32s, scores: Floats) -> int:
    """Move the documents that reach the floor to the front; returns how many they are."""
    kept = 0
    for i in range(len(met)):
        score = scores[i]
        met[kept], scores[kept] = met[i], score
        kept += score * SAFE >= floor
    return kept


@njit(nogil=True)
def _sort_best(
    met: Int32s, scores: Floats, floor: np.float32, order: Int64s, keys: Keys, documents: Int32s, found: Floats
) -> int:
    """The best k of the documents met, k being the room that there is; returns how many there are.

    Scores go into buckets from the floor up; only buckets that reach into the best k are looked at again. A key is the
    score's bits, turned round, and the document behind them: ascending keys are descending scores, ties by document.
    """
    scale = _scale_from(floor, scores)
    order[:] = 0
    for i in range(len(met)):
        order[_bucket(scores[i], floor, scale)] += 1
    lowest, n = BUCKETS, 0
    while lowest > 0 and n < len(documents):
        lowest -= 1
        order[lowest], n = n, n + order[lowest]
    bits = scores.view(np.uint32)
    for i in range(len(met)):
        bucket = _bucket(scores[i], floor, scale)
        if bucket >= lowest:
            keys[order[bucket]] = np.uint64(~bits[i]) << np.uint64(32) | np.uint64(met[i])
            order[bucket] += 1
    _sort_buckets(keys[:n], order, lowest)
    n = min(n, len(documents))
    found_bits = found.view(np.uint32)
    for i in range(n):
        documents[i] = np.int32(keys[i] & np.uint64(0xFFFFFFFF))
        found_bits[i] = ~np.uint32(keys[i] >> np.uint64(32))
    return n


@njit(nogil=True)
def _scale_from(floor: np.float32, scores: Floats) -> float:
    """What a score above the floor is multiplied with to give its bucket."""
    best = floor
    for i in range(len(scores)):
        best = max(best, scores[i])
    return (BUCKETS - 1) / max(np.float64(best - floor), np.float64(TINY))


@njit(nogil=True)
def _bucket(score: np.float32, floor: np.float32, scale: float) -> int:
    return int(max(score - floor, np.float32(0.0)) * scale)


@njit(nogil=True)
def _sort_buckets(keys: Keys, ends: Int64s, lowest: int) -> None:
    """Sort keys that are in their buckets already, the highest first; `ends` says where each ends."""
    start = 0
    for bucket in range(BUCKETS - 1, lowest - 1, -1):
        if ends[bucket] - start > MANY and not _ascends(keys[start : ends[bucket]]):
            _heap_sort(keys[start : ends[bucket]])
        start = ends[bucket]
    for i in range(1, len(keys)):  # what is left is few keys from its place
        key, place = keys[i], i
        while place > 0 and keys[place - 1] > key:
            keys[place] = keys[place - 1]
            place -= 1
        keys[place] = key


@njit(nogil=True)
def _ascends(keys: Keys) -> bool:
    """Whether they are sorted, as equal scores often are: a block meets a term's documents in their order."""
    i = 1
    while i < len(keys) and keys[i - 1] < keys[i]:
        i += 1
    return i >= len(keys)


@njit(nogil=True)
def _heap_sort(keys: Keys) -> None:
    """Never quadratic, however many scores are equal; numpy's own, compiled, is no faster to wait for."""
    for root in range(len(keys) // 2 - 1, -1, -1):
        _sift_down(keys, root)
    for end in range(len(keys) - 1, 0, -1):
        keys[0], keys[end] = keys[end], keys[0]
        _sift_down(keys[:end], 0)


@njit(nogil=True)
def _sift_down(heap: Keys, root: int) -> None:
    """Move a key down a heap until nothing below is larger."""
    key, child = heap[root], 2 * root + 1
    while child < len(heap):
        if child + 1 < len(heap) and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= key:
            break
        heap[root] = heap[child]
        root, child = child, 2 * child + 1
    heap[root] = key
