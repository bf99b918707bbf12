"""The final model as a person reads it, for the report, where it is one that can be read."""

import numpy as np

from metaml.algorithms import ALGORITHMS
from metaml.data import Dataset
from metaml.explanation.readable import MOST_ROWS, readable_model
from metaml.explanation.score_card import score_card, totals
from metaml.model import Model
from metaml.report import ReadableFacts

CALIBRATED = "The probabilities of the saved model are corrected afterwards (calibrated), so they differ from these."
MOST_EFFECTS = 2000
"""Columns times outputs of a model that is written down: nobody reads more, and it would take seconds."""
AVERAGED = "The saved model averages the models of {} folds; this is their average."


def readable_facts(dataset: Dataset, model: Model) -> ReadableFacts | None:
    """Return what a report shows of a model that a person can read; None for any other."""
    weighted = [member for member in model.members if member.weight]
    if len(weighted) != 1 or not ALGORITHMS[weighted[0].algorithm].is_readable:
        return None
    n_outputs = 1 if dataset.labels is None or len(dataset.labels) == 2 else len(dataset.labels)
    if dataset.X.shape[1] * n_outputs > MOST_EFFECTS:
        return None
    member, X = weighted[0], dataset.X.iloc[:MOST_ROWS]
    classes = [getattr(estimator, "classes_", None) for estimator in member.estimators]
    labels = () if dataset.labels is None else tuple(str(label) for label in dataset.labels)
    # A fold may lack a class; its scores then mean something else.
    if labels and any(found is None or len(found) != len(labels) for found in classes):
        return None
    found = readable_model(member.algorithm, member.estimators, X)
    if found is None:
        return None
    notes = [CALIBRATED] if model.calibration is not None else []
    notes += [AVERAGED.format(len(member.estimators))] if len(member.estimators) > 1 else []
    card = score_card(found, X, are_classes=bool(labels))
    agreement = None
    if card is not None and labels:
        scores, points = found.scores(X), totals(card, X)
        if scores.shape[1] == 1:
            agreement = float(np.mean((scores[:, 0] > 0) == (points[:, 0] > 0)))
        else:
            agreement = float(np.mean(scores.argmax(axis=1) == points.argmax(axis=1)))
    return ReadableFacts(model=found, card=card, labels=labels, agreement=agreement, note=" ".join(notes))
