import numpy as np

from fwl.annotate.bm25 import BM25
from fwl.annotate.index import InvertedIndex
from fwl.experiments.made_collection import MadeCollection
from fwl.randomness import Chance
from fwl.text.beir import BeirFolder
from fwl.text.collection import check_against


def test_it_is_a_whole_collection_in_beirs_layout(tmp_path):
    MadeCollection(documents=30, queries=5).write(tmp_path, Chance(0))
    folder = BeirFolder(tmp_path)
    documents, queries = {d.id for d in folder.documents()}, {q.id for q in folder.queries()}
    assert (len(documents), len(queries)) == (30, 5)
    assert not check_against(folder.judgments(), queries, documents)


def test_the_same_chance_writes_the_same_files(tmp_path):
    for name in ("one", "two"):
        MadeCollection(documents=20, queries=4).write(tmp_path / name, Chance(1))
    for file in ("corpus.jsonl", "queries.jsonl", "qrels.tsv"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_an_annotator_that_matches_words_misses_relevant_documents_that_use_the_other_one(tmp_path):
    MadeCollection().write(tmp_path, Chance(0))
    folder = BeirFolder(tmp_path)
    index = InvertedIndex.of((d.id, d.text.split()) for d in folder.documents())
    judgments, queries = folder.judgments().answerable(), {q.id: q.text.split() for q in folder.queries()}
    shares = []
    for query, hits in zip(judgments, BM25(index).search([queries[q] for q in judgments]), strict=True):
        relevant = index.document_numbers(judgments.relevant(query))
        shares.append(np.isin(relevant, hits.documents).mean())
    assert 0.4 < np.mean(shares) < 0.95
