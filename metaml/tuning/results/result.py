"""What a call of `metaml.tune` gives back: the model, the leaderboard, the report."""

import io
import json
from dataclasses import dataclass
from html import escape
from pathlib import Path

import pandas as pd

from metaml.model import Model
from metaml.model.front import Front
from metaml.report import ReportData, leaderboard_csv, render, summary
from metaml.spaces.config import Config

SHOWN_ROWS = 5
"""Rows of the leaderboard that a notebook shows."""


@dataclass(frozen=True, eq=False, repr=False)
class TuneResult:
    """What a call of `metaml.tune` found.

    - `model`: predicts, and can be saved.
    - `facts`: everything that the report shows.
    - `output`: the folder of the files; None if none were written.
    - `front`: the Pareto front of the `objectives`; None if they were not given.

    Scores are cross-validated values of `metric`; higher is better.

    >>> import metaml
    >>> from sklearn.datasets import load_iris
    >>> frame = load_iris(as_frame=True).frame
    >>> result = metaml.tune(frame, iterations=2, algorithms="decision_tree", folds=2, single=True, kb=":memory:")
    >>> result.kind, result.metric, result.score > -2
    ('single', 'neg_log_loss', True)
    >>> result.best_algorithm, sorted(result.best_config)[0], len(result.leaderboard)
    ('decision_tree', 'ccp_alpha', 2)
    >>> result.report is None, result.why, result.advice, result.html()[:15]
    (True, '', '', '<!doctype html>')
    >>> result.test_score is None, callable(result.log_mlflow)
    (True, True)
    >>> result.headline.split(":")[0]
    'A single decision_tree model'
    """

    model: Model
    facts: ReportData
    output: Path | None = None
    front: Front | None = None

    def __repr__(self) -> str:
        return f"TuneResult({self.headline!r})"

    @property
    def headline(self) -> str:
        """Return the result in a few sentences."""
        return str(summary(self.facts)["headline"])

    @property
    def metric(self) -> str:
        """Return the name of what was optimised."""
        return self.facts.metric

    @property
    def score(self) -> float | None:
        """Return the model's score; None for a fallback."""
        return self.model.score

    @property
    def test_score(self) -> float | None:
        """Return the model's score on the table given as `test`; None without one."""
        return None if self.facts.own_test is None else self.facts.own_test.score

    @property
    def kind(self) -> str:
        """Return what the model is: ensemble, single, or fallback if the time did not suffice for either."""
        return "fallback" if self.facts.final is None else self.facts.final.kind

    @property
    def why(self) -> str:
        """Return why the model is a fallback or a single one; empty if there is nothing to explain."""
        return "" if self.facts.final is None else self.facts.final.why

    @property
    def leaderboard(self) -> pd.DataFrame:
        """Return a row for each evaluation, best first, with its configuration as a dictionary."""
        board = pd.read_csv(io.StringIO(leaderboard_csv(self.facts)), dtype={"rank": "Int64"})
        return board.assign(config=[json.loads(config) for config in board["config"]])

    @property
    def best_algorithm(self) -> str | None:
        """Return the algorithm of the best single evaluation; None if none was complete."""
        best = summary(self.facts)["best"]
        return None if best is None else str(best["algorithm"])

    @property
    def best_config(self) -> Config | None:
        """Return the configuration of the best single evaluation; None if none was complete."""
        best = summary(self.facts)["best"]
        return None if best is None else dict(best["config"])

    @property
    def report(self) -> Path | None:
        """Return where the report is; None unless an output folder was given."""
        return None if self.output is None else self.output / "report.html"

    @property
    def advice(self) -> str:
        """Return a sentence on whether more time is worth it; empty if there were too few evaluations to say."""
        return self.facts.advice

    def _repr_html_(self) -> str:
        board = self.leaderboard.head(SHOWN_ROWS).to_html(index=False, escape=True)
        where = "" if self.report is None else f"<p>Report: <code>{escape(str(self.report))}</code></p>"
        return f"<p>{escape(self.headline)} {escape(self.advice)}</p>{board}{where}"

    def log_mlflow(self, *, experiment: str | None = None, run_name: str | None = None) -> str:
        """Log settings, scores, the model, the report and the leaderboard as a run of MLflow; return the run's key.

        The tracking server is the one that MLflow is set to. `experiment` is made if it is new; `run_name` is by
        default the name of the data set. Needs `pip install metaml[mlflow]`, else raises `BadRequest`.
        """
        from metaml.tuning.results.mlflow_log import log_result

        return log_result(self.facts, self.model, experiment=experiment, run_name=run_name)

    def html(self) -> str:
        """Return the report as a page."""
        return render(self.facts)
