from fwl.cli.reproduce import EXPERIMENTS
from fwl.experiments.catalogue import CATALOGUE


def test_the_experiments_that_help_lists_are_those_of_the_catalogue():
    assert list(EXPERIMENTS) == list(CATALOGUE)
