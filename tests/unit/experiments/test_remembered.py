import numpy as np

from fwl.experiments import remembered
from fwl.experiments.remembered import Remembered
from fwl.teach.exact import ExactGP

Z = np.linspace(-1, 1, 6)[:, None]
Y = np.sin(Z)


class Counted(ExactGP):
    fits = 0
    asked = 0

    def fit(self, *lesson):
        Counted.fits += 1
        return super().fit(*lesson)

    def posterior(self, *samples):
        Counted.asked += 1
        return super().posterior(*samples)


def counted(work):
    Counted.fits = Counted.asked = 0
    work()
    return Counted.fits, Counted.asked


def test_it_says_what_the_teacher_behind_it_says():
    plain, own = ExactGP().fit(Z, Y), Remembered(ExactGP, "says").fit(Z, Y)
    for first, second in ((plain.posterior(Z), own.posterior(Z)), (plain.leave_one_out(), own.leave_one_out())):
        assert np.array_equal(first.mean, second.mean)
        assert np.array_equal(first.variance, second.variance)
    assert own.log_evidence_ == plain.log_evidence_


def test_the_same_lesson_is_learned_once_and_the_same_question_answered_once():
    def twice():
        for _ in range(2):
            Remembered(Counted, "twice").fit(Z, Y).posterior(Z)

    assert counted(twice) == (1, 1)


def test_other_labels_other_kinds_and_other_samples_are_not_taken_for_the_same():
    def differently():
        Remembered(Counted, "one").fit(Z, Y).posterior(Z)
        Remembered(Counted, "one").fit(Z, -Y).posterior(Z)
        Remembered(Counted, "other").fit(Z, Y).posterior(Z)
        Remembered(Counted, "other").fit(Z, Y, np.ones_like(Y)).posterior(Z, np.ones_like(Y))

    assert counted(differently) == (4, 4)


def test_only_the_latest_are_kept():
    for kind in range(5):
        teacher = Remembered(ExactGP, kind).fit(Z, Y)
        for shift in range(6):
            teacher.posterior(Z + shift)
    assert len(remembered._FITTED) == remembered.FITTED
    assert len(teacher._known.beliefs) == remembered.BELIEFS
