"""A real browser for tests: headless Chromium, controlled over a pipe, without any driver."""

import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Self

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
    "--disable-dev-shm-usage", "--no-default-browser-check", "--remote-debugging-pipe",
)  # fmt: skip
# Chromium reads commands from descriptor 3 and answers on descriptor 4.
LAUNCH = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.dup2(int(sys.argv[2]), 4)
os.execvp(sys.argv[3], sys.argv[3:])
"""
OFFLINE = {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}


def find_browser() -> str | None:
    """Return the path of a Chromium, or None."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One browser with one page; use it in a `with` block."""

    def __init__(self, program: str, seconds: float = 60.0, *, is_offline: bool = True) -> None:
        self.profile = tempfile.mkdtemp(prefix="metaml-browser-")
        self.seconds = seconds
        self.is_offline = is_offline
        self.events: list[dict[str, Any]] = []
        self._n_sent = 0
        self._rest = b""
        theirs_in, self._to = _high_pipe()
        self._from, theirs_out = _high_pipe()
        command = [program, *FLAGS, f"--user-data-dir={self.profile}", "about:blank"]
        self._process = subprocess.Popen(
            [sys.executable, "-c", LAUNCH, str(theirs_in), str(theirs_out), *command],
            pass_fds=(theirs_in, theirs_out),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._session: str | None = None

    def __enter__(self) -> Self:
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        if self.is_offline:
            self.send("Network.emulateNetworkConditions", **OFFLINE)
        return self

    def __exit__(self, *_: object) -> None:
        self._session = None
        try:
            self.send("Browser.close")
            self._process.wait(10)
        except (subprocess.TimeoutExpired, EOFError, TimeoutError, BrokenPipeError):
            self._process.kill()
            self._process.wait()
        os.close(self._to)
        os.close(self._from)
        shutil.rmtree(self.profile, ignore_errors=True)

    def send(self, method: str, **parameters: object) -> Any:
        """Return the answer to a command; events that arrive meanwhile are kept in `events`."""
        self._n_sent += 1
        order = {"id": self._n_sent, "method": method, "params": parameters}
        if self._session is not None:
            order["sessionId"] = self._session
        os.write(self._to, json.dumps(order).encode() + b"\0")
        while True:
            message = self._read()
            if message.get("id") == self._n_sent:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def view(self, page: Path | str, *, width: int, height: int = 900, scheme: str = "light") -> None:
        """Open a file or an address in a window of this width, in this colour scheme, and wait until it is loaded."""
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events.clear()
        self.send("Page.navigate", url=page if isinstance(page, str) else page.resolve().as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._read())

    def ask(self, expression: str) -> Any:
        """Return the value of a JavaScript expression in the page."""
        return self.send("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    @property
    def complaints(self) -> list[str]:
        """Return what the page logged or threw since it was opened."""
        named = ("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled")
        return [json.dumps(event["params"]) for event in self.events if event.get("method") in named]

    @property
    def requests(self) -> list[str]:
        """Return the addresses that the page asked for since it was opened."""
        sent = [event for event in self.events if event.get("method") == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]

    def picture(self, *, whole: bool = True) -> str:
        """Return the page as a PNG in base64."""
        return str(self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"])

    def _read(self) -> dict[str, Any]:
        end = time.monotonic() + self.seconds
        while b"\0" not in self._rest:
            if not select.select([self._from], [], [], max(0.0, end - time.monotonic()))[0]:
                raise TimeoutError(f"The browser said nothing for {self.seconds:g} seconds.")
            piece = os.read(self._from, 1 << 16)
            if not piece:
                raise EOFError("The browser has gone.")
            self._rest += piece
        message, _, self._rest = self._rest.partition(b"\0")
        return dict(json.loads(message))


def _high_pipe() -> tuple[int, int]:
    """Return a pipe whose ends are not descriptor 3 or 4, which are about to be replaced."""
    ends = os.pipe()
    high = tuple(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends)
    for end in ends:
        os.close(end)
    return high[0], high[1]
