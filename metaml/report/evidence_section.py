"""The section of a report that says what its score rests on."""

import math
from collections.abc import Sequence

from metaml.report.data import ReportData
from metaml.report.evidence import Curve, Evidence
from metaml.report.markup import Html, joined, shortened, tag
from metaml.report.pictures import at, axes, framed
from metaml.report.tables import Bar, TableColumn, bars, figure, paragraph, side_by_side, table
from metaml.report.wording import counted, error_text, metric_label, number, rounded, score_text, share, validated


def evidence(data: ReportData) -> Html | None:
    """Return how many rows trained and tested, the spread over folds, curves, thresholds and coverage."""
    known = data.evidence
    if known is None or data.final is None:
        return None
    n_folds = len(known.fold_scores)
    how = f"{counted(n_folds, 'fold')}, each" if n_folds > 1 else "One part of the rows was held out. The model was"
    said = (
        f"{counted(data.dataset.n_rows, 'row')} were read. {how} trained on about {known.n_trained:,} rows; "
        f"{counted(known.n_tested, 'row')} in all were tested by models that had not seen them. Every score "
        "and curve is about these."
    )
    parts: list[object] = [paragraph(said), _folds(data, known)]
    if known.curves:
        parts.append(_curves(known.curves))
    if known.thresholds:
        parts.append(_thresholds(data, known))
    if known.costs:
        parts.append(_costs(known))
    if known.coverage:
        parts.append(_coverage(data, known))
    return joined(*parts)


def _folds(data: ReportData, known: Evidence) -> Html | None:
    scores = [score for score in known.fold_scores if math.isfinite(score)]
    if len(scores) < 2:
        return None
    least, most = min(scores), max(scores)
    room = (most - least) or abs(most) or 1.0
    items = [
        Bar(f"fold {place}", 0.15 + 0.85 * (score - least) / room, score_text(data.metric, score))
        for place, score in enumerate(scores, start=1)
    ]
    spread = f"mean {score_text(data.metric, sum(scores) / len(scores))}{error_text(known.error)} (standard error)"
    note = f"{validated(data).capitalize()} {metric_label(data.metric)}: {spread}. Bars begin near the worst fold."
    if known.later_error is not None:
        note += (
            f" Later rows may differ from the mean as these folds do, by{error_text(known.later_error)}: that stands "
            "beside the score. The last fold is the nearest to them."
        )
    return figure("Score of each fold", bars(items, label="Score of each fold"), note=note)


def _curves(curves: Sequence[Curve]) -> Html:
    roc = _picture([curve.roc for curve in curves], "ROC curve", "false positive rate", "true positive rate", True)
    recall = _picture([c.precision_recall for c in curves], "Precision-recall curve", "recall", "precision", False)
    areas = table(
        [
            TableColumn("Class"),
            TableColumn("Rows", "number"),
            TableColumn("ROC AUC", "number"),
            TableColumn("Average precision", "number"),
        ],
        [
            [
                joined(tag("span", class_=f"key key-{place}") if len(curves) > 1 else None, shortened(curve.label, 30)),
                share(curve.share),
                f"{curve.auc:.4f}",
                f"{curve.average_precision:.4f}",
            ]
            for place, curve in enumerate(curves)
        ],
    )
    return joined(side_by_side(figure("ROC curve", roc), figure("Precision and recall", recall)), areas)


def _picture(
    lines: Sequence[Sequence[tuple[float, float]]], title: str, x_label: str, y_label: str, has_diagonal: bool
) -> Html:
    x_axis, y_axis = axes((0.0, 1.0), (0.0, 1.0))
    parts = []
    if has_diagonal:
        corners = {"x1": x_axis(0), "y1": y_axis(0), "x2": x_axis(1), "y2": y_axis(1)}
        parts.append(tag("line", class_="equal", **{name: at(place) for name, place in corners.items()}))
    for place, points in enumerate(lines):
        path = " ".join(f"{x_axis(x):.1f},{y_axis(y):.1f}" for x, y in points)
        parts.append(tag("polyline", class_=f"steps thin curve-{place}", points=path))
    return framed(parts, x_axis, y_axis, title, x_label, y_label)


def _thresholds(data: ReportData, known: Evidence) -> Html:
    label = known.curves[0].label if known.curves else "the second class"
    own = _own_threshold(data)
    rows = [
        [f"{row.threshold:.2f}", share(row.share), share(row.precision), share(row.recall), share(row.accuracy)]
        for row in known.thresholds
    ]
    marked = [abs(row.threshold - own) < 1e-9 for row in known.thresholds]
    columns = ["From probability", "Predicted", "Precision", "Recall", "Accuracy"]
    shown = table([TableColumn(name, "number") for name in columns], rows, marked=marked)
    named = tag("code", shortened(label, 30))
    said = joined(
        "What follows if class ", named, " is predicted from another probability on. The model uses the marked one."
    )
    return joined(tag("h3", "Thresholds"), paragraph(said), shown)


def _costs(known: Evidence) -> Html:
    rows = [[row.way, "" if row.threshold is None else f"{row.threshold:.3f}", number(row.cost)] for row in known.costs]
    columns = [
        TableColumn("Decision by", "name"),
        TableColumn("From probability", "number"),
        TableColumn("Mean cost", "number"),
    ]
    said = (
        "What a row costs out of fold. The theoretical threshold follows from the costs alone, and is right if "
        "probabilities are; that of the model was chosen on these rows."
    )
    return joined(tag("h3", "Costs"), paragraph(said), table(columns, rows))


def _own_threshold(data: ReportData) -> float:
    factors = None if data.final is None else data.final.multipliers
    if not factors or len(factors) != 2:
        return 0.5
    first, second = factors.values()
    return first / (first + second)


def _coverage(data: ReportData, known: Evidence) -> Html:
    is_number = data.dataset.task == "regression"
    what = "Intervals" if is_number else "Sets of labels"
    rows = [[share(row.asked), share(row.held), rounded(row.width)] for row in known.coverage]
    columns = [
        TableColumn("Asked for", "number"),
        TableColumn("Held the truth", "number"),
        TableColumn("Mean width" if is_number else "Mean size", "number"),
    ]
    said = f"{what} of tested rows, made from the errors on the other folds: how often they held the truth."
    return joined(tag("h3", "How sure it is"), paragraph(said), table(columns, rows))
