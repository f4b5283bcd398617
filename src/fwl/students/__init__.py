"""Students: networks phi(psi(x)) and the one loop that trains them."""

from fwl.students.contract import Student
from fwl.students.encoder import FineTunedEncoder, SentenceEncoder, encoder_ids
from fwl.students.inference import predict, represent
from fwl.students.linear import LinearStudent
from fwl.students.perceptron import Perceptron
from fwl.students.ranker import Bags, PairRanker
from fwl.students.score_ranker import ScoreRanker
from fwl.students.text_cnn import TextCNN
from fwl.students.training import History, Lesson, Training, train
from fwl.students.vector_cache import cached_vectors
from fwl.students.wrapped import WrappedStudent

__all__ = [
    "Bags",
    "FineTunedEncoder",
    "History",
    "Lesson",
    "LinearStudent",
    "PairRanker",
    "Perceptron",
    "ScoreRanker",
    "SentenceEncoder",
    "Student",
    "TextCNN",
    "Training",
    "WrappedStudent",
    "cached_vectors",
    "encoder_ids",
    "predict",
    "represent",
    "train",
]
