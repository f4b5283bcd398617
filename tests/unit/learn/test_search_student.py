from dataclasses import replace

import numpy as np
import pytest
from tests.examples import Listener
from tests.refusals import expect_refusal
from tests.searches import made_search

from fwl.annotate import InvertedIndex
from fwl.errors import InvalidInput
from fwl.learn import search_student
from fwl.learn.search_auto import Fusion, Judged, SearchModel, average_precision, choose_fusion, fit_search
from fwl.learn.search_student import WeakStudent, train_student, weigh_student
from fwl.learn.searcher import Searcher
from fwl.randomness import Chance
from fwl.students import Training
from fwl.text import Analyser

MADE = made_search(documents=80, queries=60)
TEXTS = list(MADE.queries.values())
WEAK = list(made_search(documents=80, queries=60, seed=1).queries.values())


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    monkeypatch.setattr(search_student, "PLAN", Training(steps=150, batch_size=64, learning_rate=3e-3))
    monkeypatch.setattr(search_student, "PAIRS", 5000)
    monkeypatch.setattr(search_student, "COLUMNS", 8)


@pytest.fixture(scope="module")
def searcher():
    analyser = Analyser()
    tokens = ((name, analyser.tokens(text)) for name, text in MADE.documents.items())
    return Searcher(InvertedIndex.of(tokens, {"analyser": analyser.settings()}))


@pytest.fixture(scope="module")
def judged(searcher):
    names = list(MADE.documents)
    relevant = np.array([[MADE.judgments[q].get(name, 0) > 0 for name in names] for q in MADE.queries])
    return Judged(searcher.ask(TEXTS), relevant)


def trained(searcher, seed: int = 0, **settings) -> WeakStudent:
    return train_student(searcher, "bm25", WEAK, Chance(seed), **settings)


def test_a_student_learns_what_its_annotator_prefers(searcher, judged):
    fused, among = Fusion("bm25")(judged.asked)
    own = trained(searcher).scores(TEXTS, among)
    together = [np.corrcoef(a[mask], b[mask])[0, 1] for a, b, mask in zip(fused, own, among, strict=True)]
    assert np.mean(together) > 0.5


def test_its_scores_are_standardised_over_the_candidates(searcher, judged):
    _, among = Fusion("bm25")(judged.asked)
    among = among.copy()
    among[0] = False
    own = trained(searcher).scores(TEXTS, among)
    assert not own[~among].any()
    for row, mask in zip(own[1:], among[1:], strict=True):
        np.testing.assert_allclose([row[mask].mean(), row[mask].std()], [0.0, 1.0], rtol=0, atol=1e-4)


def test_the_same_chance_gives_the_same_student_and_its_state_too(searcher, judged):
    _, among = Fusion("bm25")(judged.asked)
    student = replace(trained(searcher), weight=0.25)
    again = WeakStudent.from_state(student.state(), searcher.index)
    expected = student.scores(TEXTS, among)
    assert again.weight == 0.25
    for other in (again, trained(searcher)):
        np.testing.assert_array_equal(other.scores(TEXTS, among), expected)
    assert (trained(searcher, seed=1).scores(TEXTS, among) != expected).any()


def test_every_step_is_heard_of(searcher):
    listener = Listener()
    trained(searcher, progress=listener)
    assert listener.total == sum(listener.heard) == 150


def test_a_student_that_knows_the_answers_is_kept(searcher, judged, monkeypatch):
    student = trained(searcher)
    monkeypatch.setattr(WeakStudent, "scores", lambda self, texts, among: judged.relevant.astype(np.float32))
    choice = weigh_student(student, choose_fusion(judged, searcher), judged)
    assert choice.keep
    assert choice.weight == 1.0
    assert len(choice.tried) == 3


def test_a_student_that_says_nothing_is_not(searcher, judged, monkeypatch):
    student = trained(searcher)
    monkeypatch.setattr(WeakStudent, "scores", lambda self, texts, among: np.zeros(among.shape, np.float32))
    choice = weigh_student(student, choose_fusion(judged, searcher), judged)
    assert not choice.keep
    assert choice.best.gain == 0.0


def test_it_is_weighed_beside_a_teacher_that_did_not_see_the_query(searcher, judged, monkeypatch):
    """Beside a teacher that did, nothing would be left to gain."""
    student, model = trained(searcher), fit_search(judged, searcher, Chance(0))
    assert model.choice.keep
    monkeypatch.setattr(WeakStudent, "scores", lambda self, texts, among: judged.relevant.astype(np.float32))
    fused, among = model.fusion(judged.asked)
    left_out = model.choice.weight * model.teacher.leave_one_query_out()
    with_teacher = average_precision((fused + left_out).astype(np.float32), among, judged.relevant)
    beside = (fused + left_out + judged.relevant).astype(np.float32)
    gain = (average_precision(beside, among, judged.relevant) - with_teacher).mean()
    assert weigh_student(student, model, judged).tried[-1].gain == pytest.approx(gain)


def test_a_teacher_that_is_not_used_does_not_speak(searcher, judged):
    student, model = trained(searcher), fit_search(judged, searcher, Chance(0))
    silent = replace(model, choice=replace(model.choice, keep=False))
    bare = SearchModel(model.fusion, None, None)
    assert weigh_student(student, silent, judged) == weigh_student(student, bare, judged)


def test_weak_queries_that_find_nothing_are_refused(searcher):
    message = "weak queries: none of 1 finds 10 of 80 documents; give others, or ask for fewer hits"
    with expect_refusal(InvalidInput, message):
        train_student(searcher, "bm25", ["turbine"], Chance(0))
