"""Learn from few labels you trust and many you don't."""

import typing as _typing
from importlib import import_module as _import_module

if _typing.TYPE_CHECKING:
    from fwl.annotate import Lexicon, SentiWordNet, Vader, Votes
    from fwl.errors import FWLError, TeacherWarning
    from fwl.estimators import (
        FWLClassifier,
        FWLRanker,
        FWLRegressor,
        audit,
        compare_on,
        load_model,
        save_model,
        suggest_rows,
    )
    from fwl.learn import (
        BINARY,
        METHODS,
        MULTICLASS,
        PREFERENCE,
        REGRESSION,
        FittedTeacher,
        OneStudent,
        Problem,
        Recipe,
        Softener,
        Task,
        Teaching,
        fidelity_weighted,
        fidelity_weighted_auto,
        fit_teacher,
        soften,
    )
    from fwl.randomness import Chance
    from fwl.records import Posterior, Result, SoftSet, StrongSet, WeakSet
    from fwl.students import FineTunedEncoder, Perceptron, SentenceEncoder, Student, TextCNN, Training, WrappedStudent
    from fwl.teach import (
        RBF,
        ClusteredGP,
        Divided,
        ExactGP,
        Kernel,
        Linear,
        Matern32,
        Reduced,
        SparseClassifierGP,
        SparseGP,
        Teacher,
        White,
        load_teacher,
        save_teacher,
    )
    from fwl.text import Vocabulary, tokenise

__all__ = [
    "BINARY",
    "METHODS",
    "MULTICLASS",
    "PREFERENCE",
    "RBF",
    "REGRESSION",
    "Chance",
    "ClusteredGP",
    "Divided",
    "ExactGP",
    "FWLClassifier",
    "FWLError",
    "FWLRanker",
    "FWLRegressor",
    "FineTunedEncoder",
    "FittedTeacher",
    "Kernel",
    "Lexicon",
    "Linear",
    "Matern32",
    "OneStudent",
    "Perceptron",
    "Posterior",
    "Problem",
    "Recipe",
    "Reduced",
    "Result",
    "SentenceEncoder",
    "SentiWordNet",
    "SoftSet",
    "Softener",
    "SparseClassifierGP",
    "SparseGP",
    "StrongSet",
    "Student",
    "Task",
    "Teacher",
    "TeacherWarning",
    "Teaching",
    "TextCNN",
    "Training",
    "Vader",
    "Vocabulary",
    "Votes",
    "WeakSet",
    "White",
    "WrappedStudent",
    "audit",
    "compare_on",
    "fidelity_weighted",
    "fidelity_weighted_auto",
    "fit_teacher",
    "load_model",
    "load_teacher",
    "save_model",
    "save_teacher",
    "soften",
    "suggest_rows",
    "tokenise",
]

# The rooms that public names come from, the light ones first. They are opened when a name is asked for, so that the
# command line can answer `fwl --help`, and an estimator be imported, without torch.
_ROOMS = ("errors", "records", "estimators", "text", "randomness", "annotate", "teach", "students", "learn")


def _find(name: str) -> object:
    """A public name, in the room it comes from; or one of these rooms itself."""
    if name in _ROOMS:
        return _import_module(f"fwl.{name}")
    for room in map(_import_module, (f"fwl.{room}" for room in _ROOMS if name in __all__)):
        if hasattr(room, name):
            globals()[name] = getattr(room, name)  # found once
            return globals()[name]
    raise AttributeError(f"module 'fwl' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__


if not _typing.TYPE_CHECKING:  # type checkers know the names from above, and should not take any other
    __getattr__ = _find
