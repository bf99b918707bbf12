"""The pipeline head all algorithms share: data-set columns in, a matrix of numbers out.

Everything is learnt from the training rows alone. Numeric columns come first, then the category columns, each
encoded as the configuration says. What a model can do by itself (missing values, categories) is left to it.
"""

from __future__ import annotations

from typing import Any, Literal, cast

import numpy as np
import pandas as pd

from metaml.algorithms.base import Matrix, Vector
from metaml.algorithms.categories import (
    HASHED_COLUMNS,
    UNSEEN,
    Columns,
    Impact,
    Levels,
    hashed,
    impact_targets,
    one_hot,
)
from metaml.algorithms.weighted_statistics import weighted_middles, weighted_moments, weighted_quantiles
from metaml.arrays import Flags, Floats
from metaml.spaces import Choice, Integer, Parameter, When
from metaml.spaces.config import Config

Encoding = Literal["native", "integer", "one_hot", "impact", "hashed"]
Imputation = Literal["mean", "median"]
Scaling = Literal["standard", "robust", "quantile"]

ENCODING, IMPUTATION = "encoding", "imputation"
"""The parameters that have no effect without categories, or without missing numbers."""
_LARGEST = 1e30  # squares of it still fit in a float64, and it fits in a float32
_NATIVE_LEVELS = 254  # scikit-learn's histograms have 255 bins, one of them for missing values


def encoding_parameters(
    default: Encoding, *, native: bool = False, max_levels: int = 16, when: When | None = None
) -> list[Parameter]:
    """Return the parameters that say how categories become numbers.

    With `one_hot`, columns of more than `max_levels` levels are impact encoded (Coors 2018, sec. 3.1). `hashed` is for
    those who ask for it: no search draws it.
    """
    choices: tuple[Encoding, ...] = ("integer", "one_hot", "impact")
    return [
        Choice(ENCODING, ("native", *choices) if native else choices, default=default, when=when, unasked=("hashed",)),
        Integer("max_levels", 2, 64, default=max_levels, log=True, when=(ENCODING, ("one_hot",))),
    ]


def imputation_parameter(default: Imputation = "median") -> Parameter:
    """Return the parameter that says what replaces a missing number."""
    return Choice(IMPUTATION, ("mean", "median"), default=default)


def scaling_parameter(default: Scaling = "standard") -> Parameter:
    """Return the parameter that says how numbers are brought to one scale."""
    return Choice("scaling", ("standard", "robust", "quantile"), default=default)


def head_from(config: Config, *, seed: int, precision: Literal["float32", "float64"] = "float32") -> Head:
    """Return the head for the head's parameters in `config`; a step without a parameter is skipped."""
    return Head(
        encoding=cast(Encoding, config[ENCODING]),
        max_levels=cast(int, config.get("max_levels", 0)),
        imputation=cast("Imputation | None", config.get(IMPUTATION)),
        scaling=cast("Scaling | None", config.get("scaling")),
        precision=precision,
        seed=seed,
    )


