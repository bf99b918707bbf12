"""Everything that the runs of one algorithm teach, as one value and as tables."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from metaml.insight.best_settings import SPLIT_ROWS, BestSettings, best_settings
from metaml.insight.importance import Importance, importance
from metaml.insight.ranges import SuggestedRange, suggested_ranges
from metaml.insight.runs import AlgorithmRuns
from metaml.insight.settings import value_text
from metaml.insight.tunability import Tunability, tunability
from metaml.spaces.config import Config

CONFIGS_EACH = 5
"""With fewer different configurations per hyperparameter, their effects cannot be told apart."""


@dataclass(frozen=True, eq=False)
class Insight:
    """What the runs of an algorithm on many data sets teach.

    `n_drawn` of the `n_runs` are runs that no search proposed: importance, ranges and the best values by size are
    computed from them alone. `notes` are sentences on what to be careful about.
    """

    algorithm: str
    metric: str
    n_runs: int
    n_drawn: int
    n_configs: int
    n_datasets: int
    tunability: Tunability | None
    importance: tuple[Importance, ...]
    ranges: tuple[SuggestedRange, ...]
    best: BestSettings
    notes: tuple[str, ...] = ()

    @property
    def hyperparameters(self) -> pd.DataFrame:
        """Return a row for each hyperparameter: importance, gain when it alone is tuned, and the suggested range."""
        gains = {} if self.tunability is None else {gain.name: gain for gain in self.tunability.hyperparameters}
        ranges = {item.name: item for item in self.ranges}
        matters = {item.name: item for item in self.importance}
        names = list(dict.fromkeys([*matters, *gains, *ranges]))
        rows = []
        for name in names:
            own, gain, span = matters.get(name), gains.get(name), ranges.get(name)
            rows.append(
                {
                    "hyperparameter": name,
                    "importance": np.nan if own is None else own.share,
                    "clear": None if own is None else own.is_clear,
                    "gain": np.nan if gain is None else gain.mean,
                    "gain_error": np.nan if gain is None else gain.standard_error,
                    "suggested": "" if span is None else _span_text(span),
                    "kept": np.nan if span is None else span.kept,
                }
            )
        columns = ["hyperparameter", "importance", "clear", "gain", "gain_error", "suggested", "kept"]
        return pd.DataFrame(rows, columns=columns)

    @property
    def values(self) -> pd.DataFrame:
        """Return a row for each value of each hyperparameter and each group of data sets: how often it is best."""
        rows = [
            (group.label, name, effect.value, effect.share, effect.loss, effect.standard_error, effect.n_datasets)
            for group in self.best.groups
            for name, effects in group.effects.items()
            for effect in effects
        ]
        columns = ["datasets", "hyperparameter", "value", "best_on", "loss", "loss_error", "n_datasets"]
        return pd.DataFrame(rows, columns=columns)


def insight(
    runs: AlgorithmRuns, *, split_rows: Sequence[int] = SPLIT_ROWS, default: Config | None = None, seed: int = 0
) -> Insight:
    """Return what the runs of an algorithm teach. `default` replaces the default configuration of its space."""
    drawn = runs.drawn()
    n_configs = len({repr(sorted(config.items())) for config in drawn.configs})
    found = tunability(runs, default=default, seed=seed)
    return Insight(
        runs.algorithm,
        runs.metric,
        len(runs.scores),
        len(drawn.scores),
        n_configs,
        runs.n_datasets,
        found,
        importance(runs, seed=seed),
        suggested_ranges(runs),
        best_settings(runs, split_rows=split_rows),
        (*runs.notes, *_notes(runs, len(drawn.scores), n_configs, found)),
    )


def _notes(runs: AlgorithmRuns, n_drawn: int, n_configs: int, found: Tunability | None) -> list[str]:
    notes = []
    n_searched = len(runs.scores) - n_drawn - int(runs.is_default.sum())
    if n_searched > 0:
        notes.append(
            f"{n_searched:,} runs were proposed by searches, so they count only for the best runs and the gains."
        )
    if n_configs < CONFIGS_EACH * len(runs.settings):
        notes.append(
            f"Only {n_configs} different configurations were drawn for {len(runs.settings)} hyperparameters: which of "
            "them matters is uncertain."
        )
    if found is None:
        notes.append("No data set has enough runs to say what tuning gains: 20, or the same grid on all data sets.")
    elif found.fit < 0.3:
        notes.append(f"The models of the scores explain only {max(found.fit, 0):.0%} of their variance: trust no gain.")
    return notes


def _span_text(span: SuggestedRange) -> str:
    if span.choices:
        return " or ".join(map(value_text, span.choices))
    return f"{value_text(span.low)} to {value_text(span.high)}"
