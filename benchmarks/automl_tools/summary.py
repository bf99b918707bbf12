"""What the results of all tools say together: tables in Markdown.

One measure counts for each task: ROC AUC for two classes, log loss for several, RMSE for numbers. A failure or a
time-out has no score: it shares the last rank, and its normalised score is the least there is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import pandas as pd

BASELINE = "default random forest"
LEAST = -1.0
"""Normalised scores below are cut here, so that one disaster does not decide a mean."""
MOST_BUSY_PERCENT = 20.0
MEASURES = {
    "binary": ("roc_auc", "ROC AUC"),
    "multiclass": ("log_loss", "log loss"),
    "regression": ("rmse", "RMSE"),
}
LOSSES = ("log_loss", "rmse")
CLASS_MEASURES = ("roc_auc", "log_loss", "balanced_accuracy")
Row = dict[str, Any]


def primary(row: Row) -> float:
    """Return the measure that counts, higher is better; NaN for a run that failed."""
    name = MEASURES[row["task"]][0]
    if row["status"] != "ok":
        return math.nan
    return -float(row[name]) if name in LOSSES else float(row[name])


def scores(rows: Iterable[Row]) -> pd.DataFrame:
    """Return the score of each tool (column) on each data set (row), averaged over seeds, where every tool has one.

    A tool that fails with one seed has failed on the data set.
    """
    table = pd.DataFrame([{"tool": row["tool"], "dataset": row["dataset"], "score": primary(row)} for row in rows])
    grouped = table.groupby(["dataset", "tool"], sort=False)["score"]
    means = grouped.apply(lambda values: values.mean(skipna=False)).unstack(sort=False)
    counted = grouped.size().unstack(sort=False)
    return means[counted.notna().all(axis=1)]


def ranks(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rank of each tool on each data set, 1 the best; equals share, failures share the last."""
    return table.rank(axis=1, ascending=False, na_option="bottom")


def normalised(table: pd.DataFrame) -> pd.DataFrame:
    """Return scores on a scale where the default random forest has 0 and the best tool 1, not below -1.

    Where nothing beats the random forest, the scale is the distance to the worst tool; where it failed or did not take
    part, the worst tool has 0.
    """
    best, worst = table.max(axis=1), table.min(axis=1)
    base = table[BASELINE].fillna(worst) if BASELINE in table else worst
    span = (best - base).where(best > base, best - worst)
    return table.sub(base, axis=0).div(span.where(span > 0, 1.0), axis=0).clip(lower=LEAST).fillna(LEAST)


def by_dataset(rows: list[Row]) -> str:
    """Return a table of the measure that counts, a line for each data set, `failed` where there is none."""
    tasks = {row["dataset"]: row["task"] for row in rows}
    table = scores(rows)
    lines = []
    for name in table.index:
        label = MEASURES[tasks[name]][1]
        values = table.loc[name].to_numpy(dtype=float)
        best = max((value for value in values if value == value), default=math.nan)
        shown = [f"{abs(value):.4g}" if value == value else "failed" for value in values]
        cells = [f"**{text}**" if value == best else text for text, value in zip(shown, values, strict=True)]
        lines.append([name, label, *cells])
    return markdown(["data set", "measure", *map(str, table.columns)], lines)


def by_tool(rows: list[Row]) -> str:
    """Return a table with a line for each tool, the best mean rank first."""
    table = scores(rows)
    frame = pd.DataFrame(rows)
    frame = frame[frame["dataset"].isin(table.index)]
    mean_ranks, mean_scores = ranks(table).mean().sort_values(), normalised(table).mean()
    lines = []
    for tool in mean_ranks.index:
        mine = frame[frame["tool"] == tool]
        well = mine[mine["status"] == "ok"]
        lines.append(
            [
                str(tool),
                f"{mean_ranks[tool]:.2f}",
                f"{mean_scores[tool]:+.2f}",
                f"{len(mine) - len(well)}",
                *_numbers(well, "wall_seconds", "overrun_seconds"),
                f"{well['overrun_seconds'].max():+.1f}" if len(well) else "–",
                *_numbers(well, "setup_seconds", "peak_megabytes", "row_milliseconds", "single_milliseconds"),
            ]
        )
    head = ["tool", "mean rank", "normalised", "failed", "wall s", "overrun s", "largest overrun s", "of which setup s"]
    return markdown([*head, "peak MB", "ms per row", "ms for one row"], lines)