class Head:
    """Encode categories, then impute and scale, as far as asked; learnt from the training rows.

    One-hot, hashed and native columns are neither imputed nor scaled. `categorical_` marks the native ones. Scaling
    needs imputation.
    """

    def __init__(
        self,
        *,
        encoding: Encoding,
        max_levels: int = 0,
        imputation: Imputation | None = None,
        scaling: Scaling | None = None,
        precision: Literal["float32", "float64"] = "float32",
        seed: int = 0,
    ) -> None:
        self.encoding = encoding
        self.max_levels = max_levels
        self.imputation = imputation
        self.scaling = scaling
        self.precision = precision
        self.seed = seed

    def fit_transform(self, X: pd.DataFrame, y: Vector, n_classes: int | None, weight: Vector | None = None) -> Matrix:
        """Learn from the training rows and return them; impact values are cross-fitted.

        `y` holds codes 0 … n_classes-1, or numbers if `n_classes` is None. `weight` is that of each row; only scaling
        by quantiles looks at rows whatever their weight.
        """
        is_category = np.array([isinstance(dtype, pd.CategoricalDtype) for dtype in X.dtypes], dtype=bool)
        self.levels_ = {name: Levels(X[name]) for name in X.columns[is_category]}
        # A column without any value carries no information, and some libraries fail on it.
        has_value = X.loc[:, ~is_category].notna().any(axis=0)
        self.numeric_ = [name for name, flag in has_value.items() if flag]
        self.encodings_ = {name: self._encoding_of(levels) for name, levels in self.levels_.items()}
        self.impacts_: dict[Any, Impact] = {}

        columns = Columns(X)
        rng = np.random.default_rng(self.seed)
        targets = impact_targets(y, n_classes)
        impacts = {}
        for name, levels in self.levels_.items():
            if self.encodings_[name] == "impact":
                self.impacts_[name] = Impact()
                codes = columns.codes(name, levels)
                impacts[name] = self.impacts_[name].fit_transform(codes, levels.count, targets, rng, weight)
        scaled, rest = self._encode(columns, impacts)

        if self.imputation is not None:
            self._fit_numbers(scaled, weight)
        is_native = [self.encodings_[name] == "native" for name in self.levels_]
        native = [np.full(block.shape[1], flag) for flag, block in zip(is_native, rest, strict=True)]
        self.categorical_: Flags = np.concatenate([np.zeros(scaled.shape[1], dtype=bool), *native])
        result = self._assemble(scaled, rest)
        if not self.categorical_.size:
            self.categorical_ = np.zeros(result.shape[1], dtype=bool)
        return result

    def transform(self, X: pd.DataFrame | Columns) -> Matrix:
        """Return new rows in the form of the training rows; unseen levels are allowed."""
        columns = Columns.of(X)
        impacts = {
            name: impact.transform(columns.codes(name, self.levels_[name])) for name, impact in self.impacts_.items()
        }
        return self._assemble(*self._encode(columns, impacts))

    def sources(self) -> list[Any]:
        """Return the name of the column that each column of the matrix was made from."""
        impact = [name for name, kept in self.impacts_.items() for _ in range(kept.values_.shape[1])]
        integer = [name for name in self.levels_ if self.encodings_[name] == "integer"]
        # Categories that count as numbers come in the order of the columns, whatever their encoding.
        numbers = [name for name in self.levels_ for made in (*impact, *integer) if made == name]
        rest = [
            name
            for name, levels in self.levels_.items()
            for _ in range(
                {"one_hot": levels.count, "native": 1, "hashed": HASHED_COLUMNS}.get(self.encodings_[name], 0)
            )
        ]
        return [*self.numeric_, *numbers, *rest]

    def _encoding_of(self, levels: Levels) -> Encoding:
        if self.encoding == "one_hot" and levels.count > self.max_levels:
            return "impact"
        if self.encoding == "native" and levels.count > _NATIVE_LEVELS:
            return "impact"
        if self.encoding == "hashed" and levels.count <= HASHED_COLUMNS:
            return "one_hot"
        return self.encoding

    def _encode(self, columns: Columns, impacts: dict[Any, Matrix]) -> tuple[Matrix, list[Matrix]]:
        """Return the columns that count as numbers, and for each category column what does not."""
        numbers = [np.clip(columns.numbers(self.numeric_), -_LARGEST, _LARGEST)]
        rest = []
        for name, levels in self.levels_.items():
            encoding = self.encodings_[name]
            other = np.empty((len(columns), 0))
            if encoding == "impact":
                numbers.append(impacts[name])
            else:
                codes = columns.codes(name, levels)
                if encoding == "integer":
                    numbers.append(codes[:, None].astype(np.float64))
                elif encoding == "one_hot":
                    other = one_hot(codes, levels.count)
                elif encoding == "hashed":
                    other = hashed(codes, levels)
                else:
                    other = np.where(codes == UNSEEN, np.nan, codes)[:, None]
            rest.append(other)
        return np.hstack(numbers), rest

    def _fit_numbers(self, numbers: Matrix, weight: Vector | None) -> None:
        if weight is None:
            self.fill_ = _column_by_column(numbers, np.median if self.imputation == "median" else np.mean)
        else:
            self.fill_ = weighted_middles(numbers, weight, is_median=self.imputation == "median")
        filled = np.where(np.isnan(numbers), self.fill_, numbers)
        if self.scaling == "standard":
            self.centre_, self.spread_ = _moments(filled, weight)
        elif self.scaling == "robust":
            low, self.centre_, high = _quartiles(filled, weight)
            self.spread_ = np.where(high > low, (high - low) / 1.349, _moments(filled, weight)[1])
        elif self.scaling == "quantile":
            from sklearn.preprocessing import QuantileTransformer

            n = min(1000, len(filled))
            scaler = QuantileTransformer(n_quantiles=n, output_distribution="normal", random_state=self.seed)
            self.quantiles_ = scaler.fit(filled) if filled.shape[1] else None

    def _assemble(self, numbers: Matrix, rest: list[Matrix]) -> Matrix:
        if self.imputation is not None:
            numbers = np.where(np.isnan(numbers), self.fill_, numbers)
        if self.scaling in ("standard", "robust"):
            numbers = (numbers - self.centre_) / np.where(self.spread_ > 0, self.spread_, 1.0)
            if self.scaling == "robust":
                # A smooth bound of ±3 for outliers, as in RealMLP (Holzmüller et al. 2024).
                numbers = numbers / np.sqrt(1 + (numbers / 3) ** 2)
        elif self.scaling == "quantile" and self.quantiles_ is not None:
            numbers = self.quantiles_.transform(numbers)
        result = np.hstack([numbers, *rest])
        if not result.shape[1]:  # a data set without usable columns still has a mean to predict
            result = np.zeros((len(result), 1))
        return result.astype(self.precision)


def _moments(filled: Matrix, weight: Vector | None) -> tuple[Floats, Floats]:
    """Return the mean and the standard deviation of each column."""
    if weight is None or not filled.shape[1]:
        return filled.mean(axis=0), filled.std(axis=0)
    return weighted_moments(filled, weight)


def _quartiles(filled: Matrix, weight: Vector | None) -> Floats:
    """Return the quartiles, 3 × columns."""
    shares = [0.25, 0.5, 0.75]
    if weight is None or not filled.shape[1]:
        return np.asarray(np.quantile(filled, shares, axis=0))
    return np.column_stack([weighted_quantiles(column, weight, shares) for column in filled.T])


def _column_by_column(numbers: Matrix, statistic: Any) -> Floats:
    """Return the statistic of each column's known values, 0 for a column that has none."""
    columns = np.ascontiguousarray(numbers.T)
    missing = np.isnan(columns)
    is_whole = ~missing.any(axis=1)
    found = np.zeros(len(columns))
    if is_whole.any() and len(numbers):
        found[is_whole] = statistic(columns[is_whole], axis=1)
    for place in np.flatnonzero(~is_whole & ~missing.all(axis=1)):
        found[place] = statistic(columns[place][~missing[place]])
    return found
