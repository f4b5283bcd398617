import sys
from typing import NamedTuple

import pytest

from fwl.errors import InvalidInput, UnknownName
from fwl.text import Document, IrDataset, Query
from tests.refusals import expect_refusal


@pytest.fixture(autouse=True)
def ir_datasets(tmp_path_factory, monkeypatch):
    """ir_datasets with an empty folder of its own: nothing of the user's is seen, and nothing is left behind."""
    for name in ("IR_DATASETS_HOME", "IR_DATASETS_TMP"):
        monkeypatch.setenv(name, str(tmp_path_factory.mktemp("ir_datasets")))
    return pytest.importorskip("ir_datasets")


class Abstract(NamedTuple):
    doc_id: str
    title: str
    body: str
    url: str

    def default_text(self):
        return f"{self.title} {self.body}"


class Page(NamedTuple):
    doc_id: str
    body: bytes

    def default_text(self):
        return self.body.decode()


class Headed(NamedTuple):
    doc_id: str
    title: str
    text: str

    def default_text(self):
        return self.text


class Topic(NamedTuple):
    query_id: str
    title: str
    description: str

    def default_text(self):
        return self.title


def dataset(ir_datasets, documents=None, queries=None, qrels=None):
    """A dataset as the catalogue holds them, made of lists."""
    formats = ir_datasets.formats

    class Documents(formats.BaseDocs):
        def docs_iter(self):
            return iter(documents)

    class Queries(formats.BaseQueries):
        def queries_iter(self):
            return iter(queries)

    class Qrels(formats.BaseQrels):
        def qrels_iter(self):
            return iter([formats.GenericQrel(*row) for row in qrels])

    return ir_datasets.Dataset(
        None if documents is None else Documents(),
        None if queries is None else Queries(),
        None if qrels is None else Qrels(),
    )


@pytest.fixture
def catalogue(ir_datasets, monkeypatch):
    registry = ir_datasets.util.Registry()
    monkeypatch.setattr(ir_datasets, "registry", registry)
    return registry


def whole(ir_datasets):
    return dataset(
        ir_datasets,
        [Abstract("d1", "Wings", "a wing", "http://d1"), Abstract("d2", "", "", "")],
        [Topic("1", "wing", "what is a wing?")],
        [("1", "d1", 2), ("1", "d2", 0)],
    )


def test_a_dataset_is_a_collection(ir_datasets, catalogue):
    catalogue.register("some/thing", whole(ir_datasets))
    collection = IrDataset("some/thing")
    assert collection.name == "some/thing"
    assert list(collection.documents()) == [Document("d1", "Wings", "a wing"), Document("d2", "", "")]
    assert list(collection.documents()) == list(collection.documents())
    assert collection.queries() == [Query("1", "wing")]
    assert collection.judgments() == {"1": {"d1": 2, "d2": 0}}


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (Page("p", b"all of it"), Document("p", "", "all of it")),
        (Headed("h", "not in the text", "what is read"), Document("h", "", "what is read")),
        (Abstract("a", "Title", "body", ""), Document("a", "Title", "body")),
    ],
)
def test_the_whole_document_is_what_the_dataset_calls_its_text(ir_datasets, catalogue, document, expected):
    catalogue.register("one", dataset(ir_datasets, [document]))
    (read,) = IrDataset("one").documents()
    assert read == expected
    assert read.whole == document.default_text()


def test_parts_are_read_apart_or_together(ir_datasets, catalogue):
    catalogue.register("beir/x", dataset(ir_datasets, [Page("d", b"x")], [Topic("1", "x", "")]))
    catalogue.register("beir/x/train", dataset(ir_datasets, qrels=[("1", "d", 1)]))
    catalogue.register("beir/x/test", dataset(ir_datasets, qrels=[("1", "e", 0), ("2", "d", 1)]))
    catalogue.register("beir/x/dev", dataset(ir_datasets, queries=[]))
    catalogue.register("beir/x/trec-dl", dataset(ir_datasets, qrels=[("1", "d", 3)]))
    collection = IrDataset("beir/x")
    assert collection.splits == ("train", "test")
    assert collection.is_judged
    assert collection.judgments("test") == {"1": {"e": 0}, "2": {"d": 1}}
    assert collection.judgments() == {"1": {"d": 1, "e": 0}, "2": {"d": 1}}
    with expect_refusal(UnknownName, "unknown split of beir/x 'tset'; did you mean 'test'? known: train, test"):
        collection.judgments("tset")


def test_a_split_of_what_is_not_split_is_refused(ir_datasets, catalogue):
    catalogue.register("one", whole(ir_datasets))
    with expect_refusal(InvalidInput, "one is not split, got split 'test'; ask for all judgments, with None"):
        IrDataset("one").judgments("test")


def test_what_a_dataset_does_not_hold_is_told(ir_datasets, catalogue):
    catalogue.register("bare", dataset(ir_datasets))
    bare = IrDataset("bare")
    assert not bare.is_judged
    for what, ask in (
        ("documents", lambda: next(bare.documents())),
        ("queries", bare.queries),
        ("judgments", bare.judgments),
    ):
        with expect_refusal(InvalidInput, f"bare holds no {what}; name a part of it that does, from the catalogue"):
            ask()


def test_an_unknown_id_is_refused_at_once_with_the_nearest(ir_datasets):
    with expect_refusal(
        InvalidInput,
        "ir_datasets knows no collection 'disks45/nocr/trec-robust-204'; did you mean 'disks45/nocr/trec-robust-2004' "
        "or 'disks45/nocr/trec-robust-2004/fold5' or 'disks45/nocr/trec-robust-2004/fold4'? "
        "see https://ir-datasets.com for its catalogue",
    ):
        IrDataset("disks45/nocr/trec-robust-204")
    with expect_refusal(
        InvalidInput, "ir_datasets knows no collection '!'; see https://ir-datasets.com for its catalogue"
    ):
        IrDataset("!")


def test_the_papers_collections_are_known():
    assert IrDataset("disks45/nocr/trec-robust-2004").name == "disks45/nocr/trec-robust-2004"
    assert IrDataset("clueweb09/catb/trec-web-2009").name == "clueweb09/catb/trec-web-2009"


def test_licensed_documents_that_are_not_there_are_told_with_where_to_put_them(capfd):
    with pytest.raises(InvalidInput) as caught:
        next(IrDataset("disks45/nocr/trec-robust-2004").documents())
    message = str(caught.value)
    assert message.startswith("the documents of disks45/nocr/trec-robust-2004 cannot be read (")
    assert message.endswith("disks45/corpus); put its files where https://ir-datasets.com/disks45.html says")


@pytest.mark.parametrize("error", [FileNotFoundError("gone"), RuntimeError("gone"), ImportError("gone")])
def test_whatever_is_missing_is_told(ir_datasets, catalogue, error):
    class Missing(ir_datasets.formats.BaseQueries, ir_datasets.formats.BaseQrels):
        def queries_iter(self):
            raise error

        def qrels_dict(self):
            raise error

    catalogue.register("some/thing", ir_datasets.Dataset(Missing()))
    end = "of some/thing cannot be read (gone); put its files where https://ir-datasets.com/some.html says"
    with expect_refusal(InvalidInput, f"the queries {end}"):
        IrDataset("some/thing").queries()
    with expect_refusal(InvalidInput, f"the judgments {end}"):
        IrDataset("some/thing").judgments()


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with expect_refusal(InvalidInput, "IrDataset needs ir_datasets; install it with: pip install 'fwl[ranking]'"):
        IrDataset("cranfield")
