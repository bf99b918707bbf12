"""Which raw columns of a table a model reads, and the same model that asks for no others."""

from dataclasses import replace

from metaml.algorithms import ALGORITHMS
from metaml.model.fitted import Model


def columns_read(model: Model) -> set[str]:
    """Return the raw columns that can change a prediction of the model."""
    read = {
        column
        for member in model.members
        for estimator in member.estimators
        for column in ALGORITHMS[member.algorithm].columns_read(estimator)
    }
    return model.schema.sources_of(read)


def without_unread(model: Model) -> Model:
    """Return the model with a schema of the columns that it reads; its predictions are the same."""
    return replace(model, schema=model.schema.only(columns_read(model)))
