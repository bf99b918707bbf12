"""A fitted model: raw rows in, labels or values out, on any machine and without a knowledge base."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from metaml.arrays import Array, Floats
from metaml.data import Schema
from metaml.data.roles import ROLES
from metaml.ensemble.calibration import Calibration
from metaml.ensemble.combination import combine_each
from metaml.ensemble.layers import with_predictions
from metaml.errors import BadRequest
from metaml.evaluation.environment import library_versions
from metaml.model.reading import TableReader, remarks
from metaml.model.refusing import refusing
from metaml.model.sample import Sample
from metaml.model.uncertainty import Uncertainty

if TYPE_CHECKING:
    import pandas as pd

    from metaml.algorithms.categories import Columns
    from metaml.data import Dataset
    from metaml.model.checking import Check
    from metaml.model.explaining import Explanation
    from metaml.spaces.config import Config


@dataclass(frozen=True, eq=False)
class Member:
    """One algorithm with one configuration: its share of the ensemble and its fitted estimators, which are averaged.

    `score` is its own cross-validated score. Members of `layer` 2 also read what those of layer 1
    predict that feed them; such a member of layer 1 may have no weight of its own.
    """

    algorithm: str
    config: Config
    weight: float
    estimators: tuple[Any, ...]
    score: float | None = None
    layer: int = 1
    feeds: bool = False


@dataclass(frozen=True, eq=False)
class Answer:
    """What a model says about some rows, in their order.

    `predictions` are labels in their original type, or values; `probabilities` has a column per label, and is None
    for regression. `notes` are sentences about what the rows lacked; most often there are none.
    """

    predictions: Array
    probabilities: Floats | None
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """A weighted ensemble that predicts raw rows.

    - `members`: the fitted estimators with their weights. `schema`: the columns that they need.
    - `dataset`, `fingerprint`, `n_rows`: name, hash and size of the data set that they were fitted to.
    - `metric`, `score`: the cross-validated score, higher is better; None for a fallback.
    - `calibration`: corrects the class probabilities; None leaves them as they are.
    - `multipliers`: weigh the class probabilities before the largest is chosen; None means all are 1.
    - `uncertainty`: its errors on rows that it had not seen; None if they are not known.
    - `sample`: some of the training rows, which explanations and checks compare with; None if none were kept.
    - `facts`: anything else to keep, as plain JSON. `is_from_file`: somebody else may have made it.
    - `created`, `versions`: when it was made (UTC), and with which versions of which libraries.

    >>> import metaml.data
    >>> from sklearn.datasets import load_iris
    >>> frame = load_iris(as_frame=True).frame
    >>> model = metaml.tune(frame, name="iris", iterations=1, algorithms="decision_tree", folds=2, kb=":memory:").model
    >>> model.dataset, model.in_words
    ('iris', 'decision_tree')
    >>> model.task, model.n_layers, model.n_fold_models, model.labels.tolist(), model.notes
    ('multiclass', 1, 2, [0, 1, 2], ())
    >>> model.predict(frame.head(2)).tolist(), model.predict_proba(frame).shape
    ([0, 0], (150, 3))
    >>> model.outputs(model.schema.apply(frame), fold=0).shape
    (150, 3)
    >>> [weight for _, weight in model.weighted_outputs(model.schema.apply(frame))]
    [1.0]
    >>> model.decided(np.array([[0.2, 0.8, 0.0]])).tolist()
    [1]
    >>> explained = model.explain(frame.head(2))
    >>> bool(np.allclose(explained.base + explained.contributions.sum(axis=1), model.predict_proba(frame.head(2))))
    True
    >>> model.check(frame.sample(100, random_state=0)).differs
    False
    >>> model.answer(frame.head(2)).predictions.tolist()
    [0, 0]
    >>> model.predict_interval(frame.head(1), coverage=0.9)["set"].tolist()
    [[0]]
    >>> Model.of(metaml.data.from_frame(frame), model.members, metric="accuracy").n_rows
    150
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     metaml.load(model.save(folder)).predict(frame.tail(1)).tolist()
    [2]
    """

    members: tuple[Member, ...]
    schema: Schema
    dataset: str
    fingerprint: str
    n_rows: int
    metric: str
    score: float | None = None
    multipliers: tuple[float, ...] | None = None
    calibration: Calibration | None = None
    uncertainty: Uncertainty | None = None
    sample: Sample | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    created: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    versions: Mapping[str, str] = field(default_factory=library_versions)
    is_from_file: bool = False

    def __post_init__(self) -> None:
        if not self.members or not all(member.estimators for member in self.members):
            raise BadRequest("A model needs at least one member, and each a fitted estimator. Fit one first.")
        if not any(member.weight > 0 for member in self.members):
            raise BadRequest("A model needs a member with a weight above 0. Give one.")
        if self.n_layers > 1 and not any(member.feeds for member in self.members if member.layer == 1):
            raise BadRequest("A second layer needs members of the first that feed it. Mark them.")

    @classmethod
    def of(
        cls,
        dataset: Dataset,
        members: Sequence[Member],
        *,
        metric: str,
        score: float | None = None,
        multipliers: Array | None = None,
        calibration: Calibration | None = None,
        facts: Mapping[str, Any] | None = None,
    ) -> Model:
        """Return the model of these `members` for a `dataset`.

        `metric`, `score`, `multipliers`, `calibration` and `facts` are stored, with the columns that weigh, group
        and order rows if there are any. Multipliers that are all equal become None.
        """
        factors = None
        if multipliers is not None and np.ptp(multipliers) > 0:
            factors = tuple(float(factor) for factor in multipliers)
        known = {role: getattr(dataset.roles.options, role) for role in ROLES}
        columns = {role: column for role, column in known.items() if column is not None}
        return cls(
            members=tuple(members),
            schema=dataset.schema,
            dataset=dataset.name,
            fingerprint=dataset.fingerprint,
            n_rows=len(dataset.y),
            metric=metric,
            score=score,
            multipliers=factors,
            calibration=calibration,
            facts={**columns, **(facts or {})},
        )

    def __repr__(self) -> str:
        judged = "" if self.score is None else f", {self.metric} {self.score:.6g}"
        return f"Model({self.schema.target!r} of {self.dataset!r}: {self.in_words}{judged})"

    def _repr_html_(self) -> str:
        from metaml.model.table import members_html

        return members_html(self)

    @property
    def in_words(self) -> str:
        """Return what the model is made of, such as "ensemble of 3 (lightgbm, svm)"."""
        weighted = [member for member in self.members if member.weight]
        names = ", ".join(dict.fromkeys(member.algorithm for member in weighted))
        return names if len(weighted) == 1 else f"ensemble of {len(weighted)} ({names})"

    @property
    def task(self) -> str:
        """Return what the model does: binary, multiclass or regression."""
        return self.schema.task

    @property
    def n_layers(self) -> int:
        """Return how many layers the members form: 1 or 2."""
        return max(member.layer for member in self.members)

    @property
    def n_fold_models(self) -> int:
        """Return how many models of folds each member averages; 0 if members were fitted to all rows."""
        numbers = {len(member.estimators) for member in self.members if member.weight or member.feeds}
        return numbers.pop() if len(numbers) == 1 and numbers != {1} else 0

    @property
    def labels(self) -> Array | None:
        """Return the class labels in the order of the probabilities; None for regression."""
        return self.schema.label_array()

    @property
    def notes(self) -> tuple[str, ...]:
        """Return a sentence if the libraries here are not those the model was made with."""
        here = library_versions()
        used = ("metaml", "scikit-learn", *dict.fromkeys(member.algorithm for member in self.members))
        others = [
            f"{name} {self.versions[name]} (here {here[name]})"
            for name in used
            if name in here and name in self.versions and _release(here[name]) != _release(self.versions[name])
        ]
        return (f"The model was made with {', '.join(others)}; predictions may differ.",) if others else ()

    def answer(self, frame: pd.DataFrame) -> Answer:
        """Return predictions, probabilities and remarks for the rows of a raw table, the `frame`.

        Columns may come in any order, and more of them than needed. Up to half of the needed ones may be absent and
        count as missing values. Raises `BadDataset` if the rows cannot be used.
        """
        with refusing(self.is_from_file):
            X, read = self._reader.read(frame)
            notes = remarks(self.schema, read)
            outputs = self.outputs(X)
            labels = self.labels
            if labels is None:
                return Answer(outputs, None, notes)
            return Answer(labels[self.decided(outputs)], outputs, notes)

    @cached_property
    def _reader(self) -> TableReader:
        return TableReader(self.schema, has_layers=self.n_layers > 1)

    def predict_interval(self, frame: pd.DataFrame, coverage: float = 0.9) -> pd.DataFrame:
        """Return an interval for each row of a raw table that holds the true value with probability `coverage`.

        `frame` is as for `predict`. The columns are `low` and `high`. If the model predicts classes, the column `set`
        has the labels that are possible, the most probable first.
        """
        from metaml.model.uncertainty import interval_table

        with refusing(self.is_from_file):
            X = self.schema.read(frame).X
        table = interval_table(self, X, coverage)
        return table.set_axis(frame.index) if hasattr(frame, "index") else table

    def predict_quantiles(self, frame: pd.DataFrame, levels: Sequence[float] = (0.05, 0.5, 0.95)) -> pd.DataFrame:
        """Return, for each row of a raw table, the values that the truth stays below with these probabilities.

        `frame` is as for `predict`; `levels` are between 0 and 1. Most models give the ends of intervals.

        >>> import metaml, pandas
        >>> frame = pandas.DataFrame({"x": range(60), "y": [number + number % 7 for number in range(60)]})
        >>> found = metaml.tune(frame, "y", algorithms="distribution", iterations=1, folds=2, kb=":memory:")
        >>> found.model.predict_quantiles(frame.head(2), [0.1, 0.9]).columns.tolist()
        ['q0.1', 'q0.9']
        """
        from metaml.model.quantiles import quantile_table

        with refusing(self.is_from_file):
            X = self.schema.read(frame).X
        return quantile_table(self, X, levels).set_axis(frame.index)

    def predict(self, frame: pd.DataFrame) -> Array:
        """Return the label or value of each row of a raw table, the `frame`; `BadDataset` is raised as by `answer`."""
        return self.answer(frame).predictions

    def predict_proba(self, frame: pd.DataFrame) -> Floats:
        """Return the probability (0 to 1) of each label for each row of a raw table, the `frame`.

        Raises `BadRequest` if the model predicts a number, and `BadDataset` as `answer` does.
        """
        probabilities = self.answer(frame).probabilities
        if probabilities is None:
            raise BadRequest(f"The model predicts the number {self.schema.target!r}, so there are no probabilities.")
        return probabilities

    def explain(self, frame: pd.DataFrame, *, samples: int = 5, seed: int = 0) -> Explanation:
        """Return what each column adds to the predictions of the rows of a raw table; it sums to them.

        `frame` is as for `predict`. Members that are not boosted trees are explained by so many pairs of `samples`,
        drawn by `seed`: more are slower and more exact.
        """
        from metaml.model.explaining import explain

        return explain(self, self.schema.read(frame).X, n_walks=samples, seed=seed)

    def check(self, frame: pd.DataFrame, *, limit: float = 0.6, seed: int = 0) -> Check:
        """Return whether the rows of a raw table are like the training rows, and what differs.

        `frame` is as for `predict`, with or without the target. Rows differ if a classifier, made with `seed`, tells
        them apart with an area under the curve above the `limit`, or if categories, columns or the target do.
        """
        from metaml.model.checking import check

        return check(self, frame, limit=limit, seed=seed)

    def decided(self, outputs: Floats) -> Array:
        """Return the code of the class that is predicted by `outputs`, rows × classes."""
        return np.asarray((outputs if self.multipliers is None else outputs * self.multipliers).argmax(axis=1))

    def outputs(self, X: pd.DataFrame | Columns, fold: int | None = None) -> Floats:
        """Return values, or probabilities of the classes, for rows as features.

        `X` has the columns of the schema. With `fold`, only the models that were fitted without that fold are asked.
        """
        if not len(X):
            return self._no_output(0)
        # Imported here because it takes a second: it imports scikit-learn.
        from metaml.algorithms.tabular import quietly

        with quietly(n_threads=1):
            output = combine_each(self.weighted_outputs(X, fold))
        return output if self.labels is None else self._probabilities(output)

    def _probabilities(self, output: Floats) -> Floats:
        """Return what the members say together as probabilities."""
        chances = np.asarray(output / output.sum(axis=1, keepdims=True))
        return chances if self.calibration is None else self.calibration(chances)

    def weighted_outputs(
        self, X: pd.DataFrame | Columns, fold: int | None = None, weights: Sequence[float] | None = None
    ) -> Iterator[tuple[Floats, float]]:
        """Return, one after the other, the output and the weight of each member that has one, layer by layer.

        `X` and `fold` are as for `outputs`; `weights` take the place of the members' own.
        """
        # Imported here because it takes a second: it imports scikit-learn.
        from metaml.algorithms.categories import Columns

        weighted = list(zip(self.members, weights or [member.weight for member in self.members], strict=True))
        needs_feeds = any(member.layer == 2 and weight for member, weight in weighted)
        columns, fed = Columns.of(X), []
        for member, weight in weighted:
            if member.layer == 1 and (weight or (member.feeds and needs_feeds)):
                output = self._output_of(member, columns, fold)
                if member.feeds:
                    fed.append(output)
                if weight:
                    yield output, weight
        if needs_feeds:
            columns = Columns(with_predictions(cast("pd.DataFrame", X), fed))
            for member, weight in weighted:
                if member.layer == 2 and weight:
                    yield self._output_of(member, columns, fold), weight

    def _output_of(self, member: Member, columns: Columns, fold: int | None) -> Floats:
        """Return the mean of a member's estimators, or what that of one fold says."""
        total = self._no_output(len(columns))
        estimators = member.estimators if fold is None else member.estimators[fold : fold + 1]
        for estimator in estimators:
            if self.schema.labels is None:
                total += np.asarray(estimator.predict(columns), dtype=np.float64)
            else:
                total[:, estimator.classes_] += estimator.predict_proba(columns)
        return np.asarray(total / len(estimators))

    def _no_output(self, n_rows: int) -> Floats:
        return np.zeros(n_rows if self.schema.labels is None else (n_rows, len(self.schema.labels)))

    def save(self, path: str | Path) -> Path:
        """Write the model to the file `path`, or as model.zip into the folder `path`; return where it is."""
        from metaml.model.saving import save

        return save(self, path)


def _release(version: str) -> tuple[str, ...]:
    """Return the part of a version that decides what a library does.

    >>> _release("1.9.0")
    ('1', '9')
    """
    return tuple(version.split(".")[:2])
