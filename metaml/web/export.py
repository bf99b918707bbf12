"""The same pages as files: they need no server, and their links lead to one another."""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from html import escape, unescape
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from metaml.errors import BadRequest
from metaml.web.catalogue import Catalogue
from metaml.web.missing import NotThere
from metaml.web.page import MENU, Asked, whole
from metaml.web.site import answer
from metaml.web.static_files import STATIC, static_text

MOST_RUNS = 1000
POLICY = "default-src 'none'; script-src 'self' file:; style-src 'self' file:; img-src 'self' file:; base-uri 'none'"
"""Files have no headers, so that the policy is in the page. A page in a file is not of the same origin as its style."""
LINK = re.compile(r'(?P<name>href|src)="(?P<address>/[^"]*)"')
SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


@dataclass(frozen=True)
class Exported:
    """What was written."""

    n_pages: int
    n_runs: int
    n_tables: int


def export(catalogue: Catalogue, folder: Path, *, most_runs: int = MOST_RUNS) -> Exported:
    """Write every page to a folder: all data sets and sessions, and the first `most_runs` runs that they link to.

    Raises `BadRequest` if the folder holds other files already.
    """
    _make(folder)
    for name in STATIC:
        _write(folder / "static" / name, static_text(name))
    files, tables, waiting, n_runs = (
        {},
        set(),
        deque(Asked(path, is_file=True) for path in (*MENU.values(), "/compare")),
        0,
    )
    known = {asked.path for asked in waiting}
    while waiting:
        asked = waiting.popleft()
        is_run = asked.path.startswith("/runs/")
        if is_run and n_runs >= most_runs:
            continue
        try:
            page = answer(catalogue, asked)
        except NotThere:
            continue
        n_runs += is_run
        file = file_of(asked.path)
        files[asked.path] = file
        text = whole(page, where=catalogue.kb.name, policy=POLICY)
        _write(folder / file, text)
        for name, sheet in page.sheets.items():
            table = table_file(asked.path, name)
            tables.add(table)
            _write(folder / table, sheet.csv())
        for path in _pages_in(text):
            if path not in known:
                known.add(path)
                # Runs are many: all other pages come first.
                (waiting.append if path.startswith("/runs/") else waiting.appendleft)(Asked(path, is_file=True))
    for path, file in files.items():
        text = (folder / file).read_text(encoding="utf-8")
        _write(folder / file, relative(text, path, files, tables))
    return Exported(len(files), n_runs, len(tables))


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        others = [path for path in folder.iterdir() if path.name not in ("index.html", "static")]
    except OSError as error:
        raise BadRequest(f"{folder} cannot be used ({error.strerror}). Choose another folder.") from None
    if others and not (folder / "static" / "web.css").exists():
        raise BadRequest(f"{folder} holds other files, such as {others[0].name}. Choose an empty or a new folder.")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _pages_in(text: str) -> Iterator[str]:
    """Yield the paths of the pages that a page links to; another view of a page is not a page."""
    for found in LINK.finditer(text):
        address = urlsplit(unescape(found["address"]))
        if not address.query and not address.path.startswith("/static/"):
            yield address.path


def file_of(path: str) -> str:
    """Return the file of a page; a name that a file cannot have becomes a hash.

    >>> file_of("/"), file_of("/datasets/ab12"), file_of("/algorithms/a%2Fb")
    ('index.html', 'datasets/ab12.html', 'algorithms/x0debd2558bca8fa0.html')
    """
    pieces = [unquote(piece) for piece in path.strip("/").split("/") if piece]
    return "/".join(map(_file_name, pieces)) + ".html" if pieces else "index.html"


def _file_name(piece: str) -> str:
    if SAFE_NAME.fullmatch(piece):
        return piece
    return "x" + blake2b(piece.encode(), digest_size=8).hexdigest()


def table_file(path: str, name: str) -> str:
    """Return the file of a table of a page."""
    return f"{file_of(path).removesuffix('.html')}.{_file_name(name)}.csv"


def relative(text: str, path: str, files: dict[str, str], tables: set[str]) -> str:
    """Return a page whose links lead to files; a link to what is not among them is no longer one."""
    up = "../" * file_of(path).count("/")

    def replaced(found: re.Match[str]) -> str:
        target = _target(unescape(found["address"]), files, tables)
        return "" if target is None else f'{found["name"]}="{escape(up + target)}"'

    return LINK.sub(replaced, text)


def _target(address: str, files: dict[str, str], tables: set[str]) -> str | None:
    parts = urlsplit(address)
    if parts.path.startswith("/static/"):
        return parts.path[1:]
    query = dict(parse_qsl(parts.query))
    if "csv" in query:
        table = table_file(parts.path, query["csv"])
        return table if table in tables else None
    if query:
        return None
    return files.get(parts.path)
