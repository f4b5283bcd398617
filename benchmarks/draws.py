"""What benchmarks over draws share: arguments, draws side by side, going on after an interruption."""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from benchmarks.weak_sets import READERS, WRENCH
from fwl.errors import TeacherWarning
from fwl.threads import one_thread

Row = dict[str, Any]
Measure = Callable[[Any, int], Row]  # one draw of a set
Flat = Callable[[str, Sequence[Row]], list[Row]]  # the rows of a table, of all draws of a set
Show = Callable[[str, Sequence[Row]], None]
Readers = Mapping[str, Callable[[Path], Any]]


def parser_of(description: str | None, readers: Readers = READERS) -> argparse.ArgumentParser:
    """The arguments that all of them take; the sets are those that `readers` reads."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder that has the sets in it")
    parser.add_argument("--sets", nargs="+", choices=sorted(readers), default=WRENCH)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="the first draw")
    parser.add_argument("--encoder", help="the folder of a sentence encoder; a convolutional student without one")
    parser.add_argument("--choosing", action="store_true", help="test on rows that choices may be made by")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", type=Path, help="also write the rows here, and every draw beside")
    parser.add_argument("--resume", action="store_true", help="keep the draws that stand beside --json already")
    return parser


def run_draws(
    options: argparse.Namespace, measure: Measure, flat: Flat, show: Show, readers: Readers = READERS
) -> None:
    """Measure every draw of every set; what is done is written draw by draw."""
    seeds, place = range(options.first, options.first + options.draws), options.json
    done = _stored(place) if options.resume and place else {}
    wanted = [(name, seed) for name in options.sets for seed in seeds]
    for name in options.sets:
        missing = [seed for seed in seeds if (name, seed) not in done]
        data = readers[name](options.data)
        data = data.for_choosing() if options.choosing else data
        work = (delayed(_alone)(measure, data, seed) for seed in missing)
        for row in Parallel(options.workers, return_as="generator")(work):
            done[name, row["draw"]] = row
            if place:
                _write(_beside(place), [done[draw] for draw in wanted if draw in done])
        show(name, [done[name, seed] for seed in seeds])
    if place:
        rows = [row for name in options.sets for row in flat(name, [done[name, seed] for seed in seeds])]
        write_rows(place, rows, [done[draw] for draw in wanted])


def write_rows(path: Path, rows: Sequence[Row], draws: Sequence[Row]) -> None:
    """The rows of a table, and beside them every draw they were made of."""
    _write(path, rows)
    _write(_beside(path), draws)


def _alone(measure: Measure, data: Any, seed: int) -> Row:
    """One draw in a worker of its own."""
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", TeacherWarning)
        return {"set": data.name, "draw": seed, **measure(data, seed)}


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.stem}-draws.json")


def _stored(path: Path) -> dict[tuple[str, int], Row]:
    beside = _beside(path)
    rows = json.loads(beside.read_text()) if beside.exists() else []
    return {(row["set"], row["draw"]): row for row in rows}


def _write(path: Path, rows: Sequence[Row]) -> None:
    """Written aside and moved into place: being killed loses the draws in work, no others."""
    aside = path.with_suffix(".part")
    aside.write_text(json.dumps(rows, indent=1) + "\n")
    aside.replace(path)
