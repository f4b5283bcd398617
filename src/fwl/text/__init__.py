"""Texts: read from files, cut into tokens, numbered, and given embeddings."""

from fwl.text.embeddings import Embeddings, read_embeddings, train_word2vec
from fwl.text.reading import SENTIMENTS, LabelledTexts, Pool, read_columns, read_labelled, read_pool
from fwl.text.tokeniser import tokenise, tokenise_all
from fwl.text.vocabulary import Vocabulary

__all__ = [
    "SENTIMENTS",
    "Embeddings",
    "LabelledTexts",
    "Pool",
    "Vocabulary",
    "read_columns",
    "read_embeddings",
    "read_labelled",
    "read_pool",
    "tokenise",
    "tokenise_all",
    "train_word2vec",
]
