"""Settings of the documentation site. Build it with: sphinx-build -W -b html docs docs/_build"""

import re
from importlib.metadata import version as installed_version
from typing import Any

project = "metaml"
author = "the metaml authors"
release = version = installed_version("metaml")

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = "metaml"

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
maximum_signature_line_length = 88


def as_restructured_text(*event: Any) -> None:
    """Turn the Markdown of our docstrings into what Sphinx expects: `code` becomes ``code``."""
    lines: list[str] = event[-1]
    lines[:] = [re.sub(r"(?<!`)`([^`]+)`(?!`)", r"``\1``", line) for line in lines]


def setup(app: Any) -> None:
    """Connect the functions above with Sphinx."""
    app.connect("autodoc-process-docstring", as_restructured_text)
