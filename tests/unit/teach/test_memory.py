import numpy as np
import pytest
from scipy import sparse

from fwl.errors import InvalidInput, NotFinite, NotFitted, WrongShape
from fwl.teach import KernelMemory
from tests.refusals import expect_refusal

QUERIES, DOCUMENTS = np.random.default_rng(0).normal(size=(4, 3)), np.random.default_rng(1).normal(size=(9, 3))
LABELS = (np.random.default_rng(2).random((4, 9)) > 0.7).astype(float)


def test_a_pair_that_was_judged_relevant_comes_first():
    labels = np.zeros((4, 9))
    labels[2, 5] = 1.0
    assert KernelMemory().fit(QUERIES, DOCUMENTS, labels).residual(QUERIES[[2]]).argmax() == 5


def test_a_query_left_out_is_not_heard():
    labels = np.zeros((4, 9))
    labels[2] = 1.0
    left_out = KernelMemory().fit(QUERIES, DOCUMENTS, labels).leave_one_query_out()
    np.testing.assert_array_equal(left_out[2], 0.0)
    assert (left_out[[0, 1, 3]] > 0).all()


def test_leaving_out_is_forgetting():
    memory = KernelMemory(0.5, 0.4).fit(QUERIES, DOCUMENTS, LABELS)
    for i in range(4):
        rest = np.delete(np.arange(4), i)
        without = KernelMemory(0.5, 0.4).fit(QUERIES[rest], DOCUMENTS, LABELS[rest])
        np.testing.assert_allclose(memory.leave_one_query_out()[[i]], without.residual(QUERIES[[i]]), atol=1e-12)


def test_more_judged_documents_than_are_held_at_a_time(monkeypatch):
    before = KernelMemory().fit(QUERIES, sparse.csr_array(DOCUMENTS), LABELS).residual(QUERIES)
    monkeypatch.setattr("fwl.teach.memory.AT_ONCE", 2)
    after = KernelMemory().fit(QUERIES, sparse.csr_array(DOCUMENTS), LABELS).residual(QUERIES)
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-12)


def test_nothing_relevant_is_nothing_to_say():
    np.testing.assert_array_equal(KernelMemory().fit(QUERIES, DOCUMENTS, 0 * LABELS).residual(QUERIES), 0.0)


def test_it_says_its_settings():
    assert KernelMemory(0.5, 0.2).described() == {"query_lengthscale": 0.5, "document_lengthscale": 0.2}


def test_what_cannot_be_remembered_is_refused():
    with expect_refusal(WrongShape, "labels: expected shape (4, 9), queries by documents, got (9, 4)"):
        KernelMemory().fit(QUERIES, DOCUMENTS, LABELS.T)
    with pytest.raises(NotFinite):
        KernelMemory().fit(QUERIES, DOCUMENTS, LABELS * np.nan)
    with expect_refusal(InvalidInput, "document_lengthscale is a number above 0, got 0"):
        KernelMemory(0.5, 0).fit(QUERIES, DOCUMENTS, LABELS)


@pytest.mark.parametrize("ask", [lambda m: m.residual(QUERIES), lambda m: m.leave_one_query_out()])
def test_an_empty_memory_is_refused(ask):
    with expect_refusal(NotFitted, "this memory is empty; call fit(queries, documents, labels) first"):
        ask(KernelMemory())
