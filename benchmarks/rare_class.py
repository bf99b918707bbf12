"""A rare class and the metric F1: tuned thresholds against one half, on rows that were held back.

python benchmarks/rare_class.py [--datasets wilt,oil-spill,stroke,thoracic-surgery] [--seeds 5]
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from starter import DATASETS

from metaml.data import from_frame
from metaml.end_to_end import tune
from metaml.evaluation import Pool, metric
from metaml.thresholds import decide
from metaml.tune_settings import TuneSettings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", default="wilt,oil-spill,stroke,thoracic-surgery")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--folder", type=Path, default=DATASETS)
    asked = parser.parse_args()
    f1 = metric("f1").function
    with Pool(2) as pool:
        for name in asked.datasets.split(","):
            gains, tuned_scores = [], []
            frame = pd.read_csv(asked.folder / f"{name}.csv.gz")
            target = str(frame.columns[-1])
            share = frame[target].value_counts(normalize=True).min()
            for seed in range(asked.seeds):
                order = np.random.default_rng(seed).permutation(len(frame))
                cut = int(0.67 * len(frame))
                train, test = frame.iloc[order[:cut]], frame.iloc[order[cut:]]
                dataset = from_frame(train.reset_index(drop=True), target=target, name=name)
                settings = TuneSettings(
                    metric="f1",
                    seconds=None,
                    n_iterations=6,
                    n_workers=2,
                    algorithms=("lightgbm", "xgboost", "elastic_net"),
                    seed=seed,
                    uses_memory=False,
                )
                model = tune(dataset, settings, pool=pool).finished.model
                labels = [str(label) for label in dataset.labels]
                truth = np.array([labels.index(str(value)) for value in test[target]])
                chances = model.predict_proba(test.drop(columns=target))
                factors = None if model.multipliers is None else np.array(model.multipliers)
                tuned_scores.append(f1(truth, decide(chances, factors)))
                gains.append(tuned_scores[-1] - f1(truth, decide(chances)))
            error = np.std(gains, ddof=1) / np.sqrt(len(gains))
            print(
                f"{name:<20} {share:5.1%} positive  F1 {np.mean(tuned_scores):.3f}, better than at one half by "
                f"{np.mean(gains):+.3f} ± {error:.3f} ({asked.seeds} seeds)",
                flush=True,
            )


if __name__ == "__main__":
    main()
