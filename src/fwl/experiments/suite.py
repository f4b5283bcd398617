"""Everything of the paper, in order: which runs there are, how long each takes, and how all are run and resumed."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fwl.errors import InvalidInput, UnknownName
from fwl.experiments import studies
from fwl.experiments.catalogue import find_experiment
from fwl.experiments.declare import SIZES, Experiment, Study
from fwl.experiments.journal import Lines
from fwl.experiments.provenance import installed_version
from fwl.experiments.runner import make_writable, plain_settings, settings_for
from fwl.progress import Progress, Silent
from fwl.records import Result

JOURNAL, STORED = "journal.jsonl", "results.json"
RANKING, MADE = "ranking", "ranking-made"
PRIOR = 0.1  # how much the declared seconds of the whole count against those measured so far, as a share of the whole

# What is run, in this order, and the seconds each takes on two cores: what is left is told from them. Those at size
# "reduced" were measured, of sentiment with the ten minutes in which tweets are encoded for the first time.
SUITE: dict[str, dict[str, float]] = {
    "toy": {"tiny": 4, "reduced": 40, "paper": 181},
    "beta": {"tiny": 13, "reduced": 270, "paper": 2500},
    "learning-curve": {"tiny": 11, "reduced": 620, "paper": 6000},
    "annotators": {"tiny": 4, "reduced": 250, "paper": 2500},
    "sampling": {"tiny": 4, "reduced": 320, "paper": 4000},
    "teachers": {"tiny": 6, "reduced": 350, "paper": 3000},
    "sentiment": {"tiny": 4, "reduced": 2300, "paper": 14_000},
    "ranking": {"tiny": 9, "reduced": 650, "paper": 9000},  # each collection
}


@dataclass(frozen=True)
class Entry:
    """One run of the suite.

    Attributes:
        name: of its folder.
        experiment: what is run, by its name in the catalogue.
        cost: the seconds it is expected to take.
        data: the folder it reads.
    """

    name: str
    experiment: str
    cost: float
    data: Path | None = None


@dataclass(frozen=True)
class Standing:
    """How far the suite is: which entry of how many, and the seconds left in all."""

    number: int
    total: int
    name: str
    seconds_left: float

    def __str__(self) -> str:
        return f"entry {self.number} of {self.total}: {self.name}; about {duration(self.seconds_left)} left"


@dataclass(frozen=True)
class Ended:
    """What became of the entries, by name in the suite's order."""

    finished: tuple[str, ...]
    failed: Mapping[str, Exception] = field(default_factory=dict)


Stand = Callable[[Standing], None]
Keep = Callable[[Result, Path], object]  # writes a run's files into its folder; results.json comes first


def entries(size: str, data: Path | None) -> list[Entry]:
    """The suite's runs at one size on one data folder; whatever is missing is refused here."""
    if size not in SIZES:
        raise UnknownName("size", size, SIZES)
    if data is None and size != "tiny":
        raise InvalidInput(
            "all reads real data; name the folder above sentiment and ranking by --data DIR, or give --size tiny for "
            "made-up data"
        )
    collections = {MADE: None} if data is None else _collections(data)
    plain = [Entry(name, name, costs[size], _folder(name, data)) for name, costs in SUITE.items() if name != RANKING]
    return plain + [Entry(name, RANKING, SUITE[RANKING][size], place) for name, place in collections.items()]


def _folder(name: str, data: Path | None) -> Path | None:
    """What `--data` would be for one entry alone: its own folder, or for a study the one above."""
    declared = find_experiment(name)
    if data is None or not declared.needs_data:
        return None
    return data if isinstance(declared, Study) else data / name


def _collections(data: Path) -> dict[str, Path]:
    if not data.is_dir():
        raise InvalidInput(f"--data {data}: there is no such folder")
    found = sorted({path.parent for path in data.glob("ranking/*/corpus.jsonl*")})
    for wanted, there in (("sentiment", (data / "sentiment").is_dir()), ("ranking/COLLECTION", bool(found))):
        if not there:
            raise InvalidInput(
                f"--data {data}: there is no {wanted} in it; expected a folder that has sentiment and "
                "ranking/COLLECTION below it"
            )
    return {f"{RANKING}-{place.name}": place for place in found}


