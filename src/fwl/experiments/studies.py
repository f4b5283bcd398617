"""Run whatever `fwl reproduce` knows by name: an experiment, or a study part by part into one result."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from fwl.errors import InvalidInput, UnknownName
from fwl.experiments.catalogue import find_experiment
from fwl.experiments.data_folders import Note, data_setting, data_settings
from fwl.experiments.declare import SIZES, Experiment, Study
from fwl.experiments.runner import run_experiment, settings_for
from fwl.experiments.settings import split_assignment
from fwl.experiments.tuned import tuned_task
from fwl.progress import Progress
from fwl.records import Result

Assignments = dict[str, list[str]]  # task -> its `key=value` texts


def run(
    name: str,
    out: Path,
    *,
    data: Path | None = None,
    size: str = "paper",
    seeds: int | None = None,
    methods: Sequence[str] | None = None,
    assignments: Iterable[str] = (),
    resume: bool = False,
    jobs: int = -1,
    progress: Progress | None = None,
    note: Note = lambda _: None,
) -> Result:
    """Run an experiment or a study by its name; what is in a journal below `out` is kept if `resume` says so.

    Args:
        name: one of the catalogue.
        out: the run's folder; a study has a folder for each of its tasks in it.
        data: the folder of an experiment's data; of a study's, one that has sentiment and ranking/COLLECTION below it.
            Without it a study runs the parts that make their own data, and at size "tiny" all.
        size: "tiny", "reduced" or "paper".
        seeds: how many, instead of the size's number.
        methods: which rows, instead of all.
        assignments: `key=value` texts, or `@FILE` for what `fwl tune` found; in a study `task.key=value` is for one
            part, and anything else for every part that has it.
        resume: keep what is finished instead of starting afresh.
        jobs: processes; -1 for one per core.
        progress: hears of every finished unit.
        note: hears what the user should know.
    """
    declared = find_experiment(name)
    if isinstance(declared, Study):
        given = _assignments_of(declared, [*assignments])
        given = {task: [*data_settings(declared, data).get(task, ()), *texts] for task, texts in given.items()}
        if size not in SIZES:
            raise UnknownName("size", size, SIZES)
        study = _runnable(declared, given, size, methods)
        _tell_what_is_left_out(study, _without_data(declared, given, size), note)
        options = {"size": size, "seeds": seeds, "resume": resume, "jobs": jobs, "progress": progress}
        return _run_study(study, out, given, methods, options)
    return run_experiment(
        declared,
        out,
        size=size,
        seeds=seeds,
        methods=methods,
        assignments=[*assignments, *data_setting(declared, data, size, note)],
        resume=resume,
        jobs=jobs,
        progress=progress,
    )


def _run_study(
    study: Study, out: Path, given: Assignments, methods: Sequence[str] | None, options: Mapping[str, Any]
) -> Result:
    results = {
        task: run_experiment(part, out / task, methods=_known(part, methods), assignments=given[task], **options)
        for task, part in study.parts.items()
    }
    return merged(study, options["size"], results)


def merged(study: Study, size: str, results: Mapping[str, Result]) -> Result:
    """The results of a study's parts as one; settings and what differs of the provenance are told part by part."""
    return Result(
        experiment=study.name,
        title=study.title,
        size=size,
        settings={task: result.settings for task, result in results.items()},
        provenance=_provenance({task: result.provenance for task, result in results.items()}),
        rows=tuple(row for result in results.values() for row in result.rows),
    )


def _provenance(parts: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    own = ("data_sha256", "seeds", "seconds")
    first = next(iter(parts.values()))
    digests = "".join(sorted(part["data_sha256"] for part in parts.values()))
    return {
        **{name: value for name, value in first.items() if name not in own},
        "data_sha256": hashlib.sha256(digests.encode()).hexdigest(),
        "seeds": sorted({seed for part in parts.values() for seed in part["seeds"]}),
        "seconds": round(sum(part["seconds"] for part in parts.values()), 1),
        "parts": {task: {name: part[name] for name in own} for task, part in parts.items()},
    }


def _runnable(study: Study, given: Assignments, size: str, methods: Sequence[str] | None) -> Study:
    """The study without parts that have no data, or none of the methods asked for."""
    _check_methods(study, methods)
    without = _without_data(study, given, size)
    left = {task: part for task, part in study.parts.items() if task not in without and _known(part, methods) != []}
    if not left:
        raise InvalidInput(
            f"{study.name} reads real data for {' and '.join(without)}; name the folder that has one for each task by "
            "--data DIR, or give --size tiny for made-up data"
        )
    for task, part in left.items():  # whatever is refused is refused before any part has begun
        settings_for(part, size, given[task])
    return replace(study, parts=left)


def _check_methods(study: Study, methods: Sequence[str] | None) -> None:
    known = list(dict.fromkeys(name for part in study.parts.values() for name in part.methods))
    if methods is not None and not methods:
        raise InvalidInput(f"no method was named; known: {', '.join(known)}")
    for name in methods or ():
        if name not in known:
            raise UnknownName("method", name, known)


def _tell_what_is_left_out(study: Study, without: Sequence[str], note: Note) -> None:
    if without:
        need = "need" if len(without) > 1 else "needs"
        note(
            f"{study.name} runs on {' and '.join(study.parts)} only: {' and '.join(without)} {need} --data DIR, the "
            "folder that has one for each task"
        )


def _without_data(study: Study, given: Assignments, size: str) -> list[str]:
    """The parts that need real data, and have none."""
    return [task for task, part in study.parts.items() if size != "tiny" and _wants_data(part, given[task])]


def _wants_data(part: Experiment, texts: Iterable[str]) -> bool:
    return part.needs_data and not any(text.partition("=")[0].strip() == "data" for text in texts)


def _known(part: Experiment, methods: Sequence[str] | None) -> list[str] | None:
    """Those of the methods that this part has."""
    return None if methods is None else [name for name in methods if name in part.methods]


def _assignments_of(study: Study, texts: Sequence[str]) -> Assignments:
    """Each text to the parts that it is for."""
    given: Assignments = {task: [] for task in study.parts}
    for text in texts:
        own, tasks = _addressed(study, text)
        for task in tasks:
            given[task].append(own)
    return given


def _addressed(study: Study, text: str) -> tuple[str, list[str]]:
    """A text as its parts read it, and these."""
    if text.startswith("@"):
        return text, _tuned_alike(study, text)
    name, value = split_assignment(text)
    task, dot, own = name.rpartition(".")
    if dot and task not in study.parts:
        raise UnknownName("part", task, study.parts)
    if dot:
        return f"{own}={value}", [task]
    having = [task for task, part in study.parts.items() if name in _settings_of(part)]
    if not having:
        raise UnknownName("setting", name, dict.fromkeys(n for p in study.parts.values() for n in _settings_of(p)))
    return text, having


def _settings_of(part: Experiment) -> list[str]:
    return [field.name for field in fields(part.settings)]


def _tuned_alike(study: Study, text: str) -> list[str]:
    """The parts whose student was tuned in a file."""
    tuned = tuned_task(Path(text[1:]))
    found = [task for task, part in study.parts.items() if part.tuning is not None and part.tuning.task == tuned]
    if not found:
        raise InvalidInput(
            f"--set {text}: it was tuned for {tuned}, and no part of {study.name} is; its parts are: "
            f"{', '.join(study.parts)}"
        )
    return found
