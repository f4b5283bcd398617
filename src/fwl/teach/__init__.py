"""Teachers: Gaussian processes on (z, y) that say what a label should be and how sure they are."""

from fwl.teach.calibration import Calibration, fit_calibration
from fwl.teach.clustered import ClusteredGP
from fwl.teach.contract import Teacher
from fwl.teach.correction import Choice, choose_correction
from fwl.teach.cosines import Cosines
from fwl.teach.divided import Divided
from fwl.teach.exact import ExactGP
from fwl.teach.kernels import RBF, Kernel, Linear, Matern32, Sum, White
from fwl.teach.memory import KernelMemory
from fwl.teach.query_document import QueryDocumentGP
from fwl.teach.reduced import Reduced
from fwl.teach.saving import load_teacher, save_teacher
from fwl.teach.sparse import SparseGP
from fwl.teach.sparse_classes import SparseClassifierGP

__all__ = [
    "RBF",
    "Calibration",
    "Choice",
    "ClusteredGP",
    "Cosines",
    "Divided",
    "ExactGP",
    "Kernel",
    "KernelMemory",
    "Linear",
    "Matern32",
    "QueryDocumentGP",
    "Reduced",
    "SparseClassifierGP",
    "SparseGP",
    "Sum",
    "Teacher",
    "White",
    "choose_correction",
    "fit_calibration",
    "load_teacher",
    "save_teacher",
]
