"""Which configurations every data set gets: many are tried on few data sets, the better ones on more, the best on all.

python benchmarks/starter_screen.py --kb starter.db [--hours 1.5] [--workers 2]

Random configurations of each algorithm are drawn once. A first round runs all of them on a few data sets, a second
those that together reach most there on more, and the last one those that are left on all, the best first and then the
quickest. What was run everywhere can be compared without a model. The data sets that other benchmarks test with, and
their relatives, have no say before the last round. Started again it goes on where it stopped.
"""

import argparse
import csv
import json
import math
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from automl_tools.chosen_data import CHOSEN
from proof import related, tested
from starter import DATASETS, SEED

from metaml.algorithms import ALGORITHMS
from metaml.evaluation import Limits, default_metric
from metaml.metalearning.initial_design import greedy
from metaml.random_bot.bot import BotSettings, Progress, run_bot
from metaml.sources import folder
from metaml.spaces.config import Config
from metaml_kb import KnowledgeBase, canonical_json, open_kb

FAMILIES = {"classification": ("binary", "multiclass"), "regression": ("regression",)}
N_DRAWN = {
    "lightgbm": 32,
    "xgboost": 28,
    "mlp": 24,
    "extra_trees": 16,
    "svm": 16,
    "random_forest": 12,
    "gradient_boosting": 12,
    "elastic_net": 8,
    "k_neighbors": 8,
    "adaboost": 4,
    "decision_tree": 2,
}
ROUNDS = ((None, 8), (64, 14), (56, None))
"""Configurations (beside the defaults) and data sets of each family in each round; None stands for all."""
N_BEST = 16
"""Of the last round, those that come first whatever they take."""
AT_A_TIME = 8
SMALL = (250, 2500)
MOST_COLUMNS = 60
MOST_CELLS = 500
"""Columns × classes beyond which most evaluations would only be time-outs."""
MAX_ROWS = 2000
WORST_SHARE = 0.5
Wanted = tuple[str, Config]


@dataclass(frozen=True)
class Known:
    """A data set of the manifest."""

    name: str
    task: str
    n_rows: int
    n_columns: int
    n_classes: int


def manifest(place: Path) -> list[Known]:
    """Return all data sets, the smallest first."""
    with (place / "manifest.csv").open(encoding="utf-8") as file:
        rows = [
            Known(row["name"], row["task"], int(row["n_rows"]), int(row["n_features"]), int(row["n_classes"] or 1))
            for row in csv.DictReader(file)
        ]
    return sorted(rows, key=lambda row: row.n_rows)


def screened_on(place: Path, family: str, n: int) -> list[str]:
    """Return `n` small data sets of a family that no other benchmark tests with, evenly over sizes."""
    barred = set(related([*CHOSEN, *tested(place)]))
    fitting = [
        row.name
        for row in manifest(place)
        if row.task in FAMILIES[family]
        and row.name not in barred
        and SMALL[0] <= row.n_rows <= SMALL[1]
        and row.n_columns <= MOST_COLUMNS
    ]
    return [fitting[k] for k in np.linspace(0, len(fitting) - 1, n).round().astype(int)]


def drawn(family: str) -> list[Wanted]:
    """Return the configurations of the first round."""
    found: list[Wanted] = []
    for algorithm, n in N_DRAWN.items():
        space = ALGORITHMS[algorithm].space(FAMILIES[family][-1])  # type: ignore[arg-type]
        rng = np.random.default_rng([SEED, list(N_DRAWN).index(algorithm)])
        found += [(algorithm, config) for config in space.sample(n, rng)]
    return found


def best(kb: KnowledgeBase, names: Sequence[str], family: str, wanted: Sequence[Wanted], n: int) -> list[Wanted]:
    """Return the `n` configurations that, after the defaults, together reach most on these data sets."""
    task = FAMILIES[family][0]
    defaults = [(name, ALGORITHMS[name].space(task).default()) for name in ALGORITHMS]  # type: ignore[arg-type]
    columns = {_key(item): place for place, item in enumerate([*defaults, *wanted])}
    scores = np.full((len(names), len(columns)), np.nan)
    for row, name in enumerate(names):
        for algorithm in N_DRAWN:
            for config, value in _runs(kb, name, algorithm):
                if (place := columns.get(_key((algorithm, config)))) is not None:
                    scores[row, place] = value
    low = np.nanquantile(scores, WORST_SHARE, axis=1, keepdims=True)
    top = np.nanmax(scores, axis=1, keepdims=True)
    levels = np.nan_to_num(np.clip((scores - low) / np.maximum(top - low, 1e-12), 0.0, 1.0))
    # Diversity first, as the ensemble is made of what is found; then what is best on average.
    chosen = greedy(levels, np.ones(len(names)), np.ones(len(columns)), n, given=range(len(defaults)))[len(defaults) :]
    by_mean = [int(place) for place in np.argsort(-levels.mean(axis=0)) if place >= len(defaults)]
    ordered = list(dict.fromkeys([*chosen, *by_mean]))[:n]
    return [([*defaults, *wanted])[place] for place in ordered]


