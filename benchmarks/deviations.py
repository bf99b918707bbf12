"""How often does a score fall outside two of the deviations that were predicted, and is one of them 0?

python benchmarks/deviations.py --data FOLDER --names diabetes,cmc --iterations 50 --work FOLDER

Searches each data set once with a new knowledge base (those that are in the work folder are not repeated) and compares
what `metaml why` shows: the predicted score, its deviation, and the score that came out. `--kb FILE` judges the
searches of a knowledge base instead.
"""

import argparse
import json
import math
import sys
import tempfile
from pathlib import Path

import numpy as np

from metaml_kb import open_kb

sys.path.insert(0, str(Path(__file__).resolve().parent))

from probing.running import run

QUERY = """
    SELECT run.score_list AS scores, metric_set.names AS names, proposal.predicted_score AS predicted,
           proposal.predicted_std AS std, session.settings AS settings
    FROM proposal JOIN run ON run.id = proposal.run_id JOIN metric_set ON metric_set.id = run.metric_set_id
    JOIN session ON session.id = run.session_id
    WHERE proposal.predicted_std IS NOT NULL AND session.kind = 'tune'
"""


def deviations_of(file: Path) -> tuple[list[float], int]:
    """Return the errors of all predictions in their deviations, and how many deviations are 0."""
    errors, n_zero = [], 0
    with open_kb(file) as kb:
        for row in kb.sql(QUERY).itertuples():
            plan = json.loads(row.settings)
            metric = (plan.get("search_plan") or plan.get("lineup"))["metric"]
            score = dict(zip(json.loads(row.names), json.loads(row.scores), strict=True)).get(metric)
            if score is None or not math.isfinite(score):
                continue
            n_zero += not row.std
            errors.append(abs(score - row.predicted) / row.std if row.std else math.inf)
    return errors, n_zero


def searched(path: Path, work: Path, iterations: int) -> Path:
    """Return the knowledge base of a search on a data set, made now if it is missing."""
    name = path.name.split(".")[0]
    base = work / f"{name}.db"
    if not (work / name / "best.json").exists():
        words = ["tune", str(path), "--iterations", str(iterations), "--folds", "3", "--kb", str(base)]
        end = run([*words, "--output", str(work / name)], work, seconds=7200.0, variables={"METAML_STARTER": None})
        if end.code != 0:
            raise SystemExit(f"{name}: exit {end.code}, {end.said}")
    return base


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--names", default="")
    parser.add_argument("--iterations", type=int, default=50)
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "metaml-deviations")
    parser.add_argument("--kb", type=Path, action="append", default=[])
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    bases = {file.stem: file for file in options.kb}
    for name in filter(None, options.names.split(",")):
        path = next(options.data.glob(f"{name}.csv*"))
        bases[name] = searched(path, options.work, options.iterations)
    everything: list[float] = []
    print("| search | predictions | outside 2 sd | outside 10 sd | sd of 0 |\n| --- | --- | --- | --- | --- |")
    for name, base in bases.items():
        errors, n_zero = deviations_of(base)
        everything += errors
        shares = [f"{np.mean(np.array(errors) > limit):.1%}" for limit in (2, 10)] if errors else ["–", "–"]
        print(f"| {name} | {len(errors)} | {shares[0]} | {shares[1]} | {n_zero} |", flush=True)
    if everything:
        print(f"| all | {len(everything)} | {np.mean(np.array(everything) > 2):.1%} | | |")


if __name__ == "__main__":
    main()
