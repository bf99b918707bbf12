"""Tables of a model: what it says about some rows, and what it is made of."""

from html import escape

import pandas as pd

from metaml.data.names import free_name
from metaml.model.fitted import Answer, Model

SEPARATOR = " | "
"""Between the labels of a set."""


def prediction_table(model: Model, answer: Answer, *, proba: bool = False) -> pd.DataFrame:
    """Return the column `prediction`; with `proba`, also a column for the probability of each class.

    A class called "prediction" has the column `prediction_2`.
    """
    predictions = pd.DataFrame({"prediction": answer.predictions})
    if not proba or answer.probabilities is None or model.labels is None:
        return predictions
    names: list[str] = []
    for label in model.labels.tolist():
        names.append(free_name(str(label), {"prediction", *names}))
    chances = pd.DataFrame(answer.probabilities, columns=names)
    return pd.concat([predictions, chances], axis=1)


def with_intervals(predictions: pd.DataFrame, intervals: pd.DataFrame) -> pd.DataFrame:
    """Return predictions with their intervals beside them; the labels of a set are joined to a text."""
    shown = intervals.reset_index(drop=True)
    if "set" in shown:
        shown = shown.assign(set=[SEPARATOR.join(map(str, labels)) for labels in shown["set"]])
    return pd.concat([predictions, shown.set_axis(predictions.index)], axis=1)


def members_html(model: Model) -> str:
    """Return what a model is and its members as HTML, for a notebook."""
    rows = [
        {name: getattr(member, name) for name in ("algorithm", "weight", "layer", "score")} | dict(member.config)
        for member in model.members
    ]
    table = pd.DataFrame(rows).sort_values("weight", ascending=False, kind="stable")
    return f"<p>{escape(repr(model))}</p>{table.to_html(index=False, na_rep='', escape=True)}"
