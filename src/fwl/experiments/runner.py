"""Run an experiment: units of work over all cores, journalled, resumable; scores become rows."""

from __future__ import annotations

import dataclasses
import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from joblib import Parallel, delayed, effective_n_jobs
from threadpoolctl import threadpool_limits

from fwl.errors import InvalidInput, OutputTrouble, TeacherWarning, UnknownName
from fwl.evaluate.significance import beaten, compare
from fwl.experiments.declare import SIZES, Experiment, Outcome, Score, Variation
from fwl.experiments.journal import Journal
from fwl.experiments.provenance import installed_version, provenance
from fwl.experiments.settings import apply_settings, change_settings
from fwl.experiments.tuned import with_tuned
from fwl.progress import Progress, Silent
from fwl.records import Result, Row

_PATHS = ("data", "encoder", "embeddings")  # settings that name files or folders
Unit = tuple[int, int, tuple[str, ...]]  # (variation, seed, methods)


def run_experiment(
    experiment: Experiment,
    out: Path,
    *,
    size: str = "paper",
    seeds: int | None = None,
    methods: Sequence[str] | None = None,
    assignments: Iterable[str] = (),
    resume: bool = False,
    jobs: int = -1,
    progress: Progress | None = None,
) -> Result:
    """Run every unit that is not in the journal yet and gather all into a result.

    Args:
        experiment: what to run.
        out: the run's folder; the journal is kept there.
        size: "tiny", "reduced" or "paper".
        seeds: how many, instead of the size's number.
        methods: which rows, instead of all.
        assignments: `key=value` texts onto the experiment's settings, or `@FILE` for what `fwl tune` found.
        resume: keep the journal's finished units instead of starting afresh.
        jobs: processes; -1 for one per core.
        progress: hears of every finished unit.
    """
    settings = settings_for(experiment, size, assignments)
    experiment = replace(experiment, variations=experiment.variations_at(size))
    chosen = _chosen_methods(experiment, methods)
    grid = [change_settings(settings, variation.changes) for variation in experiment.variations]
    seed_list = _seed_list(settings.seed, experiment.sizes[size].seeds if seeds is None else seeds)
    make_writable(out)
    watch = _Stopwatch()
    if experiment.prepare is not None:
        for cell in grid:
            experiment.prepare(cell, progress or Silent())
    identity = {"experiment": experiment.name, "size": size, "version": installed_version()}
    journal = Journal(out / "journal.jsonl", {**identity, "settings": plain_settings(settings)}, resume)
    units = [(v, seed, chosen) for seed in seed_list for v in range(len(grid))]  # neighbours may share their step 1
    pictured = seed_list[0] if experiment.pictured else None
    _run_missing(experiment, grid, units, journal, pictured, jobs, progress or Silent(), watch)
    wanted = [o for v, seed, o in _merged(journal, experiment) if seed in seed_list]
    return Result(
        experiment=experiment.name,
        title=experiment.title,
        size=size,
        settings=plain_settings(settings),
        provenance=provenance(seed_list, {o.data_sha256 for o in wanted}, journal.seconds + watch.lap()),
        rows=_rows(experiment, chosen, seed_list, journal, with_paper=_is_the_papers(experiment, size, settings)),
        curves=next((o.curves for o in wanted if o.curves), {}),
    )


def settings_for(experiment: Experiment, size: str, assignments: Iterable[str]) -> Any:
    """The experiment's settings at one size, with `key=value` texts and tuned ones, `@FILE`, applied on top."""
    if size not in SIZES:
        raise UnknownName("size", size, SIZES)
    own = change_settings(experiment.settings, experiment.sizes[size].changes)
    return apply_settings(own, with_tuned(experiment, assignments))


def _is_the_papers(experiment: Experiment, size: str, settings: Any) -> bool:
    """Whether nothing but seed and folders was changed: only then do the paper's figures belong beside ours."""
    if experiment.needs_data and not settings.data:
        return False  # made-up data is nobody else's
    its_own = {name: getattr(settings, name) for name in ("seed", *_PATHS) if hasattr(settings, name)}
    return bool(settings_for(experiment, size, [f"{name}={value}" for name, value in its_own.items()]) == settings)


def _chosen_methods(experiment: Experiment, methods: Sequence[str] | None) -> tuple[str, ...]:
    if methods is not None and not methods:
        raise InvalidInput(f"no method was named; known: {', '.join(experiment.methods)}")
    for name in methods or ():
        if name not in experiment.methods:
            raise UnknownName("method", name, experiment.methods)
    return tuple(m for m in experiment.methods if methods is None or m in methods)


def _seed_list(first: int, count: int) -> list[int]:
    if count < 1:
        raise InvalidInput(f"seeds={count}: expected at least 1")
    return list(range(first, first + count))


