"""What can be learnt from the search and the model: which settings and columns matter, and where it errs."""

import math
from collections import Counter

import numpy as np

from metaml.arrays import Floats
from metaml.evaluation.scoring import metric
from metaml.report.data import Confusion, ReportData
from metaml.report.importance import FEWEST_RUNS
from metaml.report.markup import Html, joined, shortened, tag
from metaml.report.pictures import histogram_picture, reliability_picture, scatter_picture
from metaml.report.tables import Bar, TableColumn, bars, figure, paragraph, side_by_side, table
from metaml.report.wording import counted, decimals, fixed, metric_label, rounded, share

MOST_FEATURES, MOST_SETTINGS, MOST_ALGORITHMS = 20, 8, 6
FEWEST_FEATURES = 3
"""The number of columns to show if none matters measurably."""
MOST_LABELS, MOST_BESIDE, MOST_PAIRS = 12, 5, 15
N_COLUMNS, N_BINS = 25, 10
DEEPEST = 46.0
"""Shading in percent beyond which numbers would be hard to read, in light or in dark."""


def hyperparameter_shares(data: ReportData) -> Html | None:
    """Return the share of each setting in the variance of the score, per algorithm."""
    if not data.trials:
        return None
    if not data.hyperparameters:
        often = max(Counter(trial.algorithm for trial in data.trials).values()) >= FEWEST_RUNS
        why = (
            "The settings do not explain the differences between the runs, so none can be called important."
            if often
            else f"No algorithm was evaluated {FEWEST_RUNS} times, too few to tell which of its settings matter."
        )
        return paragraph(data.absent.get("hyperparameters", why))
    figures = []
    for algorithm, shares in list(data.hyperparameters.items())[:MOST_ALGORITHMS]:
        shown = [Bar(name, value, share(value)) for name, value in shares[:MOST_SETTINGS]]
        rest = sum(value for _, value in shares[MOST_SETTINGS:])
        alone = sum(value for _, value in shares)
        if rest > 0.005:
            shown.append(Bar(f"{len(shares) - MOST_SETTINGS} others", rest, share(rest)))
        if alone < 0.995:
            shown.append(Bar("together", 1 - alone, share(1 - alone)))
        figures.append(figure(shortened(algorithm, 40), bars(shown, label=f"Settings of {algorithm}")))
    said = (
        "How much of the difference between runs each setting explains by itself; “together” is what only "
        "combinations of settings explain. An algorithm whose scores its settings do not explain is left out."
    )
    return joined(paragraph(said), side_by_side(*figures))


def features(data: ReportData) -> Html | None:
    """Return the columns that matter most to the model."""
    if not data.features:
        if data.final is None:
            return None
        return paragraph(data.absent.get("features", "The importance of the columns was not measured."))
    measurable = [item for item in data.features if item.mean > item.std]
    shown = measurable[:MOST_FEATURES] or data.features[:FEWEST_FEATURES]
    most = max(item.mean for item in shown)
    longest = max(item.mean + item.std for item in shown)
    label = metric_label(data.metric)
    verb = "rises" if metric(data.metric).is_loss else "falls"
    members = data.final.members if data.final is not None else ()
    whose = ""
    if len(members) > 1 and not shown[0].is_of_all:
        heaviest = max(members, key=lambda member: (-member.layer, member.weight, member.score))
        whose = f" of {heaviest.algorithm}, the heaviest member of layer 1,"
        if max(member.layer for member in members) == 1:
            whose = f" of {heaviest.algorithm}, the member with the most weight,"
    said = f"How much the {label}{whose} {verb} when a column is shuffled, on rows it was not fitted to (± its spread)."
    if most <= 0:
        return joined(paragraph(said), paragraph("Shuffling any single column costs nothing."))
    places = decimals(most)
    items = [
        Bar(
            item.column,
            item.mean / longest,
            f"{fixed(item.mean, places)} ± {fixed(item.std, places)}",
            item.std / longest,
        )
        for item in shown
    ]
    drawn = figure(None, bars(items, label="Importance of the columns"))
    return joined(paragraph(said), drawn, _others(len(data.features), len(measurable), len(shown)))


