import json
from dataclasses import replace

import numpy as np
import pytest

from fwl.learn.compare_methods import COMPARED, Comparison, Scored
from fwl.learn.decide import decide
from fwl.learn.decision_words import DESCRIBED


def comparison(accuracies, n=100, curve=(), seed=0, lower_is_better=False):
    """Methods that are right on so many rows, mostly the same ones."""
    rng = np.random.default_rng(seed)
    ease = rng.permutation(n)
    scores = {}
    for name, share in accuracies.items():
        order = np.argsort(np.argsort(ease + rng.normal(0, 0.1 * n, size=n)))
        scores[name] = Scored(name, (order < round(share * n)).astype(float), (share,), 1.0)
    metric = "squared error" if lower_is_better else "accuracy"
    return Comparison(metric, lower_is_better, n, 80, scores, tuple(curve), 100)


def test_every_method_has_a_description():
    assert set(DESCRIBED) == set(COMPARED)


def test_level_methods_leave_the_committee():
    verdict = decide(comparison({"LR_S": 0.8, "NN_W->S": 0.8, "FWL_auto": 0.8}))
    assert verdict.kept == "FWL_auto"


def test_a_method_that_is_clearly_better_is_kept_however_simple():
    verdict = decide(comparison({"LR_S": 0.9, "NN_W->S": 0.7, "FWL_auto": 0.7}, n=300))
    assert verdict.kept == verdict.best == "LR_S"
    assert "The simpler method wins: +20.0 points over FWL_auto" in " ".join(verdict.sentences)


def test_a_small_lead_on_few_rows_is_not_believed_and_said_so():
    verdict = decide(comparison({"LR_S": 0.74, "NN_W->S": 0.7, "FWL_auto": 0.72}, n=50))
    assert (verdict.kept, verdict.best) == ("FWL_auto", "LR_S")
    assert "LR_S (a linear model of the strong labels) had the best mean on these rows, but not by enough" in " ".join(
        verdict.sentences
    )


def test_the_reading_committee_is_kept_where_it_was_run_with_a_word_for_rows_without_weak_labels():
    verdict = decide(comparison({"WA": 0.6, "NN_W->S": 0.7, "FWL_auto": 0.8, "FWL_auto+W": 0.85}))
    assert (verdict.kept, verdict.without_weak) == ("FWL_auto+W", "FWL_auto")
    for_others = "For rows that come without a weak label, FWL_auto (students, teacher and linear model averaged)."
    assert for_others in verdict.sentences[0]


def test_of_numbers_there_is_no_committee_and_the_words_say_so():
    verdict = decide(replace(comparison({"NN_W->S": 0.7, "FWL_auto": 0.2}), lower_is_better=True))
    assert (
        "Use FWL_auto (a student taught by the teacher, all choices made by the strong labels)" in verdict.sentences[0]
    )


def test_a_lead_that_luck_may_explain_does_not_depose_the_committee():
    ahead, behind = np.zeros((2, 300))
    ahead[:70] = behind[:60] = behind[70:76] = 1.0  # ten rows of 300 against six
    scores = {"NN_W->S": Scored("NN_W->S", ahead, (), 1.0), "FWL_auto": Scored("FWL_auto", behind, (), 1.0)}
    found = decide(replace(comparison({"FWL_auto": 0.5}, n=300), scores=scores))
    assert (found.kept, found.best) == ("FWL_auto", "NN_W->S")
    assert -0.02 < found.leads[0].believed < 0.0
    assert 0.2 < found.leads[0].probability < 0.5


def test_near_copies_that_were_left_out_are_told():
    told = decide(replace(comparison({"NN_W->S": 0.7, "FWL_auto": 0.8}), copies=1234)).sentences
    assert told[-1] == (
        "1,234 weak rows nearly repeat a strong row and were left out of the comparison: "
        "its figures are for texts of which no copy was learned from."
    )


def test_the_annotator_is_never_kept_as_a_model_but_told_if_it_is_clearly_better():
    verdict = decide(comparison({"WA": 0.99, "NN_W->S": 0.7, "FWL_auto": 0.7}, n=500))
    assert verdict.kept != "WA"
    assert verdict.sentences[-1] == (
        "The annotator alone is clearly better: where it can be run on new rows, no model is needed."
    )
    lucky = decide(comparison({"WA": 0.8, "NN_W->S": 0.7, "FWL_auto": 0.78}, n=50))
    assert "had the best mean on these rows, but not by enough" in lucky.sentences[-1]


