"""What a private export tells: the experience, but not whose data it is about.

Left out are names of data sets and columns, settings, hosts, error texts, predictions. Fingerprints, fold plans and the
keys of sessions are salted with a secret of the knowledge base, so that the same data set stays one data set from
export to export, but nobody can recognise it by hashing their own copy, nor a session by its key in a report. So is who
proposed a run or measured a metafeature, unless the word is one of ours. Of times only the day is told. Metafeatures,
scores and seeds remain: they are the experience.
"""

from collections.abc import Mapping, Set
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Table, select

from metaml_kb import tables
from metaml_kb.records import digest, run_identity, split_config
from metaml_kb.transfer import runs_in

DAY = 86_400.0
TIMES = ("added_at", "started_at", "finished_at")
LEFT_OUT = {"event", "prediction"}
"""Tables of which nothing is told."""

STRATEGIES = {"default", "gbqr", "gaussian_process", "forest", "extra_trees", "mean_boosting"}
PROPOSERS = {"start", "random", "experience", "openml", *STRATEGIES}
SOURCES = {"computed", "openml"}
"""Our own words for who measured a metafeature; anybody else's may tell who they are."""

Row = dict[str, Any]


def private_rows(table: Table, rows: list[Row], salted: "Salt") -> list[Row]:
    """Return rows without what tells about the data and its owner."""
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
            row["source"] = salted.unless_ours(row["source"], SOURCES)
        elif table.name == "proposal":
            row["proposer"] = salted.unless_ours(row["proposer"], PROPOSERS)
        elif table.name == "run":
            row["identity"] = salted.identities[row["id"]]
        # A time that is missing altogether would be made up by the knowledge base that receives the run.
        row |= {name: row[name] // DAY * DAY for name in TIMES if row.get(name) is not None}
    return rows


class Salt:
    """Replaces fingerprints and keys by salted ones, and run identities by those that follow from them."""

    def __init__(self, connection: Connection) -> None:
        self._salt = connection.execute(select(tables.knowledge_base.c.salt)).scalar_one()
        self.identities: dict[int, bytes] = {}

    def __call__(self, key: str) -> str:
        """Return what stands for a fingerprint or a key."""
        return digest(self._salt, key)

    def unless_ours(self, word: str, ours: Set[str]) -> str:
        """Return a word if it is one of ours, else what stands for it."""
        return word if word in ours else f"private-{self(word)[:8]}"

    def number_runs(self, connection: Connection) -> None:
        """Learn the salted identity of every run."""
        numbers = iter(connection.execute(select(tables.run.c.id).order_by(tables.run.c.id)).scalars().all())
        for runs in runs_in(connection):
            for run in runs:
                private = replace(run, dataset=self(run.dataset), fold_plan=self(run.fold_plan))
                self.identities[next(numbers)] = run_identity(private, *split_config(run.config))
