"""The files that pages need, as text."""

from functools import cache
from importlib.resources import files

STATIC = {
    "report.css": ("metaml.report", "text/css"),
    "web.css": ("metaml.web", "text/css"),
    "web.js": ("metaml.web", "text/javascript"),
    "htmx.min.js": ("metaml.web", "text/javascript"),
    "icon.svg": ("metaml.web", "image/svg+xml"),
}
"""The files that pages need: the package that has each, and its type."""


@cache
def static_text(name: str) -> str:
    """Return a file that pages need."""
    package, _ = STATIC[name]
    folder = files(package)
    return (folder if package == "metaml.report" else folder / "static").joinpath(name).read_text(encoding="utf-8")
