"""A rare class and the metric F1: the model that is returned, the same at one half, and another release's, held out.

python benchmarks/rare_class.py [--datasets wilt,oil-spill,…] [--seeds 5] [--output now.csv] [--former former.csv]

What is in the output already is not measured again. `former.csv` is the `--output` of this script run with another
metaml on the path (PYTHONPATH), on the same splits.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from starter import DATASETS

from metaml.data import from_frame
from metaml.ensemble.thresholds import decide
from metaml.evaluation import LocalExecutor, metric
from metaml.search.settings import TuneSettings
from metaml.tuning.run import tune

NAMES = "wilt,oil-spill,stroke,thoracic-surgery,mw1,kc3,openintro-email-spam,taxi-tip"


def measure(
    frame: pd.DataFrame, target: str, seed: int, n_iterations: int, executor: LocalExecutor
) -> tuple[float, float]:
    """Return the F1 of the returned model on the held-out third, and that of the same model at one half."""
    order = np.random.default_rng(seed).permutation(len(frame))
    cut = int(0.67 * len(frame))
    train, test = frame.iloc[order[:cut]], frame.iloc[order[cut:]]
    dataset = from_frame(train.reset_index(drop=True), target=target)
    settings = TuneSettings(
        metric="f1",
        seconds=None,
        n_iterations=n_iterations,
        n_workers=executor.n_workers,
        algorithms=("lightgbm", "xgboost", "elastic_net"),
        seed=seed,
        uses_memory=False,
    )
    model = tune(dataset, settings, executor=executor).finished.model
    labels = list(map(str, dataset.labels))
    truth = np.array([labels.index(str(value)) for value in test[target]])
    chances = model.predict_proba(test.drop(columns=target))
    factors = None if model.multipliers is None else np.array(model.multipliers)
    # A model that names no positive at all has an F1 of zero here.
    tuned, plain = (np.nan_to_num(metric("f1").function(truth, decide(chances, f))) for f in (factors, None))
    return float(tuned), float(plain)


def in_words(values: pd.Series) -> str:
    """Return the mean and its standard error."""
    return f"{values.mean():+.3f} ± {values.sem():.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", default=NAMES)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=DATASETS)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--former", type=Path)
    asked = parser.parse_args()
    former = None if asked.former is None else pd.read_csv(asked.former).set_index(["name", "seed"])
    targets = pd.read_csv(asked.folder / "manifest.csv").set_index("name")["target"]
    kept = asked.output is not None and asked.output.exists()
    known = pd.read_csv(asked.output).set_index(["name", "seed"]) if kept else pd.DataFrame()
    rows = []
    print("| | positive | F1 | over one half | over the former |\n|---|---|---|---|---|")
    with LocalExecutor(asked.workers) as executor:
        for name in asked.datasets.split(","):
            frame = pd.read_csv(asked.folder / f"{name}.csv.gz")
            share = frame[targets[name]].value_counts(normalize=True).min()
            for seed in range(asked.seeds):
                is_known = (name, seed) in known.index
                f1, plain = (
                    known.loc[(name, seed), ["f1", "plain"]]
                    if is_known
                    else measure(frame, targets[name], seed, asked.iterations, executor)
                )
                then = np.nan if former is None else former.loc[(name, seed), "f1"]
                rows.append({"name": name, "seed": seed, "f1": f1, "plain": plain, "former": then})
                if asked.output is not None and not is_known:
                    pd.DataFrame(rows).to_csv(asked.output, index=False)
            part = pd.DataFrame(rows[-asked.seeds :])
            gain, progress = in_words(part["f1"] - part["plain"]), in_words(part["f1"] - part["former"])
            print(f"| {name} | {share:.1%} | {part['f1'].mean():.3f} | {gain} | {progress} |", flush=True)
    means = pd.DataFrame(rows).groupby("name").mean(numeric_only=True)
    gain, progress = in_words(means["f1"] - means["plain"]), in_words(means["f1"] - means["former"])
    print(f"| mean of {len(means)} | | {means['f1'].mean():.3f} | {gain} | {progress} |")


if __name__ == "__main__":
    main()
