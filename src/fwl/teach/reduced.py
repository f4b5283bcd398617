"""PCA -> GP: a teacher on the directions in which the strong samples vary most."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

import numpy as np
from sklearn.decomposition import PCA

from fwl.errors import InvalidInput, NotFitted
from fwl.records import Array, Posterior, as_matrix
from fwl.teach.contract import Teacher
from fwl.teach.exact import ExactGP
from fwl.teach.given import check_columns
from fwl.teach.state import State, nested, revive_part, storable
from fwl.threads import one_thread


@storable
class Reduced:
    """A teacher that sees inputs projected on their first principal components.

    Args:
        new_teacher: makes the teacher behind it.
        components: how many, at most as many as samples or columns; the paper does not say how many it took.

    Attributes:
        teacher_: the fitted teacher behind it.
        centre_: subtracted from each column, [D].
        directions_: the components, [components, D].
        explained_: the share of the variance that they keep.
        log_evidence_: of the teacher behind it.
    """

    def __init__(self, new_teacher: Callable[[], Teacher] = ExactGP, components: int = 20) -> None:
        self.new_teacher, self.components = new_teacher, components

    def fit(self, Z: Array, y: Array, prior_mean: Array | None = None) -> Self:
        """Find the components of Z [N, D] and fit the teacher behind on them."""
        if self.components < 1:
            raise InvalidInput(f"components is at least 1, got {self.components}")
        inputs = as_matrix(Z, "teacher inputs")
        with one_thread(), np.errstate(divide="ignore", invalid="ignore"):  # samples that do not vary have no shares
            # The full decomposition draws nothing: the same samples give the same components.
            found = PCA(min(self.components, *inputs.shape), svd_solver="full").fit(inputs)
        projected = _projected(inputs, found.mean_, found.components_)
        self.teacher_ = self.new_teacher().fit(projected, y, prior_mean)
        self.centre_, self.directions_ = found.mean_, found.components_
        self.explained_ = float(np.nan_to_num(found.explained_variance_ratio_).sum())
        self.log_evidence_ = self.teacher_.log_evidence_
        return self

    def posterior(self, Z: Array, prior_mean: Array | None = None) -> Posterior:
        """Mean and variance of the label at each row of Z [M, D]."""
        self._check_fitted()
        inputs = as_matrix(Z, "teacher inputs")
        check_columns(len(self.centre_), inputs)
        return self.teacher_.posterior(_projected(inputs, self.centre_, self.directions_), prior_mean)

    def leave_one_out(self) -> Posterior:
        """What the teacher behind it would have said of each strong sample; the components keep what they saw of it."""
        self._check_fitted()
        return self.teacher_.leave_one_out()

    def state(self) -> State:
        """What it takes to be the same teacher again."""
        self._check_fitted()
        settings = {"components": self.components, "explained": self.explained_}
        return nested(settings, {"centre": self.centre_, "directions": self.directions_}, {"teacher": self.teacher_})

    @classmethod
    def from_state(cls, state: State) -> Self:
        """The teacher that `state` was taken from."""
        behind = revive_part(state, "teacher")
        reduced = cls(type(behind), state.settings["components"])
        reduced.centre_, reduced.directions_ = state.arrays["centre"], state.arrays["directions"]
        reduced.explained_, reduced.teacher_ = state.settings["explained"], behind
        reduced.log_evidence_ = behind.log_evidence_
        return reduced

    def _check_fitted(self) -> None:
        if not hasattr(self, "teacher_"):
            raise NotFitted("this teacher has not been fitted; call fit(Z, y) with strong labels first")


def _projected(Z: Array, centre: Array, directions: Array) -> Array:
    return np.asarray((Z - centre) @ directions.T)
