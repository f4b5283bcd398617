"""A saved model as the story that its page tells."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fwl.cli.doubted import Judged, judge_file
from fwl.cli.own_model import OwnModel
from fwl.cli.sentences import fit_told, kept_told
from fwl.errors import InvalidInput
from fwl.estimators.labels import NumberLabels
from fwl.learn.compare_methods import ENOUGH
from fwl.progress import Progress
from fwl.report.model_story import ModelStory, Reliability, binned


def story_of(model: OwnModel, weak: Path | None, most: int, progress: Progress) -> ModelStory:
    """Everything that can be said of a model.

    Args:
        model: opened.
        weak: where its weak file is; None for where it was. There it may be missing: the rest is told without it.
        most: doubted labels to list.
        progress: hears of the weak file's rows.
    """
    judged, missing = _judged(model, weak, most, progress)
    estimator, report = model.estimator, model.estimator.report_
    told = fit_told(model.classes, model.roles.label, estimator.method, report)
    pool = estimator.fidelity_[: estimator._fitted.pool_rows]
    return ModelStory(
        label=model.roles.label,
        told=told,
        method=estimator.method,
        sentences=_sentences(model),
        compared=model.notes.get("compared"),
        fidelity={"": binned(pool)} if judged is None else judged.fidelity,
        reliability=_reliability(model),
        annotators=report["annotators"],
        doubted=None if judged is None else judged.table(),
        missing=missing,
        provenance=_provenance(model),
    )


def _judged(model: OwnModel, weak: Path | None, most: int, progress: Progress) -> tuple[Judged | None, str | None]:
    try:
        path = model.weak_file(weak)
    except InvalidInput as error:
        if weak is not None:  # the user says that this is it
            raise
        return None, str(error)
    return judge_file(model, path, most, progress), None


def _sentences(model: OwnModel) -> list[str]:
    """The comparison's verdict; without one, what can be said all the same."""
    compared = model.notes.get("compared")
    if compared is not None:
        verdict = compared["verdict"]
        return [*verdict["sentences"], kept_told(model.estimator.method, verdict["kept"])]
    report = model.estimator.report_
    said = [
        "Whether this is better than a simpler method is not known: no comparison was run.",
        _on_comparing(report["strong"]["rows"]),
        *_on_the_teacher(report.get("left_out"), report["strong"]["rows"]),
    ]
    worth = report.get("worth") or {}
    return [*said, *(f"Beware: {warning}." for warning in worth.get("warnings", ()))]


def _on_comparing(strong: int) -> str:
    tells = "the strong rows will tell which method to use, by how much and how sure"
    if strong < ENOUGH:
        return f"With {ENOUGH} strong rows or more, fit again with --compare, and {tells}."
    return f"Fit again with --compare, and {tells}."


def _on_the_teacher(left_out: Mapping[str, Any] | None, strong: int) -> list[str]:
    if left_out is None:
        return []
    if "accuracy" in left_out:
        how = f"is right on {left_out['accuracy']:.0%} of the {strong:,} strong rows"
    else:
        how = f"errs by {left_out['rmse']:.4g} (root mean square) on the {strong:,} strong rows"
    return [f"The teacher, which says what to doubt, {how} when it is not shown their label."]


def _reliability(model: OwnModel) -> Reliability | None:
    """Of the method in the model, if it was compared; else of the teacher."""
    compared, shares = model.notes.get("compared"), bool(model.classes)
    if compared is not None:
        scores, advised = compared["comparison"]["scores"], compared["verdict"]["kept"]
        method = advised if advised.startswith(model.estimator.method) else model.estimator.method
        bins = scores.get(method, {}).get("reliability")
        if bins:
            return Reliability(method, True, shares, [_on_own_scale(model, bin_) for bin_ in bins])
    left_out = model.estimator.report_.get("left_out")
    return None if left_out is None else Reliability("the teacher", False, shares, left_out["reliability"])


def _on_own_scale(model: OwnModel, bin_: Mapping[str, Any]) -> dict[str, Any]:
    """A comparison's numbers are standardised."""
    labels = model.estimator._fitted.labels
    if not isinstance(labels, NumberLabels):
        return dict(bin_)
    return {name: v if name == "count" else v * labels.scale + labels.centre for name, v in bin_.items()}


def _provenance(model: OwnModel) -> dict[str, dict[str, Any]]:
    notes, estimator = model.notes, model.estimator
    made, strong = notes.get("made_with", {}), notes["strong"]
    digests = strong.get("sha256", [None] * len(strong["paths"]))
    files = {f"strong, {path}": digest or "not noted" for path, digest in zip(strong["paths"], digests, strict=True)}
    settings = {name: _plainly(value) for name, value in estimator.get_params(deep=False).items()}
    packages = {name: value for name, value in made.items() if name != "packages"} | made.get("packages", {})
    columns = {name: _plainly(value) for name, value in notes["roles"].items() if value}
    return {
        "Files and their SHA-256": {**files, f"weak, {notes['weak']['path']}": notes["weak"]["sha256"]},
        "Columns": {"task": notes["task"], **columns},
        "Settings": settings,
        "Choices that the data made": {name: _plainly(value) for name, value in estimator.choices_.items()},
        "Versions": {"model": str(model.folder.resolve()), **packages},
    }


def _plainly(value: Any) -> Any:
    """A setting as the page shows it."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_within(part)}" for name, part in value.items())
    return "none" if value is None else value


def _within(part: Any) -> Any:
    """The same inside another: measured numbers with a few digits, what has parts itself in brackets."""
    if isinstance(part, Mapping):
        return f"({_plainly(part)})"
    return f"{part:.4g}" if isinstance(part, float) else part
