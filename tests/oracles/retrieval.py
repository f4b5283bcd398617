"""The rankings document by document and word by word, in double precision, as their formulas say."""

import math
from collections.abc import Mapping, Sequence

Documents = Sequence[Sequence[str]]


def holders(documents: Documents, term: str) -> int:
    """How many documents hold a term."""
    return sum(term in document for document in documents)


def vector(documents: Documents, text: Sequence[str], weights: str) -> dict[str, float]:
    """What each word of a text weighs; words that no document holds are left out."""
    found = {}
    for term in text:
        n = holders(documents, term)
        if n and weights == "binary":
            found[term] = 1.0
        elif n:
            found[term] = (1 + math.log(list(text).count(term))) * math.log(len(documents) / n)
    return found


def cosines(documents: Documents, query: Sequence[str], weights: str) -> list[float]:
    """The cosine between a query and each document; 0 where either is nothing."""
    asked = vector(documents, query, weights)
    found = []
    for document in documents:
        held = vector(documents, document, weights)
        product = sum(weight * held.get(term, 0.0) for term, weight in asked.items())
        lengths = [math.sqrt(sum(weight**2 for weight in one.values())) for one in (asked, held)]
        found.append(product / (lengths[0] * lengths[1]) if product else 0.0)
    return found


def term_score(documents: Documents, document: Sequence[str], term: str, k1: float, b: float) -> float:
    """What one occurrence of a term in a query is worth to a document under BM25."""
    N, n = len(documents), holders(documents, term)
    mean = sum(map(len, documents)) / N
    f = list(document).count(term)
    if not f:
        return 0.0
    idf = math.log(1 + (N - n + 0.5) / (n + 0.5))
    return idf * f / (f + k1 * (1 - b + b * len(document) / mean))


def bm25(
    documents: Documents, query: Sequence[str], k1: float = 1.2, b: float = 0.75, k3: float = 1000.0
) -> list[float]:
    """BM25 of each document."""
    found = []
    for document in documents:
        score = 0.0
        for term in dict.fromkeys(query):
            q = list(query).count(term)
            score += term_score(documents, document, term, k1, b) * (k3 + 1) * q / (k3 + q)
        found.append(score)
    return found


def weighted_bm25(documents: Documents, query: Mapping[str, float], k1: float = 1.2, b: float = 0.75) -> list[float]:
    """BM25 of each document for terms that weigh what they weigh."""
    return [
        sum(weight * term_score(documents, document, term, k1, b) for term, weight in query.items())
        for document in documents
    ]


def rm3_query(
    documents: Documents, query: Sequence[str], believed: int = 10, terms: int = 10, original: float = 0.5
) -> dict[str, float]:
    """The query and the model of its best documents, mixed."""
    known = [term for term in query if holders(documents, term)]
    scores = bm25(documents, query)
    model: dict[str, float] = {}
    for number in best(scores)[:believed]:
        document = documents[number]
        for term in dict.fromkeys(document):
            share = list(document).count(term) / len(document)
            model[term] = model.get(term, 0.0) + scores[number] * share
    first_met = list(dict.fromkeys(term for document in documents for term in document))
    heaviest = sorted(model, key=lambda term: (-model[term], first_met.index(term)))[:terms]
    whole = sum(model[term] for term in heaviest)
    mixed = {term: (1 - original) * model[term] / whole for term in heaviest}
    for term in known:
        mixed[term] = mixed.get(term, 0.0) + original / len(known)
    return mixed


def rm3(documents: Documents, query: Sequence[str], **settings: float) -> list[float]:
    """BM25 + RM3 of each document."""
    return weighted_bm25(documents, rm3_query(documents, query, **settings))


def best(scores: Sequence[float]) -> list[int]:
    """The documents that are found, the best first; of equal ones the first."""
    return sorted((number for number, score in enumerate(scores) if score > 0), key=lambda number: -scores[number])
