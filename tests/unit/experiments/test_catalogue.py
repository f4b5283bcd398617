import pytest

from fwl.errors import UnknownName
from fwl.experiments.catalogue import CATALOGUE, find_experiment
from fwl.experiments.declare import SIZES, Study
from fwl.experiments.settings import change_settings


def every_experiment():
    for declared in CATALOGUE.values():
        yield from declared.parts.values() if isinstance(declared, Study) else [declared]


@pytest.mark.parametrize("experiment", list(every_experiment()), ids=lambda experiment: experiment.name)
def test_every_declaration_can_be_run(experiment):
    assert set(experiment.sizes) == set(SIZES)
    assert experiment.sizes["paper"].seeds == (5 if experiment.needs_data else 20)
    for size in experiment.sizes.values():
        settings = change_settings(experiment.settings, size.changes)
        for variation in experiment.variations:
            assert change_settings(settings, variation.changes) is not None


@pytest.mark.parametrize("name", ["sentiment", "ranking"])
def test_a_table_is_cut_into_groups_of_rows_it_has(name):
    table = CATALOGUE[name]
    assert {row for group in table.apart for row in group} < set(table.methods)
    assert sorted(row for group in table.groups(table.methods) for row in group) == sorted(table.methods)


def test_the_toy_table_has_every_method_and_the_papers_three_figures():
    toy = CATALOGUE["toy"]
    expected = "WA NN_W NN_S NN_S+/W NN_W->S NN_W->Sx4 NN_Womega->S FWL_noSigma FWL FWL_s FWL_auto"
    assert toy.methods == tuple(expected.split())
    assert toy.variations[0].paper == {"NN_W": 0.8406, "NN_W->S": 0.5451, "FWL": 0.4143}


def test_beta_covers_the_papers_grid_on_the_three_toys():
    cells = {(v.dataset, v.at["beta"]) for v in CATALOGUE["beta"].parts["toy"].variations}
    assert cells == {(d, b) for d in ("toy", "toy*", "toy**") for b in (0.0, 0.1, 1.0, 2.0, 5.0)}
    changes = {v.dataset: v.changes for v in CATALOGUE["beta"].parts["toy"].variations}
    assert changes["toy*"]["n_strong"] == 5
    assert changes["toy**"]["weak"] == "x + 1"


def test_the_teachers_table_has_three_teachers_on_the_toy_and_on_classes():
    teachers = CATALOGUE["teachers"].parts["toy"]
    assert teachers.methods == ("FWL_GP", "FWL_PCA->GP", "FWL_clusteredGP")
    assert [v.dataset for v in teachers.variations] == ["toy", "classes", "classes, calibrated"]
    assert not any(v.paper or v.at for v in teachers.variations)


def test_the_sentiment_table_has_the_papers_rows_and_figures_on_both_test_sets():
    sentiment = CATALOGUE["sentiment"]
    expected = "WA NN_W NN_S NN_S+/W NN_W->S NN_W->Sx4 NN_Womega->S FWL_unsuprep FWL_noSigma FWL FWL_auto"
    assert sentiment.methods == tuple(expected.split())
    paper = sentiment.variations[0].paper
    assert (paper["SemEval-14", "FWL"], paper["SemEval-15", "FWL"]) == (0.7470, 0.6830)
    assert {method for _, method in paper} == set(sentiment.methods) - {"NN_W->Sx4", "FWL_auto"}


def test_the_sentiment_curve_goes_from_a_hundred_strong_tweets_to_all():
    assert [v.at["n_strong"] for v in CATALOGUE["sentiment-curve"].variations] == [100, 300, 1000, 3000, 11_338]


def test_an_unknown_experiment_is_answered_with_the_nearest():
    known = "toy, sentiment, ranking, beta, learning-curve, annotators, sampling, teachers, sentiment-curve, gaps"
    message = f"unknown experiment 'tyo'; did you mean 'toy'? known: {known}"
    with pytest.raises(UnknownName) as caught:
        find_experiment("tyo")
    assert str(caught.value) == message


def test_every_analysis_is_of_all_tasks():
    tasks = {name: tuple(CATALOGUE[name].parts) for name in ("beta", "learning-curve", "sampling", "teachers")}
    assert set(tasks.values()) == {("toy", "sentiment", "ranking")}
    assert tuple(CATALOGUE["annotators"].parts) == ("sentiment", "ranking")


def test_an_analysis_has_the_papers_settings_of_its_tasks():
    for study in (declared for declared in CATALOGUE.values() if isinstance(declared, Study)):
        for task in set(study.parts) - {"toy"}:
            ours, tables = study.parts[task], CATALOGUE[task]
            assert ours.sizes["paper"] == tables.sizes["paper"]
            differing = {f for f, v in vars(tables.settings).items() if getattr(ours.settings, f) != v}
            assert differing <= {"encoder"}


def test_annotators_are_the_papers_four_of_ranking_and_two_of_sentiment():
    cells = {
        task: [v.changes["annotator"] for v in part.variations] for task, part in CATALOGUE["annotators"].parts.items()
    }
    assert cells == {"sentiment": ["sentiwordnet", "vader"], "ranking": ["binary", "tfidf", "bm25", "rm3"]}


def test_beta_is_the_papers_on_every_task():
    for part in CATALOGUE["beta"].parts.values():
        assert {v.at["beta"] for v in part.variations} == {0.0, 0.1, 1.0, 2.0, 5.0}
        assert part.methods == ("FWL",)


def test_sampling_trains_to_the_end():
    for task in ("sentiment", "ranking"):
        assert all(v.changes["patience"] == 0 for v in CATALOGUE["sampling"].parts[task].variations)
