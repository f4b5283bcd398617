"""Students: networks phi(psi(x)) and the one loop that trains them."""

from fwl.students.contract import Student
from fwl.students.inference import predict, represent
from fwl.students.perceptron import Perceptron
from fwl.students.text_cnn import TextCNN
from fwl.students.training import History, Lesson, Training, train
from fwl.students.wrapped import WrappedStudent

__all__ = [
    "History",
    "Lesson",
    "Perceptron",
    "Student",
    "TextCNN",
    "Training",
    "WrappedStudent",
    "predict",
    "represent",
    "train",
]
