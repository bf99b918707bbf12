"""Do two versions of metaml make the same runs? Record a few searches with each, then compare them.

    python benchmarks/same_runs.py record before.json --python OLD/.venv/bin/python
    python benchmarks/same_runs.py record after.json
    python benchmarks/same_runs.py compare before.json after.json

Each search has a seed and a number of iterations, so that nothing depends on the clock. Three data sets that come with
scikit-learn (two classes, three classes, a number) are searched with the starter experience and without experience,
and the folder of each search is used to predict. Compared are the runs in their order (identity, algorithm,
configuration, status, every score of every fold), the members and score of the final model, and its predictions.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

DATASETS = ("breast_cancer", "wine", "diabetes")
ITERATIONS, SEED, TOLERANCE = 14, 7, 1e-12

SEARCH = """
import json, sys
import metaml
from sklearn import datasets
name, folder, kb, iterations, seed = sys.argv[1:]
frame = getattr(datasets, "load_" + name)(as_frame=True).frame
frame.to_csv(folder + "/data.csv", index=False)
result = metaml.tune(folder + "/data.csv", iterations=int(iterations), seed=int(seed), kb=kb, output=folder + "/result",
                     limit_seconds=600.0)
predicted = result.model.predict(frame.drop(columns="target"))
rows = []
if kb != ":memory:":
    with metaml.open_kb(kb) as base:
        log = base.sql("SELECT event.kind, event.details FROM event ORDER BY event.session_id, event.number")
        runs = base.runs(session="tune", folds=True).set_index("run")
        metrics = runs.attrs.get("metrics") or base.runs(session="tune").attrs["metrics"]
        for kind, details in log.itertuples(index=False):
            if kind != "finished":
                continue
            key = json.loads(details)["run"]
            row = runs.loc[key]
            rows.append({"run": key, "algorithm": row["algorithm"], "status": row["status"], "origin": row["origin"],
                         "scores": {m: [float(v) for v in row[m]] if row[m] is not None else None for m in metrics}})
board = result.leaderboard
print(json.dumps({
    "runs": rows,
    "leaderboard": [[r["algorithm"], r["status"], r["config"], None if r["score"] != r["score"] else r["score"]]
                    for r in board.rename(columns={result.metric: "score"}).to_dict("records")]
                    if "score" in board.rename(columns={result.metric: "score"}) else board.columns.tolist(),
    "kind": result.kind, "score": result.score,
    "members": [[m.algorithm, dict(m.config), m.weight] for m in result.model.members],
    "predictions": [str(value) for value in predicted],
}, default=str))
"""


def record(python: str, path: Path) -> None:
    """Write what a version of metaml finds for each data set, with and without experience."""
    found = {}
    for name in DATASETS:
        for experience in ("starter", "none"):
            with tempfile.TemporaryDirectory() as folder:
                environment = {**os.environ, "METAML_KB": f"{folder}/kb.db"}
                if experience == "starter":
                    subprocess.run([python, "-m", "metaml_cli", "kb", "init"], check=True, env=environment, stdout=2)
                kb = f"{folder}/kb.db" if experience == "starter" else ":memory:"
                answer = subprocess.run(
                    [python, "-c", SEARCH, name, folder, kb, str(ITERATIONS), str(SEED)],
                    check=True,
                    env=environment,
                    stdout=subprocess.PIPE,
                    cwd=folder,
                )
            found[f"{name}, {experience}"] = json.loads(answer.stdout.decode().splitlines()[-1])
            print(f"{name}, {experience}: {len(found[f'{name}, {experience}']['leaderboard'])} evaluations", flush=True)
    path.write_text(json.dumps(found, indent=1))


def compare(before: Path, after: Path) -> bool:
    """Print, for each search, whether both versions did the same; return whether all did."""
    old, new = json.loads(before.read_text()), json.loads(after.read_text())
    is_same = old.keys() == new.keys()
    print(f"{'search':26} {'evaluations':>11} {'runs':>6} {'scores':>7} {'model':>6} {'predictions':>11}")
    for name in old:
        then, now = old[name], new.get(name, {})
        checks = [
            [run["run"] for run in then["runs"]] == [run["run"] for run in now["runs"]],
            _is_close(then["runs"], now["runs"]) and _is_close(then["leaderboard"], now["leaderboard"]),
            _is_close([then["kind"], then["score"], then["members"]], [now["kind"], now["score"], now["members"]]),
            then["predictions"] == now["predictions"],
        ]
        is_same = is_same and all(checks)
        words = ["same" if check else "OTHER" for check in checks]
        print(f"{name:26} {len(then['leaderboard']):>11} {words[0]:>6} {words[1]:>7} {words[2]:>6} {words[3]:>11}")
    print("all the same" if is_same else "NOT the same")
    return is_same


def _is_close(old: object, new: object) -> bool:
    """Return whether two values of JSON are equal, numbers up to rounding."""
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys() == new.keys() and all(_is_close(old[key], new[key]) for key in old)
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(_is_close(a, b) for a, b in zip(old, new, strict=True))
    if isinstance(old, float) and isinstance(new, float):
        return old == new or (old != old and new != new) or abs(old - new) <= TOLERANCE * max(abs(old), 1.0)
    return old == new


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record")
    recording.add_argument("path", type=Path)
    recording.add_argument("--python", default=sys.executable)
    comparing = commands.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    asked = parser.parse_args()
    if asked.command == "record":
        record(asked.python, asked.path)
    else:
        sys.exit(0 if compare(asked.before, asked.after) else 1)
