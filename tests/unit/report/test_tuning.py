import numpy as np

from fwl.report.figures import as_bytes
from fwl.report.tuning import draw_trials


def test_the_line_is_the_best_so_far_and_failed_trials_have_their_mark():
    figure = draw_trials([None, 0.5, 0.4, None, 0.7], "F1", "Tuning")
    (axis,) = figure.axes
    (line,) = axis.lines
    assert np.array_equal(line.get_ydata(), [np.nan, 0.5, 0.5, 0.5, 0.7], equal_nan=True)
    assert [text.get_text() for text in axis.get_legend().get_texts()] == ["a trial", "the best so far", "failed"]


def test_the_same_trials_give_the_same_bytes():
    one, same = (as_bytes(draw_trials([0.1, 0.2], "F1", "Tuning"), "png") for _ in range(2))
    assert one == same
