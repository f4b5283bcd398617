import pytest
import torch
from torch import nn

from fwl.randomness import Chance
from fwl.students import Student, Training, WrappedStudent, train
from tests import examples


def test_a_module_is_split_where_the_user_says():
    net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
    student = WrappedStudent(net, lambda m, x: m[:2](x), lambda m, psi: m[2](psi))
    x = torch.ones(5, 3)
    assert torch.equal(student.represent(x), net[:2](x))
    assert torch.equal(student(x), net(x))


def test_the_users_module_is_trained_in_place():
    student = examples.wrapped()
    before = student.module[0].weight.detach().clone()
    train(student, examples.lesson(), Training(steps=2), Chance(0))
    assert not torch.equal(student.module[0].weight, before)


def test_the_parameters_are_the_modules():
    student = examples.wrapped()
    assert [id(p) for p in student.parameters()] == [id(p) for p in student.module.parameters()]


def test_a_student_without_its_two_parts_cannot_be_made():
    class Half(Student):
        def represent(self, x):
            return x

    with pytest.raises(TypeError, match="predict_from"):
        Half()
