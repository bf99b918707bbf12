"""What a proposal costs: CPU seconds of ask and tell, beside SMAC3's HPO facade and Optuna's TPE.

    python benchmarks/ask_tell.py --rivals /path/to/other/venv/bin/python

One thread, a mixed space of ten parameters with conditions, the same for all. Each method is first told n random runs,
then asked and told 50 times (ours and TPE) or 25 times (SMAC3, which is slow). The mean CPU time of an iteration
counts, because SMAC3 plans in bursts. The rivals live in an environment of their own and run in a subprocess.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SIZES = (50, 100, 250, 500, 1000)
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

PARAMETERS: list[dict[str, Any]] = [
    {"name": "kernel", "choices": ["rbf", "poly", "linear"]},
    {"name": "C", "low": 1e-3, "high": 1e3, "log": True},
    {"name": "gamma", "low": 1e-4, "high": 10.0, "log": True, "when": ["kernel", ["rbf", "poly"]]},
    {"name": "degree", "low": 2, "high": 5, "integer": True, "when": ["kernel", ["poly"]]},
    {"name": "a", "low": 0.0, "high": 1.0},
    {"name": "b", "low": 0.0, "high": 1.0},
    {"name": "rows", "low": 1, "high": 500, "log": True, "integer": True},
    {"name": "shrinking", "choices": ["yes", "no"]},
    {"name": "shrinkage", "low": 0.0, "high": 1.0, "when": ["shrinking", ["yes"]]},
    {"name": "tol", "low": 1e-6, "high": 1e-1, "log": True},
]


def score(config: dict[str, Any]) -> float:
    """Return the score of a configuration: smooth in the numbers, with a step at the kernel."""
    from math import log10

    kernel = (log10(config["gamma"]) + 1) ** 2 / 9 if config["kernel"] == "rbf" else 0.3
    shrinking = 0.1 if config["shrinking"] == "yes" else 0.0
    return -((log10(config["C"]) - 1) ** 2) / 9 - abs(config["a"] - 0.3) - kernel - (config["b"] - 0.8) ** 2 + shrinking


def metaml_space() -> Any:
    """Return the space as ours."""
    from metaml.spaces import Choice, Float, Integer, Space

    made = []
    for p in PARAMETERS:
        when = (p["when"][0], tuple(p["when"][1])) if "when" in p else None
        if "choices" in p:
            made.append(Choice(p["name"], tuple(p["choices"]), default=p["choices"][0], when=when))
        else:
            kind = Integer if p.get("integer") else Float
            made.append(kind(p["name"], p["low"], p["high"], default=p["low"], log=p.get("log", False), when=when))
    return Space(made)


def random_configs(n: int, seed: int = 0) -> list[dict[str, Any]]:
    """Return random configurations without any library's help, so that all are told the same."""
    import math
    import random

    draw = random.Random(seed)
    configs = []
    for _ in range(n):
        config: dict[str, Any] = {}
        for p in PARAMETERS:
            if "when" in p and config.get(p["when"][0]) not in p["when"][1]:
                continue
            if "choices" in p:
                config[p["name"]] = draw.choice(p["choices"])
            elif p.get("log"):
                value = math.exp(draw.uniform(math.log(p["low"]), math.log(p["high"])))
                config[p["name"]] = round(value) if p.get("integer") else value
            else:
                value = draw.uniform(p["low"], p["high"])
                config[p["name"]] = round(value) if p.get("integer") else value
        configs.append(config)
    return configs


def ours(strategy: str, n: int) -> Callable[[], None]:
    """Return one iteration of our optimizer after n runs."""
    from metaml.search.optimizer import Optimizer

    optimizer = Optimizer(metaml_space(), strategy=strategy)
    optimizer.resume((config, score(config), 1.0) for config in random_configs(n))

    def step() -> None:
        proposal = optimizer.ask()
        optimizer.observe(proposal.config, score(proposal.config), 1.0)

    return step


