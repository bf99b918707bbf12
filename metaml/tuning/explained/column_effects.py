"""How the predictions of the final model change along its strongest columns, and which of these act together."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from metaml.arrays import Array, Floats
from metaml.budget import Budget
from metaml.data import Dataset
from metaml.explanation.effects import (
    ColumnEffect,
    Interaction,
    effect_along,
    interactions,
    parts_by,
    places_of,
    shares_at,
)
from metaml.report import ReportData
from metaml.tuning.closing import closing_seconds
from metaml.tuning.explained.fold_ensemble import FoldEnsemble, fold_ensemble
from metaml.tuning.finished import Finished
from metaml.tuning.job_batch import Ending

UNTIMED_SECONDS, SHARE, LEAST_SECONDS = 10.0, 0.6, 0.2
"""Seconds where time does not count, else the share of what is left; with less it is not begun."""
MOST_COLUMNS, MOST_TOGETHER, MOST_SHOWN = 6, 5, 3
MOST_ROWS, FEWEST_ROWS, PROBE_ROWS, COLUMN_SHARE = 200, 20, 200, 0.25
"""Rows of each fold along which the model is asked, and the share of the time left that each column may take: those
that matter most come first."""
MOST_PLACES, FEWEST_PLACES, TOGETHER_SHARE = 36, 12, 0.7
"""Rows that are each other's background when interactions are looked for, and their share of the time left."""
LEAST_SHARE = 0.05
"""An interaction with a smaller share of the joint effect of two columns is not shown."""


def with_effects(data: ReportData, finished: Finished, ending: Ending) -> ReportData:
    """Return a report with the curves of the columns that matter most, and the interactions among them.

    There are as many as the time allows.

    Each fold's models are asked about the rows of that fold, so there is a curve for each fold.
    """
    settings, budget = ending.settings, ending.budget
    seconds = UNTIMED_SECONDS
    if settings.seconds is not None:
        seconds = SHARE * (budget.left - 0.5 * closing_seconds(settings, budget))
    ensemble = fold_ensemble(ending.found, finished, ending.models) if seconds >= LEAST_SECONDS else None
    names = [item.column for item in data.features if item.mean > 0][:MOST_COLUMNS]
    if ensemble is None or not names:
        return data
    asked = _Asked(ending.dataset, ensemble, seconds, np.random.default_rng(settings.seed))
    effects = [effect for name in names if (effect := asked.effect(name)) is not None]
    pairs = asked.interactions([effect.column for effect in effects[:MOST_TOGETHER]]) if effects else []
    return replace(data, effects=effects, interactions=pairs)


class _Asked:
    """The ensemble of each fold, with the rows of that fold and the time that there is to ask it."""

    def __init__(self, dataset: Dataset, ensemble: FoldEnsemble, seconds: float, rng: np.random.Generator) -> None:
        self._dataset, self._ensemble = dataset, ensemble
        self._budget = own = Budget(seconds)
        self._rows = {fold: _some(rows, rng) for fold, rows in ensemble.tests().items()}
        self._folds = ensemble.folds
        first = self._folds[0]
        probe = self._rows[first][:PROBE_ROWS]
        begun = own.used
        self._predict(first, dataset.X.iloc[probe])
        self._per_row = max((own.used - begun) / max(len(probe), 1), 1e-9)
        self._outputs: list[int] = []

    def _predict(self, fold: int, rows: pd.DataFrame) -> Floats:
        outputs = self._ensemble.outputs(rows, fold)
        return outputs[:, None] if self._dataset.labels is None else outputs

    def effect(self, name: str) -> ColumnEffect | None:
        """Return the curves of one column; None if it is constant or there is no time."""
        X, places = self._dataset.X, places_of(self._dataset.X[name])
        n_each = len(places) if places and isinstance(places[0], str) else 2
        seconds = COLUMN_SHARE * max(self._budget.left, 0.0)
        n_rows = min(MOST_ROWS, int(seconds / (self._per_row * n_each * len(self._folds))))
        if not places or n_rows < FEWEST_ROWS or self._budget.is_used_up:
            return None
        curves = []
        for fold in self._folds:
            rows = X.iloc[self._rows[fold][:n_rows]].reset_index(drop=True)
            if rows[name].notna().any():
                curves.append(effect_along(partial(self._predict, fold), rows, name, places))
        if not curves:
            return None
        whole = np.stack(curves)
        labels = self._dataset.labels
        output = 0 if labels is None else 1 if len(labels) == 2 else int(np.ptp(whole.mean(axis=0), axis=0).argmax())
        self._outputs.append(output)
        return ColumnEffect(
            name,
            places,
            tuple(tuple(curve[:, output].tolist()) for curve in whole),
            shares_at(X[name], places),
            "" if labels is None else str(labels[output]),
        )

    def interactions(self, names: list[str]) -> list[Interaction]:
        """Return the pairs to show, as the models of one fold see them; the first ones have curves."""
        n_sets = len(names) + math.comb(len(names), 2)
        n_places = int(math.sqrt(max(TOGETHER_SHARE * self._budget.left, 0.0) / (self._per_row * max(n_sets, 1))))
        fold, output = self._folds[0], self._outputs[0]
        rows = self._dataset.X.iloc[self._rows[fold][: min(n_places, MOST_PLACES)]].reset_index(drop=True)
        if len(names) < 2 or len(rows) < FEWEST_PLACES:
            return []

        def predict(part: pd.DataFrame) -> Floats:
            return self._predict(fold, part)[:, output : output + 1]

        pairs = interactions(predict, rows, names, lambda: self._budget.is_used_up)
        kept = [pair for pair in pairs if pair.share >= LEAST_SHARE][:MOST_SHOWN]
        return [self._with_curves(kept[0], output), *kept[1:]] if kept else []

    def _with_curves(self, pair: Interaction, output: int) -> Interaction:
        """Return an interaction with the effect of its first column on rows where the second differs."""
        X = self._dataset.X
        # A curve needs numbers; what parts the rows may be a category.
        first, second = sorted((pair.first, pair.second), key=lambda name: X[name].dtype == "category")
        places = places_of(X[first])
        curves = []
        for name, flags in parts_by(X[second]):
            made = []
            for fold in self._folds:
                own = self._rows[fold]
                rows = X.iloc[own[flags[own]]].reset_index(drop=True)
                if len(rows) >= 5 and not self._budget.is_used_up:
                    made.append(effect_along(partial(self._predict, fold), rows, first, places))
            if made:
                curves.append((name, tuple(np.mean(made, axis=0)[:, output].tolist())))
        if len(curves) < 2 or isinstance(places[0], str):
            return pair
        return replace(pair, first=first, second=second, places=places, curves=tuple(curves))


def _some(rows: Array, rng: np.random.Generator) -> Array:
    return rows if len(rows) <= MOST_ROWS else np.sort(rng.choice(rows, MOST_ROWS, replace=False))
