import pickle

import pytest

from fwl import errors
from fwl.errors import FWLError, InvalidInput, NotFitted, NumericalTrouble, OutputTrouble, UnknownName

BUILT_IN = {
    InvalidInput: ValueError,
    errors.WrongShape: ValueError,
    errors.NotFinite: ValueError,
    UnknownName: LookupError,
    NotFitted: AttributeError,
    errors.NoClosedForm: NotImplementedError,
    NumericalTrouble: ArithmeticError,
    OutputTrouble: OSError,
}


@pytest.mark.parametrize(("error", "built_in"), BUILT_IN.items())
def test_each_error_is_ours_and_a_built_in(error, built_in):
    assert issubclass(error, FWLError)
    assert issubclass(error, built_in)


def test_the_tree_in_the_docstring_names_every_error():
    ours = [name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, FWLError)]
    assert set(ours) == {error.__name__ for error in BUILT_IN} | {"FWLError"}
    assert all(name in errors.__doc__ for name in ours)


def test_a_teachers_warning_is_no_error_and_named_in_the_docstring():
    assert issubclass(errors.TeacherWarning, UserWarning)
    assert not issubclass(errors.TeacherWarning, FWLError)
    assert "TeacherWarning" in errors.__doc__


@pytest.mark.parametrize("error", [*BUILT_IN, FWLError], ids=lambda error: error.__name__)
def test_every_error_survives_the_way_home_from_a_worker(error):
    made = UnknownName("task", "x", ["y"]) if error is UnknownName else error("what came, what was expected")
    again = pickle.loads(pickle.dumps(made))
    assert type(again) is error
    assert str(again) == str(made)


def test_an_unknown_name_is_answered_with_the_nearest():
    error = UnknownName("optimiser", "adm", ["sgd", "adam"])
    assert str(error) == "unknown optimiser 'adm'; did you mean 'adam'? known: sgd, adam"


def test_a_name_far_from_all_is_answered_with_the_list():
    error = UnknownName("optimiser", "quasi-newton", iter(["sgd", "adam"]))
    assert str(error) == "unknown optimiser 'quasi-newton'; known: sgd, adam"


def test_the_message_is_shown_as_written():
    with pytest.raises(LookupError, match=r"^unknown task 'x'; known: y$"):
        raise UnknownName("task", "x", ["y"])
