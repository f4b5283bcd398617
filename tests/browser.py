"""Pages in a real browser: headless Chromium, spoken to in its DevTools protocol over a pipe."""

import fcntl
import json
import os
import select
import shutil
import signal
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (Debian: apt-get install chromium)")
PATIENCE = 120  # seconds until an answer is no longer expected: on a busy machine a browser starts slowly
PHONE, DESK = (360, 740), (1280, 900)


class Page:
    """One page: what it asked for, what it complained of, and what it says."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to, self._from, self._rest, self._number = to_browser, from_browser, b"", 0
        self.events: list[dict] = []
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for room in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{room}.enable")

    def ask(self, method: str, **parameters):
        """A command of the protocol, and its answer."""
        return self._ask(method, self._session, **parameters)

    def open(self, path: Path, size: tuple[int, int] = DESK) -> None:
        """Open a file in a window of that size and wait until it is there; what was before is forgotten."""
        self.events.clear()
        self.ask("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1, mobile=False)
        self.ask("Page.navigate", url=path.as_uri())
        self._until(lambda: self._happened("Page.loadEventFired"))

    def run(self, script: str):
        """The value of an expression on the page."""
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """A key, as a person presses it; what has the focus hears it."""
        text = {"Enter": "\r", " ": " "}.get(key, key if len(key) == 1 else "")
        code = {"Enter": 13, " ": 32, "Tab": 9}.get(key, ord(key[0].upper()))
        for kind in ("keyDown", "keyUp"):
            said = {"text": text} if kind == "keyDown" and text else {}
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, **said)

    def write(self, text: str) -> None:
        """Text into what has the focus."""
        self.ask("Input.insertText", text=text)

    @property
    def requests(self) -> list[str]:
        """Every address that was asked for."""
        return [event["params"]["request"]["url"] for event in self._happened("Network.requestWillBeSent")]

    @property
    def complaints(self) -> list[str]:
        """Whatever went to the console, was thrown, or was logged by the browser."""
        names = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        return [json.dumps(event["params"])[:500] for name in names for event in self._happened(name)]

    def _happened(self, name: str) -> list[dict]:
        return [event for event in self.events if event["method"] == name]

    def _ask(self, method: str, session: str | None = None, **parameters):
        self._number += 1
        said = {"id": self._number, "method": method, "params": parameters}
        os.write(self._to, json.dumps(said | ({"sessionId": session} if session else {})).encode() + b"\0")
        while (answer := self._hear()).get("id") != self._number:
            self.events.append(answer)
        assert "error" not in answer, (method, answer["error"])
        return answer["result"]

    def _until(self, is_so) -> None:
        while not is_so():
            self.events.append(self._hear())

    def _hear(self) -> dict:
        """The next message; a browser that is gone closes the pipe."""
        give_up = time.monotonic() + PATIENCE
        while b"\0" not in self._rest:
            ready = select.select([self._from], [], [], max(0.0, give_up - time.monotonic()))[0]
            assert ready, "Chromium does not answer"
            part = os.read(self._from, 65536)
            assert part, "Chromium ended"
            self._rest += part
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)


@contextmanager
def browser(profile: Path):
    """A page of a new browser, which ends with it."""
    theirs, ours_to = os.pipe()
    ours_from, theirs_to = os.pipe()
    # The protocol is spoken on descriptors 3 and 4: from higher ones, neither is written over by the other.
    high = [fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10) for descriptor in (theirs, theirs_to)]
    actions = [
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]
    actions += [(os.POSIX_SPAWN_DUP2, descriptor, place) for place, descriptor in enumerate(high, 3)]
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
    command = [CHROMIUM, *options, "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"]
    process = os.posix_spawn(CHROMIUM, command, os.environ, file_actions=actions)
    for descriptor in (theirs, theirs_to, *high):
        os.close(descriptor)
    try:
        yield Page(ours_to, ours_from)
    finally:
        os.kill(process, signal.SIGTERM)
        os.waitpid(process, 0)
        os.close(ours_to)
        os.close(ours_from)
