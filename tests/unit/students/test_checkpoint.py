import dataclasses

import numpy as np
import pytest
import safetensors.torch
import torch

from fwl.errors import InvalidInput, OutputTrouble
from fwl.randomness import Chance
from fwl.students import Training, train
from fwl.students.batches import ByProbability
from fwl.students.checkpoint import FORMAT, Checkpoint, fingerprint
from tests import examples
from tests.refusals import expect_refusal

PLAN = Training(steps=6, batch_size=8)


@pytest.fixture
def path(tmp_path):
    """A checkpoint of PLAN on the example lesson, saved at its last step."""
    path = tmp_path / "training.safetensors"
    resume(path)
    return path


def resume(path, student=None, lesson=None, plan=PLAN, seed=0, **how):
    student, lesson = student or examples.perceptron(), lesson or examples.lesson()
    return train(student, lesson, plan, Chance(seed), checkpoint=Checkpoint(path, every=2), **how)


def absolute_error(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return (outputs - targets).abs().mean(dim=1)


OTHER_TRAININGS = {
    "plan": {"plan": dataclasses.replace(PLAN, learning_rate=0.5)},
    "seed": {"seed": 1},
    "data": {"lesson": examples.lesson(seed=1)},
    "weights": {"lesson": examples.lesson(weighted=True)},
    "held-out set": {"held_out": examples.lesson(seed=2)},
    "student": {"student": examples.wrapped()},
    "student's outputs": {"student": examples.perceptron(n_outputs=2)},
    "loss": {"loss": absolute_error},
    "what is watched": {"watch": lambda outputs, targets: 0.0},
    "batches": {"batches": ByProbability(np.ones(30), 8, Chance(0).child("batches"))},
}


@pytest.mark.parametrize("other", OTHER_TRAININGS.values(), ids=OTHER_TRAININGS)
def test_a_checkpoint_of_another_training_is_refused(path, other):
    message = (
        f"checkpoint {path} belongs to another training (other student, data, plan or seed); "
        "remove it to start afresh, or name another file"
    )
    with expect_refusal(OutputTrouble, message):
        resume(path, **other)


def test_a_refusal_leaves_the_file_and_the_student_alone(path):
    before, student = path.read_bytes(), examples.perceptron()
    with pytest.raises(OutputTrouble):
        resume(path, student=student, seed=1)
    assert path.read_bytes() == before
    assert examples.same_bits(student, examples.perceptron())


@pytest.mark.parametrize("kept", [0, 4, 8, 100, -1])
def test_a_truncated_file_is_refused(path, kept):
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(OutputTrouble) as caught:
        resume(path)
    assert str(caught.value).startswith(f"{path} is not a whole checkpoint (")
    assert str(caught.value).endswith("); remove it to start afresh")


@pytest.mark.parametrize("garbage", [b"garbage" * 100, b"\x00" * 64, b"\xff" * 64, b"{}"])
def test_garbage_is_refused(path, garbage):
    path.write_bytes(garbage)
    with pytest.raises(OutputTrouble) as caught:
        resume(path)
    assert str(caught.value).startswith(f"{path} is not a whole checkpoint (")


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(OutputTrouble, match="is not a whole checkpoint"):
        resume(tmp_path)


def test_another_safetensors_file_is_refused(path):
    safetensors.torch.save_file({"weight": torch.zeros(2)}, path)
    with expect_refusal(OutputTrouble, f"{path} is not a whole checkpoint ('manifest'); remove it to start afresh"):
        resume(path)


def test_another_format_is_refused(path):
    safetensors.torch.save_file({}, path, metadata={"manifest": '{"format": 99}'})
    message = f"checkpoint {path} has format 99, this version reads {FORMAT}; remove it to start afresh"
    with expect_refusal(OutputTrouble, message):
        resume(path)


def test_a_folder_that_is_not_there_is_trouble(tmp_path):
    path = tmp_path / "missing" / "training.safetensors"
    with pytest.raises(OutputTrouble) as caught:
        resume(path)
    assert str(caught.value).startswith(f"cannot write checkpoint {path} (")


@pytest.mark.parametrize("every", [0, -1])
def test_saving_every_nothing_is_refused(tmp_path, every):
    with expect_refusal(InvalidInput, f"a checkpoint is saved every so many steps, at least 1, got {every}"):
        Checkpoint(tmp_path / "c", every)


def test_nothing_is_left_beside_the_file(path):
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_part_left_by_a_kill_is_ignored(path):
    path.with_name(path.name + ".part").write_bytes(b"half")
    assert len(resume(path).loss) == PLAN.steps


def test_the_file_holds_no_pickle(path):
    with safetensors.safe_open(path, framework="pt") as file:
        assert "student.output.weight" in file.keys()  # noqa: SIM118
        assert "generator" in file.keys()  # noqa: SIM118


def test_the_fingerprint_sees_every_part():
    lesson = examples.lesson()
    prints = {
        fingerprint(PLAN, Chance(0), lesson, None),
        fingerprint(PLAN, Chance(0), None, lesson),
        fingerprint(PLAN, Chance(1), lesson, None),
        fingerprint(PLAN, Chance(0).child("step 1"), lesson, None),
        fingerprint(PLAN, Chance(0), dataclasses.replace(lesson, X=lesson.X.reshape(30, 1, 3)), None),
        fingerprint(PLAN, Chance(0), dataclasses.replace(lesson, X=lesson.X.astype(np.float32)), None),
    }
    assert len(prints) == 6


def test_the_fingerprint_sees_every_named_part_and_nothing_between_them():
    X = examples.text_lesson().X
    other, renamed = X.copy(), X.astype([("tokens", np.int32, (9,)), ("numbers", np.float32, (4,))])
    other["vector"][3, 1] += 1
    prints = {fingerprint(dataclasses.replace(examples.text_lesson(), X=samples)) for samples in (X, other, renamed)}
    assert len(prints) == 3
    spaced = np.dtype({"names": X.dtype.names, "formats": [X.dtype[name] for name in X.dtype.names], "itemsize": 100})
    between = np.full(len(X) * 100, 7, dtype=np.uint8).view(spaced)
    for name in X.dtype.names:
        between[name] = X[name]
    assert fingerprint(dataclasses.replace(examples.text_lesson(), X=between)) in prints


def test_the_fingerprint_is_the_same_for_the_same_parts():
    assert fingerprint(PLAN, examples.lesson()) == fingerprint(PLAN, examples.lesson())
    layout = dataclasses.replace(examples.lesson(), X=np.asfortranarray(examples.lesson().X))
    assert fingerprint(layout) == fingerprint(examples.lesson())
