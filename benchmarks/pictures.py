"""The pictures of the README: a real `metaml tune` in a terminal (SVG), and its report in a browser (PNG).

Run: python benchmarks/pictures.py --seconds 60 [--data FILE --target COLUMN]
Without --data it is breast cancer from scikit-learn. Without a Chromium only the terminal is drawn.
"""

import argparse
import fcntl
import json
import os
import pty
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time
from html import escape
from pathlib import Path

IMAGES = Path(__file__).parents[1] / "docs" / "images"
COLUMNS, LINES = 80, 24
MOST_BYTES = 300_000
REPORT_WIDTH, REPORT_HEIGHT = 1200, 1260
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
)  # fmt: skip
CELL, LINE, EDGE, BAR = 8.43, 19, 18, 34
STYLE = """
  text { font: 14px "DejaVu Sans Mono", Menlo, Consolas, "Liberation Mono", monospace; fill: #d6dbe1; }
  .window { fill: #14181d; stroke: #3a424c; }
  .prompt { fill: #6ac46a; }
  .typed { fill: #ffffff; font-weight: bold; }
  .live { fill: #f2c14e; }
  .result { fill: #7fd0ff; }
  .aside { fill: #8a949f; font-size: 12px; }
  .rule { stroke: #3a424c; stroke-dasharray: 3 4; }
"""


class Screen:
    """A terminal that knows what `metaml` sends: text, carriage returns and line feeds."""

    def __init__(self) -> None:
        self.lines = [""]
        self._place = 0

    def write(self, text: str) -> None:
        for character in text:
            if character == "\r":
                self._place = 0
            elif character == "\n":
                self.lines.append("")
                self._place = 0
            elif character.isprintable():
                if self._place == COLUMNS:
                    self.lines.append("")
                    self._place = 0
                line = self.lines[-1].ljust(self._place)
                self.lines[-1] = line[: self._place] + character + line[self._place + 1 :]
                self._place += 1

    def shown(self) -> list[str]:
        """Return the lines without what is empty at the end of them."""
        return [line.rstrip() for line in "\n".join(self.lines).rstrip().split("\n")]


def recorded(command: list[str], folder: Path, environment: dict[str, str]) -> tuple[list[str], list[str]]:
    """Return the screen at the last sign of life of the search, and the screen when the command has ended."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdin=follower, stdout=follower, stderr=follower, close_fds=True
    )
    os.close(follower)
    screen, alive = Screen(), [""]
    while True:
        if select.select([leader], [], [], 1.0)[0]:
            try:
                piece = os.read(leader, 1 << 16)
            except OSError:  # Linux says so when the other side has gone.
                piece = b""
            if not piece:
                break
            screen.write(piece.decode("utf-8", "replace"))
            if b"\n" not in piece and screen.lines[-1].strip():
                alive = screen.shown()
    os.close(leader)
    if process.wait():
        raise SystemExit("\n".join(screen.shown()))
    return alive, screen.shown()


def terminal_svg(typed: str, alive: list[str], ended: list[str]) -> str:
    """Return both screens as one picture: the search under way, and below it what took its last line's place."""
    n_before = next((i for i, (a, b) in enumerate(zip(alive, ended, strict=False)) if a != b), len(alive))
    before, live, after = alive[:n_before], alive[n_before:], ended[n_before:]
    rows: list[tuple[str, str]] = [("prompt", f"$ {typed}")]
    rows += [("plain", line) for line in before]
    rows += [("live", line) for line in live]
    width = round(2 * EDGE + CELL * COLUMNS)
    y, parts = BAR + EDGE, []
    for kind, line in rows:
        parts.append(_text(kind, line, y))
        y += LINE
    parts.append(f'<path class="rule" d="M{EDGE} {y - 6} H{width - EDGE}"/>')
    parts.append(f'<text class="aside" x="{width - EDGE}" y="{y + 10}" text-anchor="end">when the time is up</text>')
    y += LINE + 6
    for line in after:
        parts.append(_text("result" if line.startswith(("Cross-validated", "Report")) else "plain", line, y))
        y += LINE
    height = y - LINE + EDGE
    dots = "".join(
        f'<circle cx="{20 + 18 * place}" cy="18" r="5.5" fill="{colour}"/>'
        for place, colour in enumerate(("#e0605a", "#e3b341", "#5cb85c"))
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
            f' role="img" aria-label="{escape(typed)} in a terminal">',
            f"<style>{STYLE}</style>",
            f'<rect class="window" x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="9"/>',
            dots,
            *parts,
            "</svg>",
            "",
        ]
    )


def _text(kind: str, line: str, y: int) -> str:
    """Return a line of the terminal; its length is fixed, so that columns stand under columns in any font."""
    if not line:
        return ""
    length = f'textLength="{CELL * len(line):.1f}" lengthAdjust="spacingAndGlyphs"'
    text = escape(line)
    if kind == "prompt":
        text = f'<tspan class="prompt">$</tspan><tspan class="typed">{escape(line[1:])}</tspan>'
    named = f' class="{kind}"' if kind in ("live", "result") else ""
    return f'<text{named} x="{EDGE}" y="{y}" xml:space="preserve" {length}>{text}</text>'


def photograph(page: Path, picture: Path, width: int, height: int) -> None:
    """Write a page, as a browser shows it, into a PNG."""
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        print(f"There is no Chromium here: {picture.name} was not made.")
        return
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run(
            [
                browser, *FLAGS, f"--user-data-dir={profile}", f"--window-size={width},{height}",
                f"--screenshot={picture}", page.resolve().as_uri(),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=180,
            check=True,
        )  # fmt: skip


def example(folder: Path) -> tuple[str, str]:
    """Write the data set of `metaml demo` into a folder; return its file's name and its target."""
    from metaml_cli.demo import DATA, TARGET, write_data

    write_data(folder)
    return DATA, TARGET


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--seconds", type=int, default=60)
    arguments.add_argument("--data", type=Path)
    arguments.add_argument("--target")
    asked = arguments.parse_args()
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        if asked.data:
            name, target = Path(shutil.copy(asked.data, folder)).name, asked.target
        else:
            name, target = example(folder)
        wanted = ["--target", target] if target else []
        words = ["tune", name, *wanted, "--time-budget", f"{asked.seconds}s", "--output", "result"]
        environment = {**os.environ, "METAML_KB": "kb.db", "TERM": "xterm"}
        environment |= {"COLUMNS": str(COLUMNS), "LINES": str(LINES)}
        started = time.monotonic()
        alive, ended = recorded([sys.executable, "-m", "metaml_cli", *words], folder, environment)
        print("\n".join(ended), f"({time.monotonic() - started:.0f} s)")
        best = json.loads((folder / "result" / "best.json").read_text(encoding="utf-8"))
        if best["model"]["kind"] == "fallback":
            raise SystemExit("A fallback is nothing to show: the pictures stay as they are. Give more --seconds.")
        (IMAGES / "terminal.svg").write_text(terminal_svg(f"metaml {' '.join(words)}", alive, ended), encoding="utf-8")
        photograph(folder / "result" / "report.html", IMAGES / "report.png", REPORT_WIDTH, REPORT_HEIGHT)
    for picture in (IMAGES / "terminal.svg", IMAGES / "report.png"):
        if picture.exists():
            size = picture.stat().st_size
            print(f"{picture.name}: {size / 1000:.0f} KB" + (", too large" if size > MOST_BYTES else ""))


if __name__ == "__main__":
    main()