def make_writable(out: Path) -> None:
    """Make a folder and see whether one may write there, before work is done for it."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        probe = out / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise OutputTrouble(f"cannot write to folder {out} ({error.strerror}); name another with --out") from error


def _run_missing(
    experiment: Experiment,
    grid: list[Any],
    units: list[Unit],
    journal: Journal,
    pictured: int | None,
    jobs: int,
    progress: Progress,
    watch: _Stopwatch,
) -> None:
    """Run what the journal does not hold, in parallel; record each unit as it comes in."""
    whole = _missing(units, journal)
    missing = _shared_out(whole, experiment, jobs)
    progress.start(len(units) - len(whole) + len(missing), experiment.name)
    progress.advance(len(units) - len(whole))
    work = (
        delayed(_run_unit)(experiment, grid[v], unit, experiment.variations[v].dataset, unit[1] == pictured)
        for unit in missing
        for v in unit[:1]
    )
    try:
        for (variation, seed, _), outcome in Parallel(n_jobs=jobs, return_as="generator_unordered")(work):
            journal.add(variation, seed, outcome, watch.lap())
            progress.advance()
    finally:
        progress.finish()


class _Stopwatch:
    def __init__(self) -> None:
        self._since = time.monotonic()

    def lap(self) -> float:
        """The seconds since the last lap, or the start."""
        since, self._since = self._since, time.monotonic()
        return self._since - since


def _missing(units: list[Unit], journal: Journal) -> list[Unit]:
    """The units, or the methods of a unit, that are not recorded yet."""
    done: dict[tuple[int, int], set[str]] = {}
    for variation, seed, outcome in journal.finished():
        done.setdefault((variation, seed), set()).update(score.method for score in outcome.scores)
    left = [(v, s, tuple(m for m in methods if m not in done.get((v, s), ()))) for v, s, methods in units]
    return [unit for unit in left if unit[2]]


def _shared_out(units: list[Unit], experiment: Experiment, jobs: int) -> list[Unit]:
    """The units; the last ones, beside which a process would have nothing to do, in groups of methods."""
    last = len(units) - len(units) % effective_n_jobs(jobs)
    return units[:last] + [(v, s, group) for v, s, methods in units[last:] for group in experiment.groups(methods)]


def _run_unit(
    experiment: Experiment, settings: Any, unit: Unit, dataset: str, with_curves: bool
) -> tuple[Unit, Outcome]:
    # One thread per worker: the solves and students are small, and threads would only wait for each other.
    torch.set_num_threads(1)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", TeacherWarning)  # hundreds of units would say the same; results tell it better
        return unit, experiment.measure(settings, dataset, unit[2], unit[1], with_curves)


def _merged(journal: Journal, experiment: Experiment) -> list[tuple[int, int, Outcome]]:
    """What was recorded, in the order of variations, seeds and the table's rows, whenever it was finished."""

    def place(entry: tuple[int, int, Outcome]) -> tuple[int, int, int]:
        variation, seed, outcome = entry
        return variation, seed, min((experiment.methods.index(score.method) for score in outcome.scores), default=0)

    return sorted(journal.finished(), key=place)


def _rows(
    experiment: Experiment, methods: tuple[str, ...], seeds: list[int], journal: Journal, with_paper: bool
) -> tuple[Row, ...]:
    rows: list[Row] = []
    merged = [entry for entry in _merged(journal, experiment) if entry[1] in seeds]
    for index, variation in enumerate(experiment.variations):
        scores = [(s, score) for v, s, o in merged if v == index for score in o.scores]
        rows += _rows_of(variation if with_paper else replace(variation, paper={}), methods, scores)
    return tuple(rows)


def _rows_of(variation: Variation, methods: tuple[str, ...], scores: list[tuple[int, Score]]) -> list[Row]:
    """The rows of one variation, metric by metric, methods in the table's order, values in the seeds' order."""
    rows, first = [], scores[0][1].metric if scores else ""
    for dataset, metric, lower in dict.fromkeys((s.dataset, s.metric, s.lower_is_better) for _, s in scores):
        every = {
            m: tuple(s.value for _, s in scores if (s.dataset, s.metric, s.method) == (dataset, metric, m))
            for m in methods
        }
        values = {m: found for m, found in every.items() if found}  # some metrics are of some methods only
        paper = variation.paper if metric == first else {}
        p_values = compare(_compared_over(scores, dataset, metric, values), lower)
        rows += [
            Row(
                dataset=dataset,
                method=m,
                metric=metric,
                lower_is_better=lower,
                values=values[m],
                mean=float(np.mean(values[m])),
                std=float(np.std(values[m], ddof=1)) if len(values[m]) > 1 else 0.0,
                paper=paper.get((dataset, m), paper.get(m)),
                better_than=beaten(p_values[m]),
                p_values=p_values[m],
                at=dict(variation.at),
            )
            for m in values
        ]
    return rows


def _compared_over(
    scores: list[tuple[int, Score]], dataset: str, metric: str, values: dict[str, tuple[float, ...]]
) -> dict[str, tuple[float, ...]]:
    """What methods are compared over: what each score is the mean of, averaged over seeds; else the seeds' values."""
    each = {
        m: [s.each for _, s in scores if (s.dataset, s.metric, s.method) == (dataset, metric, m) and s.each]
        for m in values
    }
    if not all(each.values()):
        return values
    return {m: tuple(np.mean(several, axis=0).tolist()) for m, several in each.items()}


def plain_settings(settings: Any) -> dict[str, Any]:
    """As JSON can hold them; of a path only its name, for results tell what was read by its digest."""
    plain: dict[str, Any] = {}
    for name, value in dataclasses.asdict(settings).items():
        plain[name] = list(value) if isinstance(value, tuple) else Path(value).name if name in _PATHS else value
    return plain