def run_suite(
    suite: Iterable[Entry],
    out: Path,
    *,
    size: str,
    keep: Keep,
    seeds: int | None = None,
    resume: bool = False,
    jobs: int = -1,
    progress: Progress | None = None,
    stand: Stand = lambda _: None,
) -> Ended:
    """Run every entry that is not finished yet, each into its folder; one that fails does not keep others from running.

    Args:
        suite: what to run, in this order.
        out: the folder of all.
        size: "tiny", "reduced" or "paper".
        keep: writes what an entry brought into its folder.
        seeds: how many, instead of each entry's own number.
        resume: leave finished entries as they are and go on with the others, instead of starting afresh.
        jobs: processes; -1 for one per core.
        progress: hears of every finished unit.
        stand: hears how far the whole is.
    """
    planned = list(suite)
    if seeds is not None and seeds < 1:
        raise InvalidInput(f"seeds={seeds}: expected at least 1")
    make_writable(out)
    journal = _Finished(out / JOURNAL, _identity(planned, size, seeds), resume)
    clock = Clock({entry.name: entry.cost for entry in planned})
    failed: dict[str, Exception] = {}
    for number, entry in enumerate(planned, start=1):
        if entry.name in journal.seconds and (out / entry.name / STORED).is_file():
            clock.done(entry.name, journal.seconds[entry.name])
            continue
        listener = _Listener(progress or Silent(), stand, clock, (number, len(planned), entry.name))
        try:
            result = _run(entry, out / entry.name, size, seeds, resume, jobs, listener)
            keep(result, out / entry.name)
            earlier = float(result.provenance["seconds"])  # counts what was done before an interruption too
            journal.add(entry.name, clock.done(entry.name, max(earlier, clock.since())))
        except Exception as error:
            failed[entry.name] = error
            clock.done(entry.name)
    return Ended(tuple(entry.name for entry in planned if entry.name not in failed), failed)


def _run(
    entry: Entry, folder: Path, size: str, seeds: int | None, resume: bool, jobs: int, progress: _Listener
) -> Result:
    progress.begin()
    return studies.run(
        entry.experiment, folder, data=entry.data, size=size, seeds=seeds, resume=resume, jobs=jobs, progress=progress
    )


def _identity(suite: Iterable[Entry], size: str, seeds: int | None) -> dict[str, Any]:
    """What has to be the same for a run to be gone on with."""
    planned = list(suite)
    declared = [_declared(part, size) for entry in planned for part in _parts(entry)]
    return {
        "suite": [entry.name for entry in planned],
        "size": size,
        "seeds": seeds,
        "version": installed_version(),
        "declared": hashlib.sha256(json.dumps(declared, sort_keys=True).encode()).hexdigest(),
    }


def _declared(part: Experiment, size: str) -> list[Any]:
    cells = [[variation.dataset, dict(variation.changes)] for variation in part.variations]
    return [part.name, list(part.methods), cells, plain_settings(settings_for(part, size, ()))]


def _parts(entry: Entry) -> list[Experiment]:
    declared = find_experiment(entry.experiment)
    return list(declared.parts.values()) if isinstance(declared, Study) else [declared]


class _Finished(Lines):
    """The suite's own journal: which entries are finished, and how long each took."""

    @property
    def seconds(self) -> dict[str, float]:
        return {entry["entry"]: entry["seconds"] for entry in self._entries}

    def add(self, name: str, seconds: float) -> None:
        self._append({"entry": name, "seconds": round(seconds, 1)})

    def _check(self, entry: dict[str, Any]) -> None:
        str(entry["entry"]), float(entry["seconds"])


class Clock:
    """How long the rest takes: the declared seconds, at the pace of what is done.

    Before anything is done the declared seconds are all there is to go by; they count as a tenth of the whole
    afterwards, so that a short first entry does not speak for the long ones.

    Args:
        costs: the declared seconds of every entry.
        now: tells the time.
    """

    def __init__(self, costs: Mapping[str, float], now: Callable[[], float] = time.monotonic) -> None:
        self._costs, self._now = dict(costs), now
        self._taken: dict[str, float] = {}
        self._begun = now()

    def begin(self) -> None:
        """An entry begins."""
        self._begun = self._now()

    def since(self) -> float:
        """Seconds since the entry under way began, or was gone on with."""
        return self._now() - self._begun

    def done(self, name: str, seconds: float | None = None) -> float:
        """An entry is done; what it took is told, or was measured since it began."""
        self._taken[name] = self.since() if seconds is None else seconds
        return self._taken[name]

    def left(self, name: str) -> float:
        """The seconds that this entry, which is under way, and all after it will take."""
        under_way = max(0.0, self._costs[name] * self.pace - self.since())
        return under_way + self.pace * sum(c for n, c in self._costs.items() if n != name and n not in self._taken)

    @property
    def pace(self) -> float:
        """Seconds that pass for each second declared."""
        prior = PRIOR * sum(self._costs.values())
        return (prior + sum(self._taken.values())) / (prior + sum(self._costs[name] for name in self._taken))


@dataclass(frozen=True, eq=False)
class _Listener:
    """What an entry tells, passed on; and with it how far the whole is."""

    whole: Progress
    stand: Stand
    clock: Clock
    place: tuple[int, int, str]

    def begin(self) -> None:
        self.clock.begin()
        self._tell()

    def start(self, total: int, what: str) -> None:
        self._tell()
        self.whole.start(total, what)

    def advance(self, amount: int = 1) -> None:
        self.whole.advance(amount)
        self._tell()

    def finish(self) -> None:
        self.whole.finish()

    def _tell(self) -> None:
        self.stand(Standing(*self.place, self.clock.left(self.place[2])))


def duration(seconds: float) -> str:
    """A time as one would say it.

    >>> duration(42), duration(130), duration(2400), duration(7900)
    ('42 s', '2 min', '40 min', '2 h 12 min')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
