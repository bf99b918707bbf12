"""What a model says about some rows, as a table."""

import pandas as pd

from metaml.model.fitted import Answer, Model


def prediction_table(model: Model, answer: Answer, *, proba: bool = False) -> pd.DataFrame:
    """Return the column `prediction`; with `proba`, also a column for the probability of each class."""
    predictions = pd.DataFrame({"prediction": answer.predictions})
    if not proba or answer.probabilities is None or model.labels is None:
        return predictions
    chances = pd.DataFrame(answer.probabilities, columns=[str(label) for label in model.labels.tolist()])
    return pd.concat([predictions, chances], axis=1)
