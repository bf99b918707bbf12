"""Every third-party table of the shared folder imported into one knowledge base, twice: the second time adds nothing.

python benchmarks/import_tables.py [--metadata ../shared/metadata] [--notes]
"""

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from metaml_kb import KnowledgeBase, open_kb
from metaml_kb.table_import.metafeatures import import_metafeatures
from metaml_kb.table_import.runs import ImportReport, TableLayout, import_table

METADATA = Path(__file__).resolve().parents[2] / "shared" / "metadata"

TASK = TableLayout(
    dataset_column="task_id",
    dataset_prefix="openml-task:",
    score_columns=("predictive_accuracy",),
    metrics=("accuracy",),
    fold_plan="openml 10-fold",
)
HYPERBENCH = TableLayout(
    dataset_column="dataset",
    dataset_prefix="cc18:",
    score_columns=("loss",),
    metrics=("balanced_error",),
    lower_is_better=("loss",),
    seconds_column="time",
    proposer_column="optimizer",
    ignore_columns=("seed", "config_index", "config_id", "n_evals"),
    fold_plan="hyperbench 3 x 90/10",
)
OPTIMUS = replace(
    TASK,
    algorithm="optimus_random_forest",
    score_columns=("score",),
    seconds_column="time",
    failed_score=0.0,
    ignore_columns=("failed",),
)
RANDOM_BOT = replace(TASK, score_columns=("auc",), metrics=("roc_auc",))
# An empty cell of ranger is its default; one of xgboost is a tree parameter of a linear booster, so inactive.
RANGER = replace(RANDOM_BOT, algorithm="mlr_ranger", defaults={"replace": "TRUE"}, empty_means="default")
PMLB = TableLayout(
    dataset_column="dataset",
    dataset_prefix="pmlb:",
    algorithm_column="algorithm",
    config_column="parameters",
    score_columns=("accuracy", "macrof1", "bal_accuracy"),
    metrics=("accuracy", "f1_macro", "balanced_accuracy"),
)
TEXT = TableLayout(
    dataset_column="dataset",
    dataset_prefix="text:",
    algorithm_column="algorithm",
    score_columns=("predictive_accuracy",),
    metrics=("accuracy",),
    seconds_column="runtime",
)

RUNS: dict[str, TableLayout] = {
    "openml100-sklearn/runs_random_forest.csv.gz": replace(TASK, algorithm="sklearn_random_forest"),
    "openml100-sklearn/runs_adaboost.csv.gz": replace(TASK, algorithm="sklearn_adaboost"),
    "openml100-sklearn/runs_svc.csv.gz": replace(TASK, algorithm="sklearn_svc"),
    **{
        f"hyperboost-hyperbench/runs_{name}.csv.gz": replace(HYPERBENCH, algorithm=name)
        for name in ("RandomForest", "XGBoost", "SVC", "SGD")
    },
    "optimus-rf-runtime/runs_random_forest.csv.gz": OPTIMUS,
    "openml-randombot-subset/runs_mlr_ranger.csv.gz": RANGER,
    "openml-randombot-subset/runs_mlr_xgboost.csv.gz": replace(RANDOM_BOT, algorithm="mlr_xgboost"),
    "pmlb-sklearn-benchmarks/runs_r5.tsv.gz": replace(PMLB, fold_plan="pmlb r5"),
    "pmlb-sklearn-benchmarks/runs_r6.tsv.gz": replace(PMLB, fold_plan="pmlb r6"),
    "text-classification-pipelines/runs.csv.gz": TEXT,
}
Importer = Callable[[KnowledgeBase, Path], ImportReport]
METAFEATURES: dict[str, Importer] = {
    "openml100-sklearn/metafeatures.csv": partial(
        import_metafeatures, dataset_column="task_id", dataset_prefix="openml-task:"
    ),
    "hyperboost-hyperbench/datasets.csv": partial(
        import_metafeatures, dataset_column="dataset", dataset_prefix="cc18:", ignore_columns=("openml100_task_id",)
    ),
    "pmlb-sklearn-benchmarks/metafeatures.csv.gz": partial(
        import_metafeatures, dataset_column="dataset", dataset_prefix="pmlb:", source="pmlb"
    ),
}
SKIPPED = {
    "hyperboost-hyperbench/incumbent_trajectories.csv.gz": "has no configurations: the best loss so far over time",
    "vanhoof-thesis-results/bo_simulation_curves.csv.gz": "has no runs: the curves of a figure",
    "vanhoof-thesis-results/meta_learner_kendall_tau.csv": "has no runs: the numbers of two figures",
}


def importers() -> dict[str, Importer]:
    """Return how each table is imported, in order."""
    return {
        **{name: partial(import_table, layout=layout) for name, layout in RUNS.items()},
        **METAFEATURES,
    }


def import_all(kb: KnowledgeBase, metadata: Path, *, notes: bool) -> int:
    """Import every table, print a line for each, and return the number of new runs and metafeatures."""
    widths = {"rows": 8, "new": 9, "known": 9, "failed": 8, "same": 7, "again": 8, "clash": 7, "sets": 6, "seconds": 9}
    print(f"{'table':<54}" + "".join(f"{word:>{width}}" for word, width in widths.items()) + f"{'cpu':>6}")
    total = 0
    for name, importer in importers().items():
        start, busy = time.perf_counter(), time.process_time()
        report = importer(kb, metadata / name)
        seconds, busy = time.perf_counter() - start, time.process_time() - busy
        total += report.n_new
        print(
            f"{name:<54}{report.n_rows:>8,}{report.n_new:>9,}{report.n_known:>9,}{report.n_failed:>8,}"
            f"{report.n_duplicates:>7,}{report.n_repetitions:>8,}{report.n_clashes:>7,}{len(report.datasets):>6}"
            f"{seconds:>9.1f}{busy:>6.1f}"
        )
        if notes:
            print("".join(f"    {note}\n" for note in report.notes), end="")
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--metadata", type=Path, default=METADATA)
    parser.add_argument("--notes", action="store_true", help="print what each import had to say")
    options = parser.parse_args()
    found = {str(path.relative_to(options.metadata)) for path in options.metadata.glob("*/*.?sv*")}
    untold = found - importers().keys() - SKIPPED.keys()
    if untold:
        raise SystemExit(f"Nothing is said here of {', '.join(sorted(untold))}. Add a layout or a reason to skip it.")
    with tempfile.TemporaryDirectory() as folder, open_kb(Path(folder) / "kb.db") as kb:
        import_all(kb, options.metadata, notes=options.notes)
        for name, reason in SKIPPED.items():
            print(f"{name:<54}skipped: {reason}")
        megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"\n{kb.info()['runs']:,} runs, peak memory {megabytes:.0f} megabytes. Again:\n")
        n_new = import_all(kb, options.metadata, notes=False)
        print(f"\nThe second time added {n_new:,} runs and metafeatures.")


if __name__ == "__main__":
    main()
