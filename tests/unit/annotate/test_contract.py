import numpy as np

from fwl.annotate import Annotator, Formula


def test_a_function_of_ones_own_is_an_annotator():
    class Sign:
        def annotate(self, samples):
            return np.sign(samples).reshape(-1, 1)

    annotators: list[Annotator] = [Sign(), Formula("sign(x)")]
    one, other = (annotator.annotate(np.array([-2.0, 3.0])) for annotator in annotators)
    np.testing.assert_array_equal(one, other)