def quickest_first(kb: KnowledgeBase, wanted: Sequence[Wanted]) -> list[Wanted]:
    """Return the configurations in the order of the seconds that they took in the mean."""
    took = kb.sql(
        "SELECT algorithm.name AS algorithm, names, value_list, avg(fit_seconds + predict_seconds) AS seconds FROM run "
        "JOIN algorithm ON algorithm.id = run.algorithm_id JOIN configuration ON configuration.id = configuration_id "
        "JOIN parameter_set ON parameter_set.id = parameter_set_id "
        "WHERE fit_seconds IS NOT NULL GROUP BY algorithm.name, names, value_list"
    )
    seconds = {
        _key((row.algorithm, dict(zip(json.loads(row.names), json.loads(row.value_list), strict=True)))): row.seconds
        for row in took.itertuples()
    }
    return sorted(wanted, key=lambda item: seconds.get(_key(item), math.inf))


def _runs(kb: KnowledgeBase, dataset: str, algorithm: str) -> list[tuple[Config, float]]:
    """Return the complete runs of an algorithm on a data set: configurations and scores."""
    frame = kb.runs(dataset=dataset, algorithm=algorithm, status="ok")
    task = str(kb.datasets().set_index("name").loc[dataset, "task"])
    names = [item.name for item in ALGORITHMS[algorithm].space(task).parameters]  # type: ignore[arg-type]
    found = []
    for row in frame.astype(object).to_dict("records"):
        config = {name: row[name] for name in names if name in row and (row[name] is None or row[name] == row[name])}
        found.append((config, float(row[default_metric(task)])))  # type: ignore[arg-type]
    return found


def _key(item: Wanted) -> str:
    return f"{item[0]} {canonical_json(item[1])}"


def round_of(
    kb: KnowledgeBase,
    place: Path,
    names: Sequence[str],
    wanted: Sequence[Wanted],
    asked: argparse.Namespace,
    should_stop: Callable[[], bool],
) -> None:
    """Run these configurations, and the defaults, on these data sets."""
    print(f"{len(wanted)} configurations on {len(names)} data sets", flush=True)

    def on_progress(progress: Progress) -> None:
        if progress.n_done % 200 == 0:
            speed = 60 * progress.n_done / progress.seconds
            print(
                f"{time.strftime('%H:%M')} {progress.n_done} runs, {progress.n_failed} not complete, {speed:.0f}/min",
                flush=True,
            )

    settings = BotSettings(
        algorithms=tuple(N_DRAWN),
        n_workers=asked.workers,
        limits=Limits(asked.limit_seconds, 2500.0),
        max_rows=MAX_ROWS,
        seed=SEED,
        first=tuple(wanted),
        draws=False,
    )
    sources = folder.sources([place / f"{name}.csv.gz" for name in names])
    report = run_bot(kb, sources, settings, on_progress=on_progress, should_stop=should_stop)
    print(f"{report.n_done} runs on {len(names)} data sets in {report.seconds / 60:.1f} min", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kb", type=Path, required=True)
    parser.add_argument("--folder", type=Path, default=DATASETS)
    parser.add_argument("--hours", type=float, default=2.0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--limit-seconds", type=float, default=6.0)
    asked = parser.parse_args()
    end = time.monotonic() + 3600 * asked.hours
    stopped: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: stopped.append(number))

    def should_stop() -> bool:
        return bool(stopped) or time.monotonic() > end

    with open_kb(asked.kb) as kb:
        wanted = {family: drawn(family) for family in FAMILIES}
        seen: dict[str, list[str]] = {family: [] for family in FAMILIES}
        for n_configs, n_datasets in ROUNDS:
            for family in FAMILIES:
                if n_configs is not None:
                    wanted[family] = best(kb, seen[family], family, wanted[family], n_configs)
                if n_datasets is not None:
                    seen[family] = screened_on(asked.folder, family, n_datasets)
                    round_of(kb, asked.folder, seen[family], wanted[family], asked, should_stop)
                if should_stop():
                    return
        wanted = {family: [*found[:N_BEST], *quickest_first(kb, found[N_BEST:])] for family, found in wanted.items()}
        # A few at a time: whenever it is stopped, what is known is known everywhere.
        for begin in range(0, ROUNDS[-1][0] or 0, AT_A_TIME):
            for family, tasks in FAMILIES.items():
                names = [
                    row.name
                    for row in manifest(asked.folder)
                    if row.task in tasks and row.n_columns * row.n_classes <= MOST_CELLS
                ]
                round_of(kb, asked.folder, names, wanted[family][begin : begin + AT_A_TIME], asked, should_stop)
                if should_stop():
                    return


if __name__ == "__main__":
    main()
