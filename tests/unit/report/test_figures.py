import numpy as np
import pytest
from tests.unit.report.examples import panel_result, sweep_result, table_result

from fwl.report.figures import as_bytes, draw


@pytest.mark.parametrize("result", [panel_result(), sweep_result(), table_result()], ids=["panels", "sweep", "dots"])
@pytest.mark.parametrize(("kind", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_every_kind_of_result_has_its_figure(result, kind, start):
    content = as_bytes(draw(result), kind)
    assert content.startswith(start)
    assert len(content) > 5000


def test_the_papers_figure_has_four_panels_with_points_and_band():
    axes = draw(panel_result()).axes
    titles = [axis.get_title() for axis in axes]
    assert titles[0] == "NN_W: the student after step 1 (0.800)"
    assert titles[3] == "FWL: fine-tuned on soft labels by their fidelity (0.300)"
    labels = [axis.get_legend_handles_labels()[1] for axis in axes]
    assert "weak points" in labels[0]
    assert "± 2 sd" in labels[1]
    assert all("strong points" in names for names in labels[1:])


def test_a_panel_of_a_method_that_was_not_run_is_left_empty():
    result = panel_result()
    del result.curves["method:NN_W->S"]
    axes = draw(result).axes
    assert axes[2].get_title().startswith("FWL")
    assert not axes[3].axison


def test_a_sweep_draws_the_means_where_they_lie():
    (axis,) = draw(sweep_result()).axes
    x, y = axis.get_lines()[0].get_data()
    assert np.allclose(x, [0, 1, 2])
    assert np.allclose(y, [0.05, 1.05, 2.05])
