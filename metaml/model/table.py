"""What a model says about some rows, as a table."""

import pandas as pd

from metaml.data.names import free_name
from metaml.model.fitted import Answer, Model


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
