"""Teachers: Gaussian processes on (z, y) that say what a label should be and how sure they are."""

from fwl.teach.contract import Teacher
from fwl.teach.exact import ExactGP
from fwl.teach.kernels import RBF, Kernel, Linear, Matern32, Sum, White

__all__ = ["RBF", "ExactGP", "Kernel", "Linear", "Matern32", "Sum", "Teacher", "White"]
