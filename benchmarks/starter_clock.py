"""How much too long the bot's seconds are: it shares its machine, and a sample of its runs is made again alone."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from metaml.data import read_dataset
from metaml.evaluation import Job, Limits, LocalExecutor, make_plan
from metaml_kb import KnowledgeBase

LIMIT = 60.0


def measure(
    kb: KnowledgeBase, place: Path, before: Mapping[str, float], *, n: int, max_rows: int, seed: int
) -> dict[str, float]:
    """Return, for each session, by how much its seconds must be multiplied: the median over `n` of its runs.

    What was measured before stays.
    """
    rng = np.random.default_rng(seed)
    factors = dict(before)
    with LocalExecutor(1) as executor:
        known: set[str] = set()
        by_bots = "SELECT key FROM session WHERE kind = 'bot' OR settings LIKE '%metaml bot%'"
        made_here = set(kb.sql(by_bots)["key"])
        for session, runs in kb.runs(status="ok").groupby("session"):
            if session not in made_here or session in before:
                continue
            ratios = []
            for row in runs.iloc[rng.permutation(len(runs))[:n]].to_dict("records"):
                dataset = read_dataset(place / f"{row['dataset']}.csv.gz")
                if dataset.fingerprint not in known:
                    known.add(dataset.fingerprint)
                    executor.add(dataset)
                config = next(
                    item
                    for item in kb.configs(dataset.fingerprint, str(row["algorithm"]))
                    if all(_same(item[name], row.get(name)) for name in item)
                )
                plan = make_plan(dataset, 5, 0, max_rows)
                executor.submit(Job(dataset.fingerprint, str(row["algorithm"]), config, plan, 0, Limits(LIMIT)))
                answer = executor.next(timeout=2 * LIMIT)
                if answer is not None and answer[1].status == "ok":
                    alone = answer[1].fit_seconds + answer[1].predict_seconds
                    ratios.append(alone / (float(row["fit_seconds"]) + float(row["predict_seconds"])))
            factors[str(session)] = float(np.median(ratios)) if ratios else 1.0
            spread = np.quantile(ratios, [0.1, 0.9]).round(2).tolist() if ratios else []
            print(
                f"{session}: {len(runs)} runs, seconds x {factors[str(session)]:.2f} (80 % within {spread})", flush=True
            )
    return factors


def _same(first: object, second: object) -> bool:
    return first == second or (first is None and second is None)


def read(path: Path) -> dict[str, float]:
    """Return the factors that were kept, if any."""
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}


def write(factors: dict[str, float], path: Path) -> None:
    """Keep the factors for `pack`."""
    path.write_text(json.dumps(factors), encoding="utf-8")
