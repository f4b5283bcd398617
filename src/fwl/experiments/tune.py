"""Tune an experiment's student: suggestions in batches, each batch in parallel, journalled and resumable.

A batch is suggested from the batches before it, in the order of suggestion and not of arrival. So the trials of a
tuning depend on its seed alone: not on which of them ended first, and not on where a run was killed and resumed.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from fwl.errors import InvalidInput, NumericalTrouble, TeacherWarning, UnknownName
from fwl.experiments.bandit import SEARCHES, check_botorch
from fwl.experiments.catalogue import CATALOGUE, find_experiment
from fwl.experiments.declare import Experiment, Study, Tuning
from fwl.experiments.grid import Grid
from fwl.experiments.provenance import installed_version, made_with
from fwl.experiments.runner import make_writable, plain_settings, settings_for
from fwl.experiments.settings import change_settings, split_assignment
from fwl.experiments.trials import Trial, TrialJournal
from fwl.experiments.tuned import Tuned
from fwl.progress import Progress, Silent
from fwl.randomness import Chance
from fwl.threads import one_thread

JOURNAL = "trials.jsonl"


@dataclass(frozen=True)
class Plan:
    """Everything that was asked for, checked.

    Attributes:
        tuning: the student's.
        settings: those that all trials share; the grid's are put on top.
        grid: of what is tuned.
        fixed: settings of the student's grid that were set beforehand.
        size: of the experiment.
        search: a name in `SEARCHES`.
        q: trials of a batch.
        trials: all in all.
    """

    tuning: Tuning
    settings: Any
    grid: Grid
    fixed: tuple[str, ...]
    size: str
    search: str
    q: int
    trials: int

    def identity(self) -> dict[str, Any]:
        """What has to be the same for trials to belong together; more of them may be asked for later."""
        grid = dict(self.grid.values)
        asked = {"task": self.tuning.task, "size": self.size, "search": self.search, "q": self.q, "grid": grid}
        return {**asked, "version": installed_version(), "settings": plain_settings(self.settings)}

    def batches(self) -> list[range]:
        """The numbers of the trials of each batch."""
        return [range(first, min(first + self.q, self.trials)) for first in range(0, self.trials, self.q)]

    def at(self, point: int) -> Any:
        """All settings at a point of the grid."""
        return change_settings(self.settings, self.grid.settings(point))


def plan_tuning(
    experiment: Experiment,
    *,
    size: str = "paper",
    trials: int = 24,
    q: int = 2,
    search: str = "bandit",
    assignments: Iterable[str] = (),
) -> Plan:
    """Check what is asked for, before anything is done.

    Args:
        experiment: whose student to tune.
        size: "tiny", "reduced" or "paper".
        trials: how many, all in all; not more than the grid has points.
        q: trials that are suggested together and run in parallel, a process each.
        search: "bandit" or "random".
        assignments: `key=value` texts onto the experiment's settings; what is set is not tuned.
    """
    if experiment.tuning is None:
        raise _nothing_to_tune(experiment.name)
    for name, count in (("trials", trials), ("q", q)):
        if count < 1:
            raise InvalidInput(f"{name}={count}: expected at least 1")
    _check_search(search)
    assignments = list(assignments)
    if any(text.startswith("@") for text in assignments):
        raise InvalidInput("--set @FILE is for fwl reproduce; a tuning takes key=value only")
    settings = settings_for(experiment, size, assignments)
    grid, fixed = _grid(experiment.name, experiment.tuning.grids[size], assignments)
    return Plan(experiment.tuning, settings, grid, fixed, size, search, q, min(trials, len(grid)))


def find_tunable(name: str) -> Experiment:
    """The experiment of that name, if it declares something to tune."""
    declared = find_experiment(name)
    if isinstance(declared, Study) or declared.tuning is None:
        raise _nothing_to_tune(name)
    return declared


def _nothing_to_tune(name: str) -> InvalidInput:
    tunable = [name for name, declared in CATALOGUE.items() if declared.tuning is not None]
    return InvalidInput(f"{name} declares nothing to tune; these do: {', '.join(tunable)}")


def run_tuning(plan: Plan, out: Path, *, resume: bool = False, progress: Progress | None = None) -> Tuned:
    """Find the student that does best on validation data; test sets are not touched.

    Args:
        plan: what to do.
        out: a folder; the journal is kept there.
        resume: go on after the trials that the folder's journal holds.
        progress: hears of every finished trial.
    """
    make_writable(out)
    journal = TrialJournal(out / JOURNAL, plan.identity(), resume, plan.grid)
    _run_batches(plan, journal, progress or Silent())
    return _gathered(plan, journal)


def _check_search(name: str) -> None:
    if name not in SEARCHES:
        raise UnknownName("search", name, SEARCHES)
    if name == "bandit":
        check_botorch()


def _grid(name: str, grid: Grid, assignments: list[str]) -> tuple[Grid, tuple[str, ...]]:
    """The grid without the settings that were set, and which these are."""
    given = {split_assignment(text)[0] for text in assignments}
    left = {name: values for name, values in grid.values.items() if name not in given}
    if not left:
        raise InvalidInput(f"nothing is left to tune: {name} tunes {', '.join(grid.values)}, and --set fixes all")
    return Grid(left), tuple(name for name in grid.values if name in given)


def _run_batches(plan: Plan, journal: TrialJournal, progress: Progress) -> None:
    """Run what the journal does not hold, batch by batch; record each trial as it comes in."""
    done = {trial.number for trial in journal.trials()}
    left = [batch for batch in plan.batches() if not done.issuperset(batch)]
    for batch in left[:1]:  # this may take long, and is told; what later trials need is then mostly there
        _make_ready(plan, _missing(plan, journal, batch), progress)
    progress.start(plan.trials, f"tuning {plan.tuning.task}")
    progress.advance(len(done.intersection(range(plan.trials))))
    try:
        for batch in left:
            for trial in _run_batch(plan, _missing(plan, journal, batch)):
                journal.add(trial)
                progress.advance()
    finally:
        progress.finish()


def _missing(plan: Plan, journal: TrialJournal, batch: range) -> dict[int, int]:
    """The points of a batch that are not recorded yet, by the numbers of their trials."""
    trials = journal.trials()
    known = {plan.grid.point(trial.settings): trial.value for trial in trials if trial.number < batch.start}
    recorded = {plan.grid.point(trial.settings) for trial in trials if trial.number in batch}
    chance = Chance(plan.settings.seed).child("tuning")
    suggested = SEARCHES[plan.search](plan.grid, known, plan.q, chance)
    numbers = sorted(set(batch) - {trial.number for trial in trials})
    return dict(zip(numbers, (point for point in suggested if point not in recorded), strict=False))


def _make_ready(plan: Plan, points: dict[int, int], progress: Progress) -> None:
    """Before any process asks for the data: two at once would both make it."""
    if plan.tuning.prepare is not None:
        for point in points.values():
            plan.tuning.prepare(plan.at(point), progress)


def _run_batch(plan: Plan, points: dict[int, int]) -> Iterator[Trial]:
    """The trials in parallel, as they are done; those whose process was ended have failed like others."""
    _make_ready(plan, points, Silent())
    work = (delayed(_run_trial)(plan.tuning, plan.at(point), number) for number, point in points.items())
    left = dict(points)
    try:
        for number, value, error, seconds in Parallel(n_jobs=plan.q, return_as="generator_unordered")(work):
            yield Trial(number, plan.grid.settings(left.pop(number)), value, error, seconds)
    except BrokenProcessPool:
        for number, point in left.items():
            yield Trial(number, plan.grid.settings(point), None, "its process was ended, perhaps for want of memory")


def _run_trial(tuning: Tuning, settings: Any, number: int) -> tuple[int, float | None, str, float]:
    """(number, value, why it failed, seconds)."""
    started, value, error = time.monotonic(), None, ""
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", TeacherWarning)
        try:
            found = tuning.validate(settings, settings.seed)
            value = found if math.isfinite(found) else None
            error = "" if math.isfinite(found) else f"{tuning.metric} came out as {found}"
        except Exception as trouble:  # whatever goes wrong at one point says nothing about the others
            error = f"{type(trouble).__name__}: {trouble}"
    return number, value, error, round(time.monotonic() - started, 3)


def _gathered(plan: Plan, journal: TrialJournal) -> Tuned:
    trials = tuple(trial for trial in journal.trials() if trial.number < plan.trials)
    best = max(trials, key=lambda trial: -math.inf if trial.value is None else trial.value)  # of equal ones the first
    if best.value is None:
        raise NumericalTrouble(f"all {len(trials)} trials failed, the first with: {best.error}; see {journal.path}")
    return Tuned(
        task=plan.tuning.task,
        metric=plan.tuning.metric,
        size=plan.size,
        search=plan.search,
        q=plan.q,
        seed=plan.settings.seed,
        settings={**{name: getattr(plan.settings, name) for name in plan.fixed}, **best.settings},
        value=best.value,
        trials=trials,
        provenance=made_with(),
    )