@pytest.mark.parametrize(
    ("simple", "word"), [(0.5, "clearly better"), (0.75, "probably better"), (0.78, "cannot be told from these rows")]
)
def test_how_sure_it_is_better_than_the_simple_way_is_said(simple, word):
    verdict = decide(comparison({"NN_W->S": simple, "FWL_auto": 0.78}, n=150))
    assert verdict.over_simple.over == "NN_W->S"
    assert word in verdict.sentences[1]


def test_methods_that_cannot_be_told_from_the_kept_one_are_named():
    found = decide(comparison({"NN_S": 0.3, "NN_W->S": 0.6, "NN_W->Sx4": 0.785, "FWL_auto": 0.79}, n=200))
    assert [lead.over for lead in found.level] == ["NN_W->Sx4"]
    assert found.called_worse == ("NN_S", "NN_W->S")
    (said,) = (sentence for sentence in found.sentences if sentence.startswith("As good"))
    four = "NN_W->Sx4 (four students, weak then strong, averaged) (measured +0.5 points ± "
    assert said.startswith(f"As good, for all that these rows can tell: {four}")


def test_what_is_called_worse_is_probably_so_all_together():
    """Each of four methods is probably worse; that all are is less sure than that, so the least sure is left open."""
    found = decide(comparison({"NN_S": 0.66, "NN_W": 0.67, "NN_S+/W": 0.68, "LR_S": 0.3, "FWL_auto": 0.7}, n=300))
    by_name = {lead.over: lead.probability for lead in found.leads}
    assert all(probability > 0.8 for probability in by_name.values())
    assert sum(1.0 - probability for probability in by_name.values()) > 0.2
    assert sum(1.0 - by_name[name] for name in found.called_worse) <= 0.2
    left_open = [lead.over for lead in found.level]
    assert found.called_worse[0] == "LR_S"
    assert left_open
    assert max(by_name[name] for name in left_open) <= min(by_name[name] for name in found.called_worse)
    assert set(by_name) == {*found.called_worse, *left_open}
    assert found.as_dict()["called_worse"] == list(found.called_worse)


def test_new_rows_are_never_quite_like_the_strong_ones():
    """However many strong rows there are, a lead of a point is not sure to hold elsewhere, one of ten points is."""
    for ahead, least, most in ((0.01, 0.8, 0.9), (0.1, 0.99, 1.0)):
        lead = np.zeros(100_000)
        lead[: round(ahead * len(lead))] = 1.0
        scores = {"NN_W->S": Scored("NN_W->S", 0 * lead, (), 1.0), "FWL_auto": Scored("FWL_auto", lead, (), 1.0)}
        found = decide(replace(comparison({"FWL_auto": 0.5}, n=len(lead)), scores=scores))
        assert least < found.leads[0].probability <= most


def test_methods_that_another_sentence_speaks_of_are_not_named_again():
    found = decide(comparison({"NN_W->S": 0.785, "FWL_auto": 0.79}, n=200))
    assert [lead.over for lead in found.level] == ["NN_W->S"]
    assert not any(sentence.startswith("As good") for sentence in found.sentences)


def test_leads_are_told_with_error_probability_and_corrected_p():
    verdict = decide(comparison({"NN_W->S": 0.6, "LR_S": 0.5, "FWL_auto": 0.8}))
    lead = next(lead for lead in verdict.leads if lead.over == "LR_S")
    assert lead.observed == pytest.approx(0.3)
    assert 0.95 < lead.probability <= 1.0
    assert lead.p < 0.01
    assert 0 < lead.believed < lead.observed


def test_of_errors_less_is_better():
    made = comparison({"LR_S": 0.9, "NN_W->S": 0.5, "FWL_auto": 0.3}, lower_is_better=True, n=300)
    verdict = decide(made)
    assert verdict.kept == "FWL_auto"
    assert verdict.over_simple.observed > 0
    simple = comparison({"LR_S": 0.2, "NN_W->S": 0.5, "FWL_auto": 0.6}, lower_is_better=True, n=300)
    assert decide(simple).kept == "LR_S"


def test_a_verdict_without_the_committee_is_possible():
    verdict = decide(comparison({"LR_S": 0.8, "NN_W->S": 0.6}, n=200))
    assert verdict.kept == "LR_S"


def test_it_is_plain_values_for_json():
    made = comparison({"NN_W->S": 0.6, "FWL_auto": 0.8})
    plain = json.loads(json.dumps(decide(made).as_dict()))
    assert plain["kept"] == "FWL_auto"
    assert decide(replace(made, curve=())).reach is None