def _others(n_columns: int, n_measurable: int, n_shown: int) -> Html | None:
    """Return a sentence about the columns that are not shown."""
    if not n_measurable:
        best = f"; the best {n_shown} of {n_columns:,} are shown" if n_shown < n_columns else ""
        return paragraph(f"No column matters measurably by itself{best}.", class_="note")
    n_more, n_idle = n_measurable - n_shown, n_columns - n_measurable
    said = []
    if n_more:
        said.append(f"{counted(n_more, 'more column')} matter{'s' if n_more == 1 else ''} measurably")
    if n_idle:
        said.append(f"{counted(n_idle, 'other column')} {'does' if n_idle == 1 else 'do'} not matter measurably")
    return paragraph(f"{'; '.join(said)}.", class_="note") if said else None


def errors(data: ReportData) -> Html | None:
    """Return where the model errs: confusion and calibration, or residuals."""
    if data.final is None:
        return None
    parts: list[object] = []
    if data.confusion is not None:
        parts.append(_confusion(data.confusion))
    if data.calibration:
        parts.append(_calibration(data))
    if data.residuals:
        parts.append(_residuals(data))
    if not parts:
        return paragraph(data.absent.get("errors", "There are no out-of-fold predictions to judge the model by."))
    return joined(*parts)


def _confusion(found: Confusion) -> Html:
    counts = np.asarray(found.counts, dtype=np.float64)
    right = float(np.trace(counts) / max(counts.sum(), 1.0))
    said = paragraph(
        f"{share(right)} of the rows are labelled right when each is predicted by a model that never saw it."
    )
    if len(found.labels) > MOST_LABELS:
        pairs, worst = _pairs(found, counts), _classes(found, counts)
        return joined(said, side_by_side(figure("Most frequent confusions", pairs), figure("Hardest classes", worst)))
    heads = [tag("th", shortened(label, 14), scope="col") for label in found.labels]
    rows = [tag("tr", tag("td"), *heads)]
    for place, label in enumerate(found.labels):
        whole = max(counts[place].sum(), 1.0)
        cells = [_cell(count, count / whole, place == other) for other, count in enumerate(counts[place])]
        rows.append(tag("tr", tag("th", shortened(label, 24), scope="row"), *cells))
    grid = tag("div", tag("table", *rows, class_="heat"), class_="scroll", tabindex="0")
    matrix = figure(
        "Confusion matrix",
        grid,
        note="A row is a true class, a column what was predicted; shading is the share of the row.",
    )
    each = figure("Class by class", _classes(found, counts))
    return joined(said, side_by_side(matrix, each) if len(found.labels) <= MOST_BESIDE else joined(matrix, each))


def _classes(found: Confusion, counts: Floats) -> Html:
    """Return how well each class is found, the rarest found first where there are many."""
    right, true, predicted = np.diag(counts), counts.sum(axis=1), counts.sum(axis=0)
    recall = np.divide(right, true, out=np.full(len(right), np.nan), where=true > 0)
    precision = np.divide(right, predicted, out=np.full(len(right), np.nan), where=predicted > 0)
    order = range(len(right)) if len(right) <= MOST_LABELS else np.argsort(recall, kind="stable")[:MOST_PAIRS]
    rows = [
        [shortened(found.labels[k], 30), f"{true[k]:,.0f}", share(float(recall[k])), share(float(precision[k]))]
        for k in order
    ]
    columns = [
        TableColumn("Class"),
        TableColumn("Rows", "number"),
        TableColumn("Recall", "number"),
        TableColumn("Precision", "number"),
    ]
    return table(columns, rows)


def _cell(count: float, part: float, is_right: bool) -> Html:
    kind = ("right" if is_right else "wrong") + (" none" if count == 0 else "")
    return tag("td", f"{count:,.0f}", class_=kind, style=f"--depth:{DEEPEST * part:.0f}%")


