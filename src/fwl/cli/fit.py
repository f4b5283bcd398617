"""`fwl fit`: learn from a user's own tables."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fwl.cli.progress import progress_for, saying
from fwl.errors import InvalidInput, TeacherWarning

if TYPE_CHECKING:
    from fwl.cli.own_tables import OwnTables
    from fwl.estimators.comparing import Compared
    from fwl.estimators.saving import Estimator

STRONG = "Rows you trust: CSV, TSV, JSONL or Parquet; may be given often."
WEAK = "Rows labelled by rules, a crowd or a model."


def fit(
    strong: Annotated[list[Path], typer.Option(help=STRONG)],
    weak: Annotated[Path, typer.Option(help=WEAK)],
    label: Annotated[str, typer.Option(help="The column of the strong labels.")],
    out: Annotated[Path, typer.Option(help="Folder for the model.")],
    weak_label: Annotated[
        str | None, typer.Option(help="The weak labels' column, or several with commas between.  [default: as --label]")
    ] = None,
    text: Annotated[str | None, typer.Option(help="A column of texts to learn from.")] = None,
    features: Annotated[
        str | None, typer.Option(help="Columns to learn from, with commas between.  [default: all that are left]")
    ] = None,
    id_: Annotated[
        str | None, typer.Option("--id", help="The column that names rows.  [default: id, where all files have it]")
    ] = None,
    task: Annotated[str, typer.Option(help="auto, classify or regress.")] = "auto",
    student: Annotated[str, typer.Option(help="auto, perceptron, text_cnn, encoder or tuned_encoder.")] = "auto",
    encoder: Annotated[
        Path | None, typer.Option(help="Folder of a sentence encoder, for texts.  [default: one that is installed]")
    ] = None,
    teacher: Annotated[str, typer.Option(help="auto, exact or clustered.")] = "auto",
    method: Annotated[
        str | None, typer.Option(help="FWL_auto, FWL, NN_W->S, LR_S, ...  [default: FWL_auto, or the winner]")
    ] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Compare all methods on the strong rows; keep the one worth it.")
    ] = False,
    beta: Annotated[str, typer.Option(help="auto, or a number from 0 up.")] = "auto",
    combine: Annotated[str, typer.Option(help="Several annotators: majority or dawid_skene.")] = "majority",
    maps: Annotated[
        list[str] | None, typer.Option("--map", help="WEAK=CLASS, or WEAK= for an abstention; may be given often.")
    ] = None,
    assignments: Annotated[
        list[str] | None, typer.Option("--set", help="key=value of the estimator; may be given often.")
    ] = None,
    seed: Annotated[int, typer.Option(help="For whatever is drawn.")] = 0,
    as_machine: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bar and no notes.")] = False,
) -> None:
    """Learn from few rows you trust and many you don't; write the model to a folder."""
    from fwl.cli.own_model import new_estimator, noted, settings_for
    from fwl.cli.own_tables import read_own
    from fwl.cli.reading import encoder_for
    from fwl.cli.roles import Asked
    from fwl.estimators.saving import save_model
    from fwl.storage import check_writable

    check_writable(out)  # before anything that takes long
    asked = Asked(label, _several(weak_label), text, _several(features), id_)
    with saying(progress_for(quiet), "reading"):
        own = read_own(strong, weak, asked, task, maps or ())
    named = {"method": method or "FWL_auto", "student": student, "teacher": teacher, "random_state": seed}
    reader = encoder_for(own, student, encoder, quiet)
    read = {} if reader is None else {"encoder": str(reader)}
    settings = settings_for(own, {**named, **_beta(beta), **read}, combine, assignments or ())
    model, data = new_estimator(own, settings), _data(own)
    with _texts_offered(own):
        compared = _compared(model, data, quiet) if compare else None
        model = compared.winner(model) if compared is not None and method is None else model
        warned = _fit(model, data, quiet)
    with saying(progress_for(quiet), "saving"):
        save_model(model, out, {**noted(own, strong), "compared": None if compared is None else compared.as_dict()})
    if not quiet:
        _tell_notes(own, model, warned)
    _show(own, model, out, compared, as_machine)


def _several(names: str | None) -> tuple[str, ...] | None:
    """Names with commas between."""
    return None if names is None else tuple(name.strip() for name in names.split(","))


def _beta(beta: str) -> dict[str, Any]:
    if beta == "auto":
        return {}
    try:
        number = float(beta)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise InvalidInput(f"--beta {beta}: expected auto, or a number from 0 up")
    return {"beta": number}


def _data(own: OwnTables) -> dict[str, Any]:
    """What the estimator learns from."""
    from fwl.cli.own_tables import samples_of
    from fwl.records import WeakSet

    weak = WeakSet(samples_of(own.weak.table, own.roles), own.weak_of_pool())
    X, y = samples_of(own.strong.table, own.roles), own.strong.labels
    return {"X": X, "y": y, "weak": weak, "y_weak": own.weak_of_strong()}


@contextmanager
def _texts_offered(own: OwnTables) -> Iterator[None]:
    """Where no column can be learned from, texts may be among them."""
    try:
        yield
    except InvalidInput as error:
        if own.roles.text is not None or not str(error).startswith("no column can be learned from"):
            raise
        raise InvalidInput(f"{error}; a column of texts is learned from with --text") from error


def _compared(model: Estimator, data: dict[str, Any], quiet: bool) -> Compared:
    from joblib import cpu_count

    from fwl.estimators.comparing import compare_on

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TeacherWarning)  # of dozens of teachers; what they are worth is in the scores
        return compare_on(model, **data, workers=cpu_count(), progress=progress_for(quiet))


def _fit(model: Estimator, data: dict[str, Any], quiet: bool) -> list[str]:
    """Fit, and what there was to beware of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", TeacherWarning)
        progress = progress_for(quiet)
        with saying(progress, "preparing"):
            model.fit(**data, progress=progress)
    return list(dict.fromkeys(str(warning.message) for warning in caught))


def _tell_notes(own: OwnTables, model: Estimator, warned: list[str]) -> None:
    for warning in warned:
        typer.echo(f"note: {warning}", err=True)
    for path, rows in own.strong.left_out.items():
        if rows:
            typer.echo(f"note: {rows} rows of {path} have no label and are left out", err=True)
    for column in model.report_["samples"].get("dropped", ()):
        typer.echo(f"note: column {column['column']!r} is not learned from ({column['why']})", err=True)


def _show(own: OwnTables, model: Estimator, out: Path, compared: Compared | None, as_machine: bool) -> None:
    from fwl.cli.sentences import annotator_told, fit_told

    if as_machine:
        told = {} if compared is None else compared.as_dict()
        summary = {"out": str(out), "task": own.task, "classes": own.classes, "method": model.method}
        typer.echo(json.dumps({**summary, "roles": own.roles.plain(), "report": model.report_, **told}))
        return
    typer.echo(fit_told(own.classes, own.roles.label, model.method, model.report_))
    for annotator in model.report_["annotators"]:
        typer.echo(annotator_told(annotator))
    if compared is not None:
        _show_comparison(compared, model.method)
    typer.echo(f"written: {out}")


def _show_comparison(compared: Compared, kept: str) -> None:
    from rich.console import Console

    from fwl.cli.sentences import comparison_table, kept_told

    Console(width=None if Console().is_terminal else 120).print(comparison_table(compared.comparison))
    for sentence in (*compared.verdict.sentences, kept_told(kept, compared.verdict.kept)):
        typer.echo(sentence)
