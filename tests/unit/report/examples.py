"""Results made by hand, so that what is rendered can be known beforehand."""

from fwl.records import Result, Row

PROVENANCE = {"version": "0.1.0", "commit": None, "seeds": [0, 1], "seconds": 1.0}


def row(method, *values, paper=None, better_than=(), dataset="toy", at=None, lower=True, metric="rmse"):
    mean = sum(values) / len(values)
    return Row(
        dataset,
        method,
        metric,
        lower,
        values,
        mean,
        0.1,
        paper,
        better_than,
        dict.fromkeys(better_than, 0.01),
        at or {},
    )


def table_result(**changes):
    rows = (
        row("NN_W", 0.8, 0.9, paper=0.8406),
        row("FWL", 0.3, 0.5, paper=0.4143, better_than=("NN_W",)),
    )
    defaults = {"experiment": "toy", "title": "The <toy>", "size": "paper", "settings": {"beta": 1.0}}
    return Result(**{**defaults, "provenance": PROVENANCE, "rows": rows, **changes})


def sweep_result():
    rows = tuple(row(m, b, b + 0.1, at={"beta": b}) for m in ("FWL", "FWL_s") for b in (0.0, 1.0, 2.0))
    return table_result(experiment="beta", rows=rows)


def metrics_result():
    """Two metrics of which one is better the higher it is, and data on which only one of them is measured."""
    rows = (
        row("GP", 0.4, 0.6, dataset="toy"),
        row("PCA", 0.3, 0.5, dataset="toy", better_than=("GP",)),
        row("GP", 0.8, 0.9, dataset="classes", metric="accuracy", lower=False),
        row("PCA", 0.7, 0.8, dataset="classes", metric="accuracy", lower=False),
        row("GP", 0.2, 0.3, dataset="classes", metric="ECE", lower=True),
        row("PCA", 0.1, 0.2, dataset="classes", metric="ECE", lower=True),
    )
    return table_result(experiment="teachers", title="Teachers", rows=rows)


def panel_result():
    names = "x true weak teacher teacher_sd student_weak method:NN_W->S method:FWL weak_x weak_y strong_x strong_y"
    return table_result(curves={name: [0.0, 0.5, 1.0] for name in names.split()})
