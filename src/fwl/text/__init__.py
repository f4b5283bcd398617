"""Texts: read from files, cut into tokens, numbered, and given embeddings; collections of them to search."""

from fwl.text.analyser import Analyser
from fwl.text.beir import BeirFolder
from fwl.text.collection import Collection, CountedDocuments, Document, Judgments, Query, Unknown, check_against
from fwl.text.embeddings import Embeddings, read_embeddings, train_word2vec
from fwl.text.ir_datasets_bridge import IrDataset
from fwl.text.open_collection import open_collection
from fwl.text.reading import SENTIMENTS, LabelledTexts, Pool, read_columns, read_labelled, read_pool
from fwl.text.tokeniser import tokenise, tokenise_all
from fwl.text.trec import TrecFiles, read_run, write_run
from fwl.text.vocabulary import Vocabulary

__all__ = [
    "SENTIMENTS",
    "Analyser",
    "BeirFolder",
    "Collection",
    "CountedDocuments",
    "Document",
    "Embeddings",
    "IrDataset",
    "Judgments",
    "LabelledTexts",
    "Pool",
    "Query",
    "TrecFiles",
    "Unknown",
    "Vocabulary",
    "check_against",
    "open_collection",
    "read_columns",
    "read_embeddings",
    "read_labelled",
    "read_pool",
    "read_run",
    "tokenise",
    "tokenise_all",
    "train_word2vec",
    "write_run",
]
