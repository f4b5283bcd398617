from fwl.cli.progress import Bar, saying
from fwl.progress import Piece
from tests.examples import Listener


def test_a_piece_is_told_by_its_own_name_and_does_not_end_the_whole():
    listener = Listener()
    piece = Piece(listener, "step 1")
    piece.start(10, "training")
    piece.advance(3)
    piece.finish()
    assert (listener.total, listener.what, listener.heard) == (10, "step 1", [3])
    assert not listener.finished


def test_what_ends_nobody_knows_when_is_told_and_taken_away():
    listener = Listener()
    with saying(listener, "reading"):
        assert (listener.total, listener.what, listener.finished) == (0, "reading", False)
    assert listener.finished


def test_a_bar_does_not_claim_to_know_how_much_is_left(capsys):
    bar = Bar()
    for total, known in ((0, None), (5, 5), (0, None)):
        bar.start(total, "judging")
        bar.advance(2)
        (task,) = bar._bar.tasks
        assert (task.total, task.completed) == (known, 2)
    bar.finish()