def _pairs(found: Confusion, counts: Floats) -> Html:
    wrong = counts.copy()
    np.fill_diagonal(wrong, 0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:MOST_PAIRS]
    rows = []
    for true, predicted in zip(*np.unravel_index(order, wrong.shape), strict=True):
        if wrong[true, predicted] > 0:
            of_class = wrong[true, predicted] / counts[true].sum()
            names = [shortened(found.labels[true], 30), shortened(found.labels[predicted], 30)]
            rows.append([*names, f"{wrong[true, predicted]:,.0f}", share(of_class)])
    columns = [
        TableColumn("True class"),
        TableColumn("Predicted"),
        TableColumn("Rows", "number"),
        TableColumn("Of the class", "number"),
    ]
    return table(columns, rows)


def _calibration(data: ReportData) -> Html:
    points = [(item.predicted, item.observed, item.n_rows) for item in data.calibration]
    whole = sum(n for _, _, n in points)
    gap = sum(n * abs(predicted - observed) for predicted, observed, n in points) / max(whole, 1)
    if data.dataset.task == "binary":
        second = list(data.confusion.labels)[1:2] if data.confusion is not None else []
        x_label, y_label = "predicted probability", "observed share"
        of = joined(" of class ", tag("code", shortened(second[0], 30))) if second else joined(" of the second class")
    else:
        x_label, y_label, of = (
            "confidence in the predicted class",
            "share that is right",
            joined(" of the predicted class"),
        )
    said = joined(
        "Probability", of, f" against what came true. On average they differ by {rounded(gap)}; on the dashed line "
        "they would not differ. Large dots stand for many rows.",
    )  # fmt: skip
    reliable = reliability_picture(points, title="Calibration", x_label=x_label, y_label=y_label)
    counts = [0] * N_BINS
    for predicted, _, n_rows in points:
        counts[min(int(predicted * N_BINS), N_BINS - 1)] += n_rows
    edges = [place / N_BINS for place in range(N_BINS + 1)]
    many = histogram_picture(edges, counts, title="Rows by predicted probability", x_label=x_label, y_label="rows")
    drawn = side_by_side(figure("Calibration", reliable), figure("How sure it is", many))
    return joined(paragraph(said), paragraph(_calibrated(data), class_="note"), drawn)


def _calibrated(data: ReportData) -> str:
    """Return what calibration did, or that it was not needed."""
    known = data.evidence
    if known is None or not known.method or known.calibration_gain is None:
        return "The probabilities are those of the members: no calibration helped on rows it was not fitted on."
    whole = max(sum(item.n_rows for item in known.uncalibrated), 1)
    before = sum(item.n_rows * abs(item.predicted - item.observed) for item in known.uncalibrated) / whole
    gain, error = known.calibration_gain
    return (
        f"The probabilities were calibrated ({known.method}). Before, they differed by {rounded(before)} on average; "
        f"the log loss of rows the calibration was not fitted on fell by {rounded(gain)} ± {rounded(error, 2)}."
    )


def _residuals(data: ReportData) -> Html:
    pairs = [pair for pair in data.residuals if all(map(math.isfinite, pair))]
    if not pairs:
        return paragraph("No row has a finite prediction.")
    off = np.array([truth - predicted for truth, predicted in pairs])
    low, high = np.quantile(off, [0.01, 0.99]) if len(off) > 50 else (off.min(), off.max())
    if low == high:
        low, high = low - 0.5, high + 0.5
    n_columns = min(N_COLUMNS, max(5, round(math.sqrt(len(off)))))
    counts, edges = np.histogram(np.clip(off, low, high), bins=n_columns, range=(float(low), float(high)))
    half = float(np.median(np.abs(off)))
    said = (
        f"Half of {counted(len(pairs), 'sampled row')} are predicted to within {rounded(half)}, nine in ten to within "
        f"{rounded(float(np.quantile(np.abs(off), 0.9)))}, each by a model that never saw it."
    )
    target = data.dataset.target if len(data.dataset.target) <= 24 else data.dataset.target[:23] + "…"
    against = scatter_picture(
        [(predicted, truth) for truth, predicted in pairs],
        title="Truth against prediction",
        x_label=f"predicted {target}",
        y_label=f"true {target}",
    )
    spread = histogram_picture(
        edges.tolist(), counts.tolist(), title="Residuals", x_label="truth − prediction", y_label="rows"
    )
    return joined(
        paragraph(said), side_by_side(figure("Truth against prediction", against), figure("Residuals", spread))
    )
