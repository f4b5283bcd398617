from tests.unit.report.examples import row, table_result

from fwl.report.claims import judge
from fwl.report.results_words import claim_story, data_told, scale_story, table_story

STEP_1 = {"WA": (0.6, 0.6, 0.6), "NN_W": (0.6, 0.61, 0.62)}


def story(*rows, **changes):
    return table_story(table_result(rows=rows, **changes))


def test_the_paragraph_sorts_the_papers_order_by_what_became_of_it():
    (told,) = story(
        row("WA", 0.9, 0.9, paper=0.8),
        row("NN_W", 0.8, 0.7, better_than=("WA",)),
        row("NN_W->S", 0.3, 0.3, better_than=("WA", "NN_W", "FWL")),
        row("FWL_noSigma", 0.5, 0.5),
        row("FWL", 0.4, 0.6, better_than=("WA",)),
    )
    assert told == (
        "`NN_W->S` has the best rmse, 0.3000, clearly better than 3 of 4 other rows. "
        "**Holds:** `FWL` ahead of `WA` (0.5000 against 0.9000, p = 0.01); `NN_W->S` ahead of `NN_W` (0.3000 against "
        "0.7500, p = 0.01); `NN_W` ahead of `WA` (0.7500 against 0.9000, p = 0.01). "
        "**Does not hold:** `FWL` ahead of `NN_W->S` (0.5000 against 0.3000, p = 0.01). "
        "**Not decided here:** `FWL` ahead of `FWL_noSigma` (0.5000 against 0.5000, p = 1). "
        "**Why:** Our annotator reaches 0.9000 by itself, the paper's 0.8000. Weighting by fidelity makes no "
        "difference that can be seen: 0.5000 with, 0.5000 without."
    )


def test_a_teacher_is_measured_against_the_student_it_teaches():
    def of(teacher):
        students = [row("NN_W", 0.6, 0.61, 0.62, metric="F1", lower=False), row("FWL", 0.6, metric="F1", lower=False)]
        own = row("FWL", *teacher, metric="F1 of the teacher", lower=False)
        return story(*students, own)[0].split("**Why:** ")[1]

    assert of((0.5, 0.51, 0.521)) == (
        "The teacher of `FWL` knows less than the student it teaches knew after step 1 (F1 0.5103 against 0.6100, "
        "p < 0.0001): its soft labels have little to add."
    )
    assert of((0.7, 0.71, 0.721)).startswith("The teacher of `FWL` knows more than the student it teaches knew after")
    assert of((0.5, 0.61, 0.74)).startswith("The teacher of `FWL` and the student it teaches, after step 1, cannot")


def test_several_datasets_have_a_paragraph_each_and_a_lone_row_leads_nobody():
    told = story(row("FWL", 0.5), row("FWL", 0.4, dataset="b"))
    assert told == (
        "On `toy`: `FWL` has the best rmse, 0.5000.",
        "On `b`: `FWL` has the best rmse, 0.4000.",
    )


def test_an_analysis_tells_its_claims_what_is_at_stake_and_the_label_budget():
    rows = tuple(
        row(method, *values, at={"n_strong": n}, dataset="d")
        for method, lines in {"FWL": ((0.5, 0.52), (0.3, 0.31)), "NN_W->S": ((0.8, 0.9), (0.4, 0.43))}.items()
        for n, values in zip((5, 50), lines, strict=True)
    )
    result = table_result(experiment="learning-curve", rows=rows)
    claims = [entry for entry in judge([result]) if entry.claim.experiment == "learning-curve"]
    told, stake, budget = claim_story(claims, result)
    assert told.startswith(
        "The paper: the student learns faster with a teacher. **Not decided here:** `d`, more strong"
    )
    assert stake == "**How much is at stake:** `d` rmse from 0.8500 to 0.3050."
    assert budget.startswith("**Label budget:** d: FWL needs 26 strong labels for what NN_W->S reaches with all 50")


def test_skewed_fidelities_and_teachers_by_themselves_are_reasons():
    skew = row("FWL_s", 0.25, metric="effective share of D_sw", lower=False)
    teacher = row("FWL_GP", 0.6, metric="rmse of the teacher")
    (told,) = claim_story([], table_result(rows=(row("FWL_s", 0.5), skew, teacher)))
    assert told == (
        "**Why:** on `toy` the fidelities are worth 25.0% of the soft set as equal ones (100 % is no skew at all); "
        "on `toy` the teachers alone have rmse `FWL_GP` 0.6000."
    )


def test_reasons_are_looked_for_in_other_runs_on_the_same_data():
    table = table_result(
        experiment="sentiment",
        rows=(
            *(row(method, *values, metric="F1", lower=False) for method, values in STEP_1.items()),
            row("FWL", 0.5, 0.51, 0.521, metric="F1 of the teacher", lower=False),
            row("NN_W", 0.1, dataset="other data"),
        ),
    )
    skew = row("FWL_s", 0.25, metric="effective share of D_sw", lower=False)
    sampling = table_result(experiment="sampling", rows=(row("FWL_s", 0.5), skew))

    def why(experiment, dataset="toy"):
        analysis = table_result(experiment=experiment, rows=(row("FWL", 0.5, dataset=dataset),))
        return claim_story([], analysis, [table, sampling])

    assert why("beta") == (
        "**Why:** on `toy` the fidelities are worth 25.0% of the soft set as equal ones (100 % is no skew at all), "
        "at β = 1.",
    )
    (told,) = why("learning-curve")
    assert told.startswith("**Why:** on `toy` the teacher of `FWL` knows less than the student it teaches knew after")
    assert told.endswith("its soft labels have little to add.")
    assert why("annotators", "toy, VADER") == (
        "**Why:** on `toy` the student is level with its annotator before it has seen a strong label (F1 0.6100 "
        "against 0.6000).",
    )
    assert why("teachers") == why("beta", "elsewhere") == ()


def test_data_and_scale_are_told_beside_the_papers():
    tweets = table_result(experiment="sentiment", settings={"data": "sentiment", "n_pool": 1000})
    all_tweets = table_result(experiment="sentiment", settings={"data": "mine", "n_pool": 0})
    ranking = table_result(experiment="ranking", settings={"data": "", "weak_queries": 5000, "weak_pairs": 10_000})
    told = scale_story({"a": tweets, "b": all_tweets, "c": ranking, "toy": table_result()})
    assert told[1:] == (
        "Sentiment: 1,000 of 323,047 tweets for the weak set, where the paper has 50 million tweets.",
        "Sentiment: what the folder `mine` holds for the weak set, where the paper has 50 million tweets.",
        "Ranking, `toy`: made-up data, with up to 5,000 weak queries and 10,000 weak pairs, where the paper has 500 "
        "thousand (Robust04) and 50 million (ClueWeb09) documents and six million queries.",
    )


def test_names_with_stars_are_set_apart():
    assert data_told("toy**, more weak data") == "`toy**`, more weak data: "
    assert data_told("") == ""
