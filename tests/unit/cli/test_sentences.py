"""What is told of annotators."""

from fwl.cli.sentences import annotator_told


def test_an_annotator_is_judged_by_the_labels_it_gave_to_strong_rows():
    of_classes = {"name": "llm", "coverage": 0.5, "compared": 1200, "accuracy": 0.75, "low": 0.7, "high": 0.8}
    assert annotator_told(of_classes) == (
        "annotator 'llm' labels 50% of the weak rows and is right in 75% (95 % interval 70% to 80%) of the 1,200 "
        "labels that it gave to strong rows."
    )
    of_numbers = {"name": "rule", "coverage": 1.0, "compared": 9, "rmse": 0.51, "mean_error": -0.2}
    assert annotator_told(of_numbers) == (
        "annotator 'rule' labels 100% of the weak rows and errs by 0.51 (root mean square; on average by -0.2) in the "
        "9 labels that it gave to strong rows."
    )


def test_an_annotator_that_labelled_no_strong_row_is_not_judged():
    told = annotator_told({"name": "llm", "coverage": 0.5, "compared": 0, "accuracy": None})
    assert told == "annotator 'llm' labels 50% of the weak rows; it labelled no strong row, so nobody knows how well."
