"""Teachers: Gaussian processes on (z, y) that say what a label should be and how sure they are."""

from fwl.teach.calibration import Calibration, fit_calibration
from fwl.teach.clustered import ClusteredGP
from fwl.teach.contract import Teacher
from fwl.teach.divided import Divided
from fwl.teach.exact import ExactGP
from fwl.teach.kernels import RBF, Kernel, Linear, Matern32, Sum, White
from fwl.teach.reduced import Reduced
from fwl.teach.saving import load_teacher, save_teacher
from fwl.teach.sparse import SparseGP
from fwl.teach.sparse_classes import SparseClassifierGP

__all__ = [
    "RBF",
    "Calibration",
    "ClusteredGP",
    "Divided",
    "ExactGP",
    "Kernel",
    "Linear",
    "Matern32",
    "Reduced",
    "SparseClassifierGP",
    "SparseGP",
    "Sum",
    "Teacher",
    "White",
    "fit_calibration",
    "load_teacher",
    "save_teacher",
]
