import json
import stat

import numpy as np
import pytest

from fwl.errors import InvalidInput, OutputTrouble, UnknownName
from fwl.storage import Stored, read_folder, write_folder
from fwl.teach import RBF, ClusteredGP, Divided, ExactGP, Linear, Matern32, Reduced, White, load_teacher, save_teacher
from fwl.teach.evidence import Believed
from tests.refusals import expect_refusal

Z = np.random.default_rng(0).normal(size=(30, 2))
Y = np.stack([np.sin(Z[:, 0]), np.cos(Z[:, 1])], axis=1)
KINDS = "ClusteredGP, Divided, ExactGP, Reduced, SparseClassifierGP, SparseGP"


def taught() -> ClusteredGP:
    return ClusteredGP(2, smallest=3).fit(Z, Y)


def test_saving_says_where(tmp_path):
    assert save_teacher(taught(), str(tmp_path / "here")) == tmp_path / "here"
    assert sorted(path.name for path in (tmp_path / "here").iterdir()) == ["arrays.safetensors", "manifest.json"]


def test_folders_on_the_way_are_made(tmp_path):
    save_teacher(taught(), tmp_path / "a" / "b" / "c")
    assert isinstance(load_teacher(tmp_path / "a" / "b" / "c"), ClusteredGP)


def test_saving_again_replaces_what_was_there(tmp_path):
    save_teacher(ExactGP().fit(Z, Y), tmp_path / "teacher")
    save_teacher(taught(), tmp_path / "teacher")
    assert isinstance(load_teacher(tmp_path / "teacher"), ClusteredGP)
    assert [path.name for path in tmp_path.iterdir()] == ["teacher"]


@pytest.mark.parametrize("kernel", [RBF(0.3) + White(), Matern32(1 / 3, 2.0) + Linear(0.1) + White(1e-7), Linear(1.0)])
def test_every_kernel_comes_back_to_the_last_bit(kernel, tmp_path):
    save_teacher(ExactGP(kernel).fit(Z, Y), tmp_path / "teacher")
    assert load_teacher(tmp_path / "teacher").kernel_ == kernel


def test_fitted_kernels_come_back_and_are_not_fitted_anew(tmp_path):
    teacher = ClusteredGP(2, smallest=3, hyperparameters="evidence", shared=False).fit(Z, Y)
    save_teacher(teacher, tmp_path / "teacher")
    again = load_teacher(tmp_path / "teacher")
    assert again.kernels_ == teacher.kernels_
    assert again.hyperparameters == "evidence"


def test_factors_on_a_prior_mean_come_back(tmp_path):
    mean = np.stack([0.5 * Y, Y**2], axis=-1)
    teacher = ClusteredGP(2, smallest=3, shrink_mean=True).fit(Z, Y, mean)
    save_teacher(teacher, tmp_path / "teacher")
    assert load_teacher(tmp_path / "teacher").shrinkage_ == teacher.shrinkage_


def test_what_was_believed_of_factors_comes_back(tmp_path):
    teacher = ExactGP(shrink_mean=True, believed=Believed((0.4,), 20.0)).fit(Z, Y, 0.5 * Y)
    save_teacher(teacher, tmp_path / "teacher")
    again = load_teacher(tmp_path / "teacher")
    assert again.believed == teacher.believed
    assert again.shrinkage_ == teacher.shrinkage_


def test_teachers_behind_teachers_come_back(tmp_path):
    teacher = Reduced(lambda: Divided(lambda: Reduced(ExactGP, 1), 2, smallest=3), 2).fit(Z, Y)
    save_teacher(teacher, tmp_path / "teacher")
    again = load_teacher(tmp_path / "teacher")
    np.testing.assert_array_equal(again.posterior(Z + 1).mean, teacher.posterior(Z + 1).mean)
    assert isinstance(again.teacher_.teachers_[0].teacher_, ExactGP)


def test_more_than_ten_clusters_come_back_in_their_order(tmp_path):
    teacher = Divided(ExactGP, 12, smallest=1).fit(Z, Y)
    save_teacher(teacher, tmp_path / "teacher")
    np.testing.assert_array_equal(load_teacher(tmp_path / "teacher").posterior(Z).mean, teacher.posterior(Z).mean)


def test_settings_that_came_as_numpys_numbers_can_be_saved(tmp_path):
    teacher = ClusteredGP(np.int64(2), smallest=np.int32(3), random_state=np.int64(7), shared=np.bool_(True)).fit(Z, Y)
    save_teacher(teacher, tmp_path / "teacher")
    again = load_teacher(tmp_path / "teacher")
    assert (again.clusters, again.smallest, again.random_state, again.shared) == (2, 3, 7, True)


def test_a_teacher_loaded_from_disk_is_independent_of_it(tmp_path):
    save_teacher(taught(), tmp_path / "teacher")
    again = load_teacher(tmp_path / "teacher")
    save_teacher(ExactGP().fit(3 * Z, Y), tmp_path / "teacher")
    np.testing.assert_array_equal(again.posterior(Z).mean, taught().posterior(Z).mean)


def test_everyone_may_read_what_the_mask_allows(tmp_path):
    save_teacher(taught(), tmp_path / "teacher")
    (tmp_path / "plain").write_text("")
    expected = stat.S_IMODE((tmp_path / "plain").stat().st_mode)
    for path in (tmp_path / "teacher").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == expected


def test_what_is_no_teacher_cannot_be_saved(tmp_path):
    with expect_refusal(InvalidInput, f"a dict cannot be saved; teachers that can: {KINDS}"):
        save_teacher({}, tmp_path / "teacher")
    assert not any(tmp_path.iterdir())


def test_a_folder_with_something_else_is_no_teacher(tmp_path):
    write_folder(tmp_path / "student", Stored("student", {}, {"weights": np.ones(3)}))
    with expect_refusal(OutputTrouble, f"{tmp_path / 'student'} holds a student, expected a teacher"):
        load_teacher(tmp_path / "student")


def test_a_teacher_of_a_later_kind_is_answered_with_the_nearest(tmp_path):
    save_teacher(ExactGP().fit(Z, Y), tmp_path / "teacher")
    stored = read_folder(tmp_path / "teacher")
    write_folder(tmp_path / "teacher", Stored("teacher", {**stored.settings, "teacher": "ExactGPs"}, stored.arrays))
    with expect_refusal(UnknownName, f"unknown kind of teacher 'ExactGPs'; did you mean 'ExactGP'? known: {KINDS}"):
        load_teacher(tmp_path / "teacher")


def test_a_kernel_that_does_not_exist_is_answered_with_the_known(tmp_path):
    save_teacher(ExactGP().fit(Z, Y), tmp_path / "teacher")
    stored = read_folder(tmp_path / "teacher")
    changed = json.loads(json.dumps(stored.settings).replace('"RBF"', '"Brownian"'))
    write_folder(tmp_path / "teacher", Stored("teacher", changed, stored.arrays))
    with expect_refusal(UnknownName, "unknown kernel 'Brownian'; known: RBF, Matern32, Linear, White"):
        load_teacher(tmp_path / "teacher")


def test_a_teacher_that_is_not_there_is_refused(tmp_path):
    with expect_refusal(OutputTrouble, f"{tmp_path / 'nowhere'} is not a saved model: it has no manifest.json"):
        load_teacher(tmp_path / "nowhere")
