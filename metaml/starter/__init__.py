"""The starter experience: runs on many data sets that come with the package, so that no knowledge base is empty.

METAML_STARTER=no turns it off; METAML_STARTER=FILE names another exported file (zip or SQLite) to start from.
"""

import os
from pathlib import Path

from metaml_kb import KnowledgeBase, open_kb
from metaml_kb.engine import locate, sqlite_path
from metaml_kb.exchange import create_from, import_file, n_runs_in
from metaml_kb.provenance import STARTER
from metaml_kb.schema import check_file
from metaml_kb.transfer import Merged

SHIPPED = Path(__file__).with_name("starter.metaml")


def starter_file() -> Path | None:
    """Return the file that a new knowledge base starts from; None if it starts empty."""
    asked = os.environ.get("METAML_STARTER", "")
    if asked.lower() in ("no", "0", "off"):
        return None
    if asked:
        return Path(asked).expanduser()
    return SHIPPED if SHIPPED.is_file() else None


def open_with_starter(path_or_url: str | Path | None = None) -> KnowledgeBase:
    """Return an open knowledge base. A missing file is created with the starter experience in it.

    `path_or_url` is a SQLite file, a database URL such as postgresql://user@host/name, or ":memory:" for one that is
    gone when it is closed. Default: the environment variable METAML_KB, else a file in the user's data folder. A
    database on a server and one in memory start empty.

    Raises `metaml_kb.errors.CannotOpen` if it cannot be read or is not a knowledge base, and
    `metaml_kb.errors.SchemaMismatch` if another version of metaml wrote it.

    >>> with open_with_starter(":memory:") as kb:
    ...     kb.n_runs()
    0
    """
    url, file = locate(path_or_url), starter_file()
    path = sqlite_path(url)
    if path is not None and file is not None and not path.exists():
        check_file(url, create=True)
        create_from(path, file, is_trusted=file == SHIPPED)
    return open_kb(path_or_url)


def would_be_shipped(path_or_url: str | Path | None = None) -> bool:
    """Return whether opening this knowledge base would make one that holds what comes with metaml, and nothing else.

    >>> would_be_shipped(":memory:")
    False
    """
    path = sqlite_path(locate(path_or_url))
    return path is not None and starter_file() == SHIPPED and not path.exists()


def add_starter(kb: KnowledgeBase) -> Merged:
    """Bring in what the knowledge base lacks of the starter, and return what that was."""
    file = starter_file()
    n_known = kb.info()["runs_by_source"][STARTER]
    if file is None or (file.is_file() and n_runs_in(file) <= n_known):
        return Merged(0, 0, n_known, ())
    return import_file(kb, file)
