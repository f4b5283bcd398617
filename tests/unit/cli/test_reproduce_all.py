import pytest
from tests.commands import fwl

from fwl.cli import reproduce_all
from fwl.experiments import studies
from fwl.experiments.suite import Standing

FIRST, SECOND = Standing(1, 8, "toy", 2400.0), Standing(2, 8, "beta", 50.0)


def test_the_bar_tells_how_far_the_whole_is_beside_each_piece_of_work():
    bar = reproduce_all._SuiteBar()
    bar.stand(FIRST)
    bar.start(3, "units")
    (task,) = bar._bar.tasks
    assert (task.description, task.total) == ("entry 1 of 8: toy; about 40 min left; units", 3)
    bar.stand(SECOND)
    assert bar._bar.tasks[0].description == "entry 2 of 8: beta; about 50 s left; units"
    bar.finish()


def test_a_log_has_a_line_for_each_entry(capsys):
    lines = reproduce_all._Lines()
    for standing in (FIRST, FIRST, SECOND):
        lines.stand(standing)
    assert capsys.readouterr().err == f"{FIRST}\n{SECOND}\n"


@pytest.mark.parametrize(("watched", "kind"), [(True, reproduce_all._SuiteBar), (False, reproduce_all.Silent)])
def test_there_is_a_bar_when_somebody_watches(monkeypatch, watched, kind):
    monkeypatch.setattr("sys.stderr.isatty", lambda: watched)
    assert type(reproduce_all._listeners(quiet=False)[0]) is kind
    assert type(reproduce_all._listeners(quiet=True)[0]) is reproduce_all.Silent


def test_an_interrupted_suite_says_how_to_go_on(tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(studies, "run", interrupted)
    done = fwl("reproduce", "all", "--size", "tiny", "--out", tmp_path, "--quiet")
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == f"interrupted; the same command with --resume goes on from {tmp_path / 'journal.jsonl'}\n"
