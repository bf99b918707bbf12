"""Writes docs/audit.md from docs/audit.csv: every method of the documents, where it is, and whether it is worth using.

A row says nothing that is not checked: its files and tests exist, its command and options do, its names are registered,
and its figure is a heading of a page. A method whose file does not exist is shown as not built.

Run: python docs/make_audit.py
"""

import csv
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).parent
ROOT = DOCS.parent
TABLE, PAGE = DOCS / "audit.csv", DOCS / "audit.md"
TITLES = {
    "thesis": "van Hoof (2018), *Automated machine learning with gradient boosting and meta-learning*",
    "Thomas 2019": "Thomas (2019), *Gradient Boosting in Automatic Machine Learning*",
    "Coors 2018": "Coors (2018), *Automatic Gradient Boosting*",
    "Horn 2016": "Horn and Bischl (2016), *Multi-objective parameter configuration*",
    "Zele": "Zele, gradient boosting by grid search on 61 data sets",
    "beyond": "Beyond these documents",
}
PAGES = ("measured", "replication")
NOT_BUILT = "not built"
HEAD = """# Every method of the documents

Which methods the five documents behind metaml describe, where each one is, how it is used, and what it is worth. Made
by `docs/make_audit.py`; a test checks that every file, command, option, name and figure exists.

*default*: a search uses it unless told otherwise. *choice*: it has a name ([how to choose](howto/choose-search.md)).
*laboratory*: only `metaml replay`, `metaml learn --evaluate` or a benchmark has it, as it did not earn its place.
"""


@dataclass(frozen=True)
class Row:
    """A method of a document."""

    document: str
    section: str
    method: str
    names: str
    file: str
    command: str
    test: str
    figure: str
    verdict: str

    @property
    def is_built(self) -> bool:
        """Return whether there is code for it."""
        return bool(self.file) and (ROOT / self.file).exists()

    @property
    def page(self) -> str:
        """Return the page that has the heading of its figure; empty if none has."""
        return next((page for page in PAGES if self.figure and self.figure in headings(page)), "")


def rows() -> list[Row]:
    """Return the methods in their order."""
    with TABLE.open(newline="", encoding="utf-8") as file:
        return [Row(**row) for row in csv.DictReader(file)]


def headings(page: str) -> list[str]:
    """Return the headings of a page of the docs."""
    lines = (DOCS / f"{page}.md").read_text(encoding="utf-8").splitlines()
    return [line.lstrip("#").strip() for line in lines if line.startswith("#")]


def page() -> str:
    """Return the page."""
    parts = [HEAD]
    for document, title in TITLES.items():
        parts.append(
            f"## {title}\n\n| section | method | file | command | test | figure | verdict |\n" + "|---" * 7 + "|"
        )
        parts[-1] += "".join(f"\n{_line(row)}" for row in rows() if row.document == document) + "\n"
    return "\n".join(parts)


def _line(row: Row) -> str:
    if not row.is_built:
        verdict = row.verdict if row.verdict.startswith(NOT_BUILT) else NOT_BUILT
        return f"| {row.section} | {row.method} | | | | | **{verdict}** |"
    figure = f"[{row.figure}]({row.page}.md)" if row.figure else "–"
    command = f"`{row.command}`" if row.command else "–"
    return f"| {row.section} | {row.method} | `{row.file}` | {command} | `{row.test}` | {figure} | {row.verdict} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
