"""SQL statements that write, never end, are huge or are nonsense: rows or a sentence, and an unchanged file."""

import hashlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

from probing.running import Probe, Results, probe_of, run

SECTION = "sql"
KB = Path(__file__).resolve().parents[2] / "tests" / "assets" / "release_0_1" / "kb.db"
NUMBERS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c)"
FINE, REFUSED, EITHER = (0,), (2,), (0, 2)
STATEMENTS: dict[str, tuple[str, tuple[int, ...], tuple[str, ...]]] = {
    "select": ("SELECT count(*) FROM run", FINE, ()),
    "delete": ("DELETE FROM run", REFUSED, ()),
    "drop": ("DROP TABLE run", REFUSED, ()),
    "insert": ("INSERT INTO algorithm VALUES (99, 'x')", REFUSED, ()),
    "update in with": ("WITH c AS (SELECT 1) UPDATE run SET status = 'ok'", REFUSED, ()),
    "two statements": ("SELECT 1; DROP TABLE run", REFUSED, ()),
    "comment first": ("/* SELECT */ DELETE FROM run", REFUSED, ()),
    "create view": ("CREATE VIEW mine AS SELECT 1", REFUSED, ()),
    "pragma write": ("PRAGMA writable_schema = 1", REFUSED, ()),
    "pragma read": ("PRAGMA table_info(run)", EITHER, ()),
    "attach": ("ATTACH DATABASE 'stolen.db' AS other", REFUSED, ()),
    "vacuum into": ("VACUUM INTO 'copy.db'", REFUSED, ()),
    "extension": ("SELECT load_extension('evil.so')", REFUSED, ()),
    "read a file": ("SELECT readfile('/etc/passwd')", REFUSED, ()),
    "endless sum": (f"{NUMBERS} SELECT sum(x) FROM c", REFUSED, ("--timeout", "5s")),
    "endless rows": (f"{NUMBERS} SELECT x FROM c", REFUSED, ("--timeout", "20s", "--limit-memory", "300")),
    "huge cell": ("SELECT hex(zeroblob(900000000))", REFUSED, ("--limit-memory", "300")),
    "huge cross join": ("SELECT count(*) FROM run a, run b, run c, run d, run e, run f", EITHER, ("--timeout", "5s")),
    "control characters": ("SELECT char(27) || '[2J' || char(7) AS x", FINE, ()),
    "infinite": ("SELECT 9e999 AS x, -9e999 AS y", FINE, ("--format", "json")),
    "not text": ("SELECT CAST(x'fffe00' AS TEXT) AS x, x'00ff' AS y", EITHER, ("--format", "json")),
    "unknown column": ("SELECT nothing FROM run", REFUSED, ()),
    "nonsense": ("SELEKT *", REFUSED, ()),
    "empty": ("", REFUSED, ()),
    "nul": ("SELECT 1 AS \u0000", REFUSED, ()),
    "deep": ("SELECT " + "(" * 5000 + "1" + ")" * 5000, REFUSED, ()),
    "percent": ("SELECT '%(x)s %s :name ?' AS x", FINE, ()),
    "same names": ("SELECT 1 AS x, 2 AS x", FINE, ("--format", "json")),
}


def probes(results: Results, folder: Path) -> Iterator[Probe]:
    base, upgraded = folder / "kb.db", folder / "upgraded"
    shutil.copy(KB, base)
    run(["kb", "upgrade", "kb.db"], folder)
    shutil.copy(base, upgraded)
    for name in results.missing(SECTION, list(STATEMENTS)):
        statement, expected, options = STATEMENTS[name]
        shutil.copy(upgraded, base)
        if "\0" in statement:
            # The operating system passes no such word.
            statement = statement.replace("\0", "\u0001")
        before, names = hashlib.sha256(base.read_bytes()).hexdigest(), sorted(p.name for p in folder.iterdir())
        end = run(["kb", "sql", statement, "--kb", "kb.db", *options], folder, seconds=200.0)
        faults = end.faults(expected, megabytes=1_200)
        faults += ["lost: the file changed"] if hashlib.sha256(base.read_bytes()).hexdigest() != before else []
        new = {path.name for path in folder.iterdir()} - {*names, "kb.db-wal", "kb.db-shm"}
        faults += [f"made {sorted(new)}"] if new else []
        faults += ["control characters in the terminal"] if "\x1b" in end.out + end.err else []
        if "json" in options and end.code == 0:
            faults += [] if is_json(end.out) else ["no JSON"]
        yield probe_of(SECTION, name, end, faults)


def is_json(text: str) -> bool:
    """Return whether a text is JSON by the standard, which has no infinite numbers."""
    try:
        json.loads(text, parse_constant=lambda _: 1 / 0)
    except (ValueError, ZeroDivisionError):
        return False
    return True
