"""Step 2, first half: a teacher that knows the strong labels, and how it turns samples into beliefs and labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from fwl.errors import NoClosedForm
from fwl.evaluate.folds import folds
from fwl.learn.eyes import Eyes
from fwl.learn.prior import PriorMean, average_label, prior_for
from fwl.learn.recipe import Teaching
from fwl.learn.task import Task
from fwl.learn.view import View, make_view
from fwl.randomness import Chance
from fwl.records import Array, Posterior, StrongSet
from fwl.teach.calibration import Calibration, fit_calibration, rebalanced
from fwl.teach.contract import Teacher

FOLDS = 5  # for teachers without a closed form of leaving one out


@dataclass(frozen=True, eq=False)
class FittedTeacher:
    """A teacher that knows the strong labels.

    Attributes:
        teacher: the Gaussian process, on labels less the base of the prior mean.
        view: what it sees samples through.
        prior: what it believed before.
        teaching: how it was set up.
        task: names the link.
        shares: of the classes among the strong labels, or the average number, [C].
        calibration: makes class probabilities of its mean, where that was asked for.
    """

    teacher: Teacher
    view: View
    prior: PriorMean
    teaching: Teaching
    task: Task
    shares: Array
    calibration: Calibration | None = None

    def posterior(self, X: npt.NDArray[Any], weak: Array | None = None) -> Posterior:
        """Its belief about samples X, of which the annotator says `weak` [N, C] (only some prior means ask for it)."""
        prediction = self.task.link(self.view.eyes.respond(X)) if self.prior.asks_student else None
        belief = self.teacher.posterior(self.view(X), self.prior.directions(prediction, weak))
        return moved(belief, self.prior)

    def label(self, posterior: Posterior) -> Array:
        """T(x): a belief as labels, [N, C]."""
        if self.calibration is None:
            return self.task.of_mean(posterior.mean)
        probabilities = self.calibration(posterior.mean)
        return rebalanced(probabilities, self.shares, self.teaching.rebalance)

    def predict(self, X: npt.NDArray[Any], weak: Array | None = None) -> Array:
        """The teacher's own prediction of labels, [N, C]; it may read the weak label where the annotator can be run."""
        return self.label(self.posterior(X, weak))


def fit_teacher(
    eyes: Eyes, strong: StrongSet, everything: npt.NDArray[Any], teaching: Teaching, task: Task
) -> FittedTeacher:
    """Fit a new teacher on the strong labels, seen through students as they are now.

    Args:
        eyes: stay frozen; the students must not be trained further afterwards.
        strong: the strong labels.
        everything: all samples; inputs are standardised over these.
        teaching: which input, which prior mean, which teacher.
        task: what the labels are.
    """
    view = make_view(eyes, everything, teaching.input, teaching.standardise)
    return fit_through(
        view, teaching.new_teacher(), strong, prior_for(teaching.prior_mean, strong, task), teaching, task
    )


def fit_through(
    view: View, teacher: Teacher, strong: StrongSet, prior: PriorMean, teaching: Teaching, task: Task
) -> FittedTeacher:
    """Fit this teacher through a view that is there already."""
    teacher = teacher.fit(view.of_strong(strong), strong.y - prior.base, strong_directions(view, strong, prior, task))
    fitted = FittedTeacher(teacher, view, prior, teaching, task, average_label(strong.y, task))
    if not (teaching.calibrate and task.has_classes):
        return fitted
    return replace(fitted, calibration=fit_calibration(left_out(fitted, strong), strong.y))


def strong_directions(view: View, strong: StrongSet, prior: PriorMean, task: Task) -> Array | None:
    """The directions of the prior mean at the strong samples, [N, C, B]."""
    prediction = task.link(view.eyes.respond_to_strong(strong)) if prior.asks_student else None
    return prior.directions(prediction, strong.weak)


def left_out(fitted: FittedTeacher, strong: StrongSet) -> Posterior:
    """Its belief about each strong sample without that sample's label.

    In closed form where the teacher has one; otherwise from teachers of its kind fitted on all folds but the sample's.
    """
    try:
        return moved(fitted.teacher.leave_one_out(), fitted.prior)
    except NoClosedForm:
        return moved(_fold_by_fold(fitted, strong), fitted.prior)


def moved(posterior: Posterior, prior: PriorMean) -> Posterior:
    """A belief about labels less the base as one about labels."""
    return replace(posterior, mean=posterior.mean + prior.base)


def _fold_by_fold(fitted: FittedTeacher, strong: StrongSet) -> Posterior:
    Z, y = fitted.view.of_strong(strong), strong.y - fitted.prior.base
    directions = strong_directions(fitted.view, strong, fitted.prior, fitted.task)
    mean, variance, prior, noise = np.empty_like(y), np.empty_like(y), np.empty_like(y), np.inf
    for kept, rows in folds(len(y), FOLDS, Chance(0).child("left-out folds")):
        some, others = (None, None) if directions is None else (directions[kept], directions[rows])
        belief = fitted.teaching.new_teacher().fit(Z[kept], y[kept], some).posterior(Z[rows], others)
        mean[rows], variance[rows], prior[rows] = belief.mean, belief.variance, belief.prior
        noise = min(noise, belief.noise)
    return Posterior(mean, variance, prior, noise)
