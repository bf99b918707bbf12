"""Do the ways to search a front differ on functions whose front is known (document 003, section 4.2)?

Two costs of five parameters: ZDT1 (convex), ZDT2 (concave), ZDT3 (in pieces), ZDT6 (uneven), and DTLZ2 as two costs.
The volume is dominated up to (1.1, 1.1) of the true front's units, as a share of what the front dominates.

Run: python benchmarks/fronts.py
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from metaml.arrays import Floats
from metaml.pareto import hypervolume
from metaml.search.pareto_optimizer import METHODS, ParetoOptimizer
from metaml.spaces import Float, Space

DIMENSIONS = 5
SPACE = Space([Float(f"x{k}", 0.0, 1.0, default=0.5) for k in range(DIMENSIONS)])


def zdt1(x: Floats) -> tuple[float, float]:
    rest = 1 + 9 * float(x[1:].mean())
    return float(x[0]), rest * (1 - (x[0] / rest) ** 0.5)


def zdt2(x: Floats) -> tuple[float, float]:
    rest = 1 + 9 * float(x[1:].mean())
    return float(x[0]), rest * (1 - (x[0] / rest) ** 2)


def zdt3(x: Floats) -> tuple[float, float]:
    rest = 1 + 9 * float(x[1:].mean())
    return float(x[0]), rest * (1 - (x[0] / rest) ** 0.5 - x[0] / rest * np.sin(10 * np.pi * x[0]))


def zdt6(x: Floats) -> tuple[float, float]:
    first = 1 - float(np.exp(-4 * x[0]) * np.sin(6 * np.pi * x[0]) ** 6)
    rest = 1 + 9 * float(x[1:].mean()) ** 0.25
    return first, rest * (1 - (first / rest) ** 2)


def dtlz2(x: Floats) -> tuple[float, float]:
    rest = 1 + float(((x[1:] - 0.5) ** 2).sum())
    return rest * float(np.cos(x[0] * np.pi / 2)), rest * float(np.sin(x[0] * np.pi / 2))


FUNCTIONS: dict[str, tuple[Callable[[Floats], tuple[float, float]], float]] = {
    "ZDT1": (zdt1, 0.0),
    "ZDT2": (zdt2, 0.0),
    "ZDT3": (zdt3, 0.0),
    "ZDT6": (zdt6, 0.0),
    "DTLZ2": (dtlz2, 0.5),
}
"""Each with the value at which all parameters but the first are best."""


def front_of(name: str) -> Floats:
    """Return costs along the first parameter, the others at their best."""
    function, best = FUNCTIONS[name]
    return np.array([function(np.array([x, *[best] * (DIMENSIONS - 1)])) for x in np.linspace(0, 1, 2001)])


def share_found(name: str, method: str, n: int, seed: int) -> float:
    """Return the share of the true front's volume that a search dominates."""
    function, _ = FUNCTIONS[name]
    front = front_of(name)
    low, span = front.min(axis=0), np.ptp(front, axis=0)
    n_design = n if method == "latin_hypercube" else 4 * DIMENSIONS
    optimizer = ParetoOptimizer(SPACE, n_objectives=2, method=method, n_design=n_design, n_total=n, seed=seed)
    for _ in range(n):
        config = optimizer.ask().config
        optimizer.observe_costs(config, function(np.array(list(config.values()), dtype=np.float64)))
    reference = np.array([1.1, 1.1])
    return hypervolume((optimizer.costs - low) / span, reference) / hypervolume((front - low) / span, reference)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("fronts.csv"))
    parser.add_argument("--evaluations", type=int, default=60)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    lines = pd.read_csv(options.out).to_dict("records") if options.out.exists() else []
    done = {(line["function"], line["method"], line["seed"]) for line in lines}
    for seed in range(options.seeds):
        for name in FUNCTIONS:
            for method in METHODS:
                if (name, method, seed) in done:
                    continue
                begun = time.process_time()
                share = share_found(name, method, options.evaluations, seed)
                seconds = time.process_time() - begun
                lines.append({"function": name, "method": method, "seed": seed, "share": share, "seconds": seconds})
                pd.DataFrame(lines).to_csv(options.out, index=False)
    frame = pd.DataFrame(lines)
    each = frame.pivot_table(index="method", columns="function", values="share", sort=False)
    each["mean rank"] = each.rank(ascending=False).mean(axis=1)
    each["CPU seconds"] = frame.groupby("method")["seconds"].mean()
    print(each.round(3).to_string())


if __name__ == "__main__":
    main()
