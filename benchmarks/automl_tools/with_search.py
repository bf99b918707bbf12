"""Optuna's TPE or SMAC3 over metaml's algorithms: one joint conditional space, 5-fold cross-validation by metaml's
evaluator in two worker processes, the best configuration refitted to all rows.

Both are asked and told, with their own default settings but for two: Optuna counts evaluations in flight as bad
(`constant_liar`, its advice for several workers), and SMAC starts from 20 points of its Sobol design, because the ten
for each parameter that it would take fill any short budget. An evaluation may take a quarter of the budget; one that
fails counts as the worst so far, at least as bad as a guess.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from contract import Fitted, Job, run

if TYPE_CHECKING:
    from metaml.data import Dataset
    from metaml.spaces import Parameter, Space
    from metaml.spaces.config import Config

FOLDS = 5
SOBOL_POINTS = 20
MOST_SECONDS_SHARE = 0.25
REFIT_MARGIN = 1.5
"""A refit sees a quarter more rows than a fold, and some learners are slower than in proportion."""


class Searcher(Protocol):
    """What both libraries are to the loop: losses are told, lower is better."""

    version: str

    def ask(self) -> tuple[Any, str, Config]:
        """Return a token, an algorithm and its configuration."""

    def tell(self, token: Any, loss: float) -> None:
        """Take the loss of what was asked."""


class Optuna:
    """Optuna's tree-structured Parzen estimator."""

    def __init__(self, spaces: dict[str, Space], job: Job) -> None:
        import optuna  # type: ignore[import-not-found]

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.version = optuna.__version__
        self._spaces = spaces
        self._study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=job.seed, constant_liar=True))

    def ask(self) -> tuple[Any, str, Config]:
        """Return a trial of the study with what it suggests."""
        trial = self._study.ask()
        algorithm = trial.suggest_categorical("algorithm", list(self._spaces))
        config: Config = {}
        for parameter in self._spaces[algorithm].parameters:
            if parameter.when is None or config.get(parameter.when[0], ...) in parameter.when[1]:
                config[parameter.name] = _suggested(trial, f"{algorithm}:{parameter.name}", parameter)
        return trial, algorithm, config

    def tell(self, token: Any, loss: float) -> None:
        """Take the loss of a trial."""
        self._study.tell(token, loss)


class Smac:
    """SMAC3 with the random forest of its facade for hyperparameters."""

    def __init__(self, spaces: dict[str, Space], job: Job) -> None:
        import smac  # type: ignore[import-not-found]
        from ConfigSpace import CategoricalHyperparameter, ConfigurationSpace

        from metaml.spaces.configspace import to_configspace

        self.version = smac.version
        self._spaces = spaces
        joint = ConfigurationSpace(seed=job.seed)
        algorithm = CategoricalHyperparameter("algorithm", list(spaces))
        joint.add(algorithm)
        for name, space in spaces.items():
            parent = {"parent": algorithm, "value": name}
            joint.add_configuration_space(name, to_configspace(space), parent_hyperparameter=parent)
        scenario = smac.Scenario(
            joint, output_directory=Path(job.folder) / "smac", deterministic=True, n_trials=100_000, seed=job.seed
        )
        facade = smac.HyperparameterOptimizationFacade
        self._smac = facade(
            scenario,
            lambda config, seed: 0.0,  # noqa: ARG005
            initial_design=facade.get_initial_design(scenario, n_configs=SOBOL_POINTS),
            logging_level=False,
            overwrite=True,
        )

    def ask(self) -> tuple[Any, str, Config]:
        """Return what SMAC wants to know next."""
        info = self._smac.ask()
        values = {
            name: getattr(value, "item", lambda value=value: value)() for name, value in dict(info.config).items()
        }
        algorithm = str(values.pop("algorithm"))
        config = {name.partition(":")[2]: value for name, value in values.items()}
        return info, algorithm, self._spaces[algorithm].complete(config)

    def tell(self, token: Any, loss: float) -> None:
        """Take the loss of what SMAC asked."""
        from smac.runhistory.dataclasses import TrialValue  # type: ignore[import-not-found]

        self._smac.tell(token, TrialValue(cost=loss))


SEARCHERS: dict[str, type[Optuna] | type[Smac]] = {"optuna": Optuna, "smac": Smac}


def fit(job: Job) -> Fitted:
    """Return the best configuration found, refitted to all rows."""
    from metaml.algorithms import ALGORITHMS
    from metaml.data import read_dataset
    from metaml.evaluation import Job as Evaluation
    from metaml.evaluation import Limits, LocalExecutor, default_metric, make_plan
    from metaml.model import Model, fit_member

    begun = time.time()
    dataset = read_dataset(job.train_file, target=job.target, task=job.task)
    metric, plan = default_metric(dataset.task), make_plan(dataset, n_folds=FOLDS)
    searcher: Searcher = SEARCHERS[sys.argv[2]]({name: a.space(dataset.task) for name, a in ALGORITHMS.items()}, job)
    tokens: dict[int, Any] = {}
    worst = chance_loss(dataset)
    best, best_loss, refit_seconds, n_runs = None, float("inf"), 0.0, 0

    def seconds_left() -> float:
        return begun + job.budget - refit_seconds - time.time()

    with LocalExecutor(job.threads, [dataset]) as executor:
        while seconds_left() > 0:
            while executor.free and seconds_left() > 0:
                token, algorithm, config = searcher.ask()
                limits = Limits(max(0.1, min(MOST_SECONDS_SHARE * job.budget, seconds_left())))
                evaluation = Evaluation(dataset.fingerprint, algorithm, config, plan, job.seed, limits)
                tokens[id(evaluation)] = (token, evaluation)
                executor.submit(evaluation)
            done = executor.next(timeout=max(0.01, seconds_left()))
            if done is None:
                continue
            evaluation, outcome = done
            n_runs += 1
            # SMAC takes logarithms: its losses must be positive.
            loss = (metric == "roc_auc") - outcome.score(metric) if outcome.status == "ok" else worst
            worst = max(worst, loss)
            searcher.tell(tokens.pop(id(evaluation))[0], loss)
            if outcome.status == "ok" and loss < best_loss:
                best, best_loss = evaluation, loss
                refit_seconds = REFIT_MARGIN * outcome.fit_seconds / plan.n_folds
    if best is None:
        raise RuntimeError("no evaluation finished within the budget")
    chosen = ALGORITHMS[best.algorithm]
    member = fit_member(dataset, chosen, best.config, seed=job.seed, n_threads=job.threads)
    model = Model.of(dataset, [member], metric=metric)
    labels = None if model.labels is None else [str(label) for label in model.labels.tolist()]
    details = {"version": searcher.version, "best": best.algorithm, "n_runs": n_runs}
    return Fitted(labels, model.predict if labels is None else model.predict_proba, begun, details=details)


def chance_loss(dataset: Dataset) -> float:
    """Return the loss of a guess that does not look at the inputs."""
    import numpy as np

    if dataset.labels is None:
        return float(np.std(dataset.y))
    return 0.5 if len(dataset.labels) == 2 else float(np.log(len(dataset.labels)))


def _suggested(trial: Any, name: str, parameter: Parameter) -> Any:
    from metaml.spaces import Choice, Float

    if isinstance(parameter, Choice):
        return trial.suggest_categorical(name, parameter.choices)
    suggest = trial.suggest_float if isinstance(parameter, Float) else trial.suggest_int
    return suggest(name, parameter.low, parameter.high, log=parameter.log)


if __name__ == "__main__":
    run(fit)
