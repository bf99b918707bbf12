"""A private export: it keeps the experience and hides the data and its owner.

- Left out: names of data sets and columns, settings, hosts, error texts, predictions.
- Salted with a secret of the knowledge base: fingerprints, and the keys of fold plans, environments and sessions. A
  data set keeps its salted fingerprint from export to export. Nobody can recognise it by hashing their own copy of the
  data.
- Salted unless public: the words that say who proposed a run and who measured a metafeature. The caller says which
  words are public.
- Rounded down to the day: all times.
- Kept: metafeatures, scores and seeds. They are the experience.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, Self

from sqlalchemy import Connection, Table, select

from metaml_kb import tables
from metaml_kb.records import digest, run_identity, split_config
from metaml_kb.transfer import runs_in

DAY = 86_400.0
TIMES = ("added_at", "started_at", "finished_at")
LEFT_OUT = {"event", "prediction"}
"""Tables that a private export leaves out completely."""

Row = dict[str, Any]


def private_rows(table: Table, rows: list[Row], salted: "Salt") -> list[Row]:
    """Return the rows of a table without anything that identifies the data or its owner."""
    blank: Mapping[str, Row] = {
        "dataset": {"target": None, "details": "{}", "source": "private"},
        "metafeature": {"reason": None},
        "fold_plan": {"assignment": None},
        "environment": {"host": "", "platform": "", "processor": ""},
        "session": {"settings": "{}"},
        "run": {"error": None},
        "proposal": {"details": "{}"},
    }
    rows = [{**row, **blank.get(table.name, {})} for row in rows]
    for row in rows:
        if table.name == "dataset":
            row["fingerprint"] = salted(row["fingerprint"])
            row["name"] = f"dataset-{row['fingerprint'][:8]}"
        elif table.name in ("fold_plan", "environment", "session"):
            row["key"] = salted(row["key"])
        elif table.name in ("metafeature", "metafeature_group"):
            row["source"] = salted.unless_public(row["source"])
        elif table.name == "proposal":
            row["proposer"] = salted.unless_public(row["proposer"])
        elif table.name == "run":
            row["identity"] = salted.identities[row["id"]]
        # Keep the day: a knowledge base that imports a run without a time would invent one.
        row |= {name: row[name] // DAY * DAY for name in TIMES if row.get(name) is not None}
    return rows


class Salt:
    """Replaces fingerprints, keys and words by salted hashes, and run identities by the ones that follow from them.

    `public_words` are left as they are where a row says who proposed a run or who measured a metafeature.
    """

    def __init__(self, salt: str, public_words: Collection[str] = ()) -> None:
        self._salt = salt
        self._public_words = frozenset(public_words)
        self.identities: dict[int, bytes] = {}

    @classmethod
    def of(cls, connection: Connection, public_words: Collection[str] = ()) -> Self:
        """Return the salt of a knowledge base."""
        return cls(connection.execute(select(tables.knowledge_base.c.salt)).scalar_one(), public_words)

    def __call__(self, key: str) -> str:
        """Return the salted hash of a fingerprint or a key."""
        return digest(self._salt, key)

    def unless_public(self, word: str) -> str:
        """Return a public word as it is, any other word as `private-` and eight characters of its salted hash."""
        return word if word in self._public_words else f"private-{self(word)[:8]}"

    def number_runs(self, connection: Connection) -> None:
        """Compute the salted identity of every run, by row number."""
        numbers = iter(connection.execute(select(tables.run.c.id).order_by(tables.run.c.id)).scalars().all())
        for runs in runs_in(connection):
            for run in runs:
                private = replace(run, dataset=self(run.dataset), fold_plan=self(run.fold_plan))
                self.identities[next(numbers)] = run_identity(private, *split_config(run.config))
