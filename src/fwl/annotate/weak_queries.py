"""Weak queries: those of many that find enough documents, with what an annotator finds for them.

`fwl.text.query_log` reads them from a log, `fwl.text.made_queries` makes them of documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from fwl.annotate.ranking import Hits, Ranking
from fwl.errors import InvalidInput
from fwl.text.analyser import Analyser
from fwl.text.query_log import clean_query

AT_ONCE = 1024  # queries asked between two looks at whether there are enough


@dataclass(frozen=True, eq=False)
class WeakQueries:
    """Queries that find enough, and what they find.

    Attributes:
        texts: each once, cleaned.
        tokens: the terms of each.
        hits: what the annotator found for each, best first.
        empty: how many were left out because they are addresses or hold no term.
        repeated: how many because one of the same terms came before.
        scarce: how many because they find too little.
    """

    texts: tuple[str, ...]
    tokens: tuple[list[str], ...]
    hits: tuple[Hits, ...]
    empty: int = 0
    repeated: int = 0
    scarce: int = 0

    def __len__(self) -> int:
        return len(self.texts)

    def __str__(self) -> str:
        asked = len(self) + self.empty + self.repeated + self.scarce
        return (
            f"{len(self)} of {asked} weak queries kept; {self.empty} hold no term or an address, "
            f"{self.repeated} came before, {self.scarce} find too little"
        )


def kept_queries(
    texts: Iterable[str],
    analyser: Analyser,
    annotator: Ranking,
    *,
    at_least: int = 10,
    most: int | None = None,
    hits: int = 1000,
    workers: int = -1,
) -> WeakQueries:
    """The queries that find enough, each once, with what they find.

    Args:
        texts: in the order in which they are tried.
        analyser: that of the annotator's index.
        annotator: whom to ask.
        at_least: hits that a query needs.
        most: queries to keep; None for all. The rest is not looked at.
        hits: the most that are kept of a query.
        workers: threads; -1 for one per core. The numbers do not depend on it.
    """
    _check_numbers(at_least, most, hits)
    sieve = _Sieve(analyser)
    different, kept, scarce = sieve.different(texts), list[tuple[str, list[str], Hits]](), 0
    while (most is None or len(kept) < most) and (some := list(islice(different, AT_ONCE))):
        found = annotator.search([tokens for _, tokens in some], hits, workers)
        enough = [(*query, its) for query, its in zip(some, found, strict=True) if len(its.documents) >= at_least]
        scarce += len(some) - len(enough)
        kept += enough
    if not kept:
        raise InvalidInput(
            f"weak queries: none of {sieve.seen} finds {at_least} of {len(annotator.index.lengths)} documents; "
            "give others, or ask for fewer hits"
        )
    kept = kept[:most]
    columns = (
        tuple(text for text, _, _ in kept),
        tuple(tokens for _, tokens, _ in kept),
        tuple(its_hits for *_, its_hits in kept),
    )
    return WeakQueries(*columns, sieve.empty, sieve.repeated, scarce)


class _Sieve:
    """Queries with their terms, those without any and those of the same terms as another left out and counted."""

    def __init__(self, analyser: Analyser) -> None:
        self._analyser = analyser
        self.seen = self.empty = self.repeated = 0

    def different(self, texts: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
        """One of each; the order of terms makes no difference to an annotator."""
        known: set[tuple[str, ...]] = set()
        for text in map(clean_query, texts):
            tokens = self._analyser.tokens(text)
            terms = tuple(sorted(tokens))
            self.seen += 1
            if not terms:
                self.empty += 1
            elif terms in known:
                self.repeated += 1
            else:
                known.add(terms)
                yield text, tokens


def _check_numbers(at_least: int, most: int | None, hits: int) -> None:
    if not 1 <= at_least <= hits:
        raise InvalidInput(f"at_least: expected from 1 to {hits}, the most hits that are kept, got {at_least}")
    if most is not None and most < 1:
        raise InvalidInput(f"most: expected at least 1 query to keep, or None for all, got {most}")