def tpe(n: int) -> Callable[[], None]:
    """Return one iteration of Optuna's TPE after n runs."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=0))
    distributions = {p["name"]: _distribution(p) for p in PARAMETERS}
    for config in random_configs(n):
        known = {name: distributions[name] for name in config}
        study.add_trial(optuna.trial.create_trial(params=config, distributions=known, value=score(config)))

    def step() -> None:
        trial = study.ask()
        config: dict[str, Any] = {}
        for p in PARAMETERS:
            if "when" not in p or config.get(p["when"][0]) in p["when"][1]:
                config[p["name"]] = trial._suggest(p["name"], distributions[p["name"]])
        study.tell(trial, score(config))

    return step


def _distribution(p: dict[str, Any]) -> Any:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if "choices" in p:
        return CategoricalDistribution(p["choices"])
    kind = IntDistribution if p.get("integer") else FloatDistribution
    return kind(p["low"], p["high"], log=p.get("log", False))


def smac(n: int) -> Callable[[], None]:
    """Return one iteration of SMAC3's HPO facade after n runs."""
    import ConfigSpace
    from smac import HyperparameterOptimizationFacade, Scenario
    from smac.runhistory.dataclasses import TrialInfo, TrialValue

    space = ConfigSpace.ConfigurationSpace(seed=0)
    for p in PARAMETERS:
        if "choices" in p:
            space.add(ConfigSpace.Categorical(p["name"], p["choices"]))
        else:
            kind = ConfigSpace.Integer if p.get("integer") else ConfigSpace.Float
            space.add(kind(p["name"], (p["low"], p["high"]), log=p.get("log", False)))
    for p in PARAMETERS:
        if "when" in p:
            space.add(ConfigSpace.InCondition(space[p["name"]], space[p["when"][0]], p["when"][1]))
    folder = Path(os.environ.get("TMPDIR", "/tmp")) / f"smac_ask_tell_{os.getpid()}"
    scenario = Scenario(space, deterministic=True, n_trials=n + 1000, seed=0, output_directory=folder)

    def target(config: Any, seed: int = 0) -> float:
        return -score(dict(config)) + 0.0 * seed

    facade = HyperparameterOptimizationFacade(
        scenario,
        target,
        initial_design=HyperparameterOptimizationFacade.get_initial_design(scenario, n_configs=1),
        overwrite=True,
        logging_level=40,
    )
    for config in random_configs(n):
        values = ConfigSpace.Configuration(space, values=config)
        facade.tell(TrialInfo(values, seed=0), TrialValue(cost=-score(config)), save=False)

    def step() -> None:
        trial = facade.ask()
        facade.tell(trial, TrialValue(cost=-score(dict(trial.config))), save=False)

    return step


METHODS: dict[str, Callable[[int], Callable[[], None]]] = {
    "default": lambda n: ours("default", n),
    "gbqr": lambda n: ours("gbqr", n),
    "gaussian_process": lambda n: ours("gaussian_process", n),
    "tpe": tpe,
    "smac": smac,
}
RIVALS = ("tpe", "smac")


def measured(method: str, sizes: list[int], n_steps: int) -> dict[int, float]:
    """Return the mean CPU seconds of an iteration for each size, the first two iterations not counted."""
    means = {}
    for n in sizes:
        step = METHODS[method](n)
        step()
        step()
        start = time.process_time()
        for _ in range(n_steps):
            step()
        means[n] = (time.process_time() - start) / n_steps
    return means


def main() -> None:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--rivals", default=sys.executable, help="the Python that has smac and optuna")
    parser.add_argument("--only", help="measure one method here and print JSON; used for the subprocess")
    arguments = parser.parse_args()
    if arguments.only:
        print(json.dumps(measured(arguments.only, arguments.sizes, arguments.steps)))
        return
    print("mean CPU seconds of ask + tell after n runs")
    print("method".ljust(18), *(f"n={n}".rjust(8) for n in arguments.sizes))
    for method in arguments.methods:
        python = arguments.rivals if method in RIVALS else sys.executable
        sizes = [n for n in arguments.sizes if method != "smac" or n <= 500]
        steps = 25 if method == "smac" else arguments.steps
        command = [python, __file__, "--only", method, "--steps", str(steps), "--sizes", *map(str, sizes)]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **ONE_THREAD}, check=False)
        if done.returncode:
            print(method.ljust(18), "could not run:", done.stderr.strip().splitlines()[-1])
            continue
        means = json.loads(done.stdout.strip().splitlines()[-1])
        print(method.ljust(18), *(f"{means[str(n)]:8.4f}" for n in sizes), flush=True)


if __name__ == "__main__":
    main()
