"""SVG pictures as PNG, by a program that the user has: there is no pure Python way that draws text well."""

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from metaml.errors import BadRequest

SCALE = 2
SECONDS = 60.0


def _rsvg(program: str, svg: Path, png: Path, width: int, height: int) -> list[str]:
    return [program, "--width", str(SCALE * width), "--height", str(SCALE * height), "-o", str(png), str(svg)]


def _inkscape(program: str, svg: Path, png: Path, width: int, height: int) -> list[str]:  # noqa: ARG001
    return [program, str(svg), "--export-type=png", f"--export-width={SCALE * width}", f"--export-filename={png}"]


def _chromium(program: str, svg: Path, png: Path, width: int, height: int) -> list[str]:
    return [
        program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--screenshot={png}",
        f"--force-device-scale-factor={SCALE}", f"--window-size={width},{height}", svg.as_uri(),
    ]  # fmt: skip


Command = Callable[[str, Path, Path, int, int], list[str]]
PROGRAMS: dict[str, Command] = {
    "rsvg-convert": _rsvg,
    "inkscape": _inkscape,
    "chromium": _chromium,
    "chromium-browser": _chromium,
    "google-chrome": _chromium,
}
"""Programs that draw SVG, the quickest first."""


def png_of(svg: str, width: int, height: int) -> bytes:
    """Return an SVG picture as PNG; raise BadRequest if no program for it is installed, or if it fails."""
    name = next((name for name in PROGRAMS if shutil.which(name)), None)
    if name is None:
        raise BadRequest(f"PNG needs one of: {', '.join(PROGRAMS)}. Install one, or write a file that ends in .svg.")
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "picture.svg", Path(folder) / "picture.png"
        source.write_text(svg, encoding="utf-8")
        command = PROGRAMS[name](shutil.which(name) or name, source, target, width, height)
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=SECONDS)
            return target.read_bytes()
        except (OSError, subprocess.SubprocessError) as error:
            raise BadRequest(f"{name} could not draw the PNG ({error}). Write a file that ends in .svg.") from None