def by_measure(rows: list[Row]) -> str:
    """Return a table of each tool's means over the data sets with classes, and its rank where numbers are predicted."""
    table = scores(rows)
    frame = pd.DataFrame(rows)
    frame = frame[frame["dataset"].isin(table.index) & (frame["status"] == "ok")]
    numeric = frame.loc[frame["task"] == "regression", "dataset"].unique()
    rmse = ranks(table.loc[table.index.isin(numeric)]).mean()
    lines = []
    for tool in ranks(table).mean().sort_values().index:
        mine = frame[(frame["tool"] == tool) & (frame["task"] != "regression")]
        means = [f"{mine[name].mean():.4f}" if len(mine) else "–" for name in CLASS_MEASURES]
        lines.append([str(tool), *means, f"{rmse[tool]:.2f}" if len(numeric) else "–"])
    return markdown(["tool", "ROC AUC", "log loss", "balanced accuracy", "mean rank by RMSE"], lines)


def against(rows: list[Row], reference: str) -> str:
    """Return a table of the reference against each other tool: wins, ties, losses, and the difference in rank."""
    table = scores(rows)
    placed = ranks(table)
    lines = []
    for tool in table.columns:
        if tool == reference:
            continue
        differences = placed[tool] - placed[reference]
        n = len(differences)
        error = differences.std(ddof=1) / math.sqrt(n) if n > 1 else math.nan
        counts = [(differences > 0).sum(), (differences == 0).sum(), (differences < 0).sum()]
        lines.append([str(tool), *map(str, counts), f"{differences.mean():+.2f} ± {error:.2f}"])
    head = f"rank of the tool minus rank of {reference}, ± paired standard error"
    return markdown([f"{reference} against", "wins", "ties", "losses", head], lines)


def failures(rows: list[Row]) -> str:
    """Return a line for each run that failed, with its reason."""
    failed = [row for row in rows if row["status"] != "ok"]
    return "\n".join(f"- {row['tool']} on {row['dataset']} (seed {row['seed']}): {row['reason']}" for row in failed)


def disturbed(rows: list[Row]) -> str:
    """Return a warning if some runs began while the machine was busy with something else."""
    n_busy = sum(row["busy_percent_before"] > MOST_BUSY_PERCENT for row in rows)
    if not n_busy:
        return ""
    return (
        f"{n_busy} of {len(rows)} runs began on a busy machine: their seconds, and so their scores, are not comparable."
    )


def report(rows: list[Row], budget: float, reference: str) -> str:
    """Return the whole comparison at one budget."""
    table = scores(rows)
    n_names = len({row["dataset"] for row in rows})
    count = f"{len(table)} data set{'s' if len(table) != 1 else ''}" + (
        f" of {n_names}; the others lack a tool" if len(table) < n_names else ""
    )
    parts = [f"## {budget:g} s: {count}"]
    if len(table):
        parts += [by_dataset(rows), by_tool(rows), by_measure(rows)]
        parts += [against(rows, reference)] if reference in table.columns else []
    return "\n\n".join(part for part in [*parts, failures(rows), disturbed(rows)] if part)


def markdown(head: list[str], lines: list[list[str]]) -> str:
    """Return a Markdown table with columns of equal width."""
    table = [head, *lines]
    widths = [max(len(line[i]) for line in table) for i in range(len(head))]
    texts = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in table
    ]
    return "\n".join([texts[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *texts[1:]])


def _numbers(well: pd.DataFrame, *names: str) -> list[str]:
    if not len(well):
        return ["–"] * len(names)
    digits = {"peak_megabytes": 0, "row_milliseconds": 3}
    return [f"{well[name].mean():.{digits.get(name, 1)}f}" for name in names]
