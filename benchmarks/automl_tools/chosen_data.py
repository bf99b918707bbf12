"""The data sets of the comparison, how they were chosen, and the one split that every tool sees.

The choice was made by `choose`, before any tool had run: of the sets with 300 to 50,000 rows in the manifest, without
simulated ones and without those that have relatives among the others (whose runs in the starter experience would
tell about them), one is drawn for each task and each of six classes of size. A draw is skipped when the set is known
to be nearly trivial, or when a decision tree of depth 4 shows it to be so, or to be nearly without signal.
`python benchmarks/automl_tools/chosen_data.py` fingerprints the same list again.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pandas as pd

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "datasets"

CHOSEN = (
    "alzheimers-ad_data",
    "blood-transfusion",
    "bfi-gender",
    "ui-benefits",
    "smoke-ban",
    "nass-cds",
    "arrhythmia",
    "beps-vote",
    "chile-vote",
    "page-blocks",
    "dry-bean",
    "jungle_chess_2pcs_raw",
    "ele-1",
    "car-prices-kelly",
    "nlschools",
    "slid-wages",
    "sulfur",
    "casp-protein",
)
"""In the order of task and size."""

HELD_OUT_LONG = (
    "ibm-attrition",
    "telco-churn",
    "online-shoppers",
    "bank-marketing",
    "steel-plates-fault",
    "wine-quality-white",
    "marketing-income",
    "letter",
    "airfoil",
    "seoul-bike",
    "kc-house-sales",
    "parkinsons-telemonitoring",
)
"""For 300 s: named on 2026-11-18 before anything of the second layer was run on them, and never used for a decision."""
HELD_OUT = (
    *HELD_OUT_LONG,
    "orange-juice",
    "hmda-mortgage",
    "heloc",
    "eeg-eye-state",
    "cmc",
    "cardiotocography-nsp",
    "hpc-jobs",
    "pendigits",
    "saratoga-houses",
    "space_ga",
    "ailerons",
    "cal-housing",
)
"""For 30 and 60 s, in the same way; nine of them have 10,000 rows and more."""
DECIDED_ON = (
    "oil-spill",
    "pc4",
    "cell-segmentation",
    "credit-scoring",
    "flchain-death",
    "maternal-health-risk",
    "vowel",
    "yeast",
    "SkillCraft1",
    "wvs-poverty",
    "stock",
    "insurance-charges",
    "communities-crime",
    "wages-psid",
    "computers",
    "ccpp",
)
"""Data sets that decisions about depth are made on; they prove nothing afterwards."""
DECIDED_ON_LARGE = (
    "adult",
    "default-credit-card-clients",
    "electricity",
    "har-weight-lifting",
    "krkopt",
    "noaa-storms",
    "deliveries",
    "diamonds",
    "elevators",
    "gss-wages",
    "hotel-rates",
    "house_8L",
    "pol",
)
"""Data sets of 10,000 rows and more that decisions about large data are made on."""
ALL = (*CHOSEN, *HELD_OUT, *DECIDED_ON, *DECIDED_ON_LARGE)
"""What experience must not know."""

EDGES = (300, 700, 1600, 4000, 9000, 20000, 50001)
SEED = 20261116
SIMULATED = (
    "ringnorm twonorm banana waveform-5000 fried mv 2dplanes pwLinear bank8FM bank32nh puma8NH puma32H kin8nm "
    "led7digit madelon pollen hill-valley monk2-keel credit-default-islr carseats electrical-grid-stability"
)
RELATED = (
    "kc1 kc2 kc3 pc1 pc3 pc4 jm1 mw1 cm1-nasa sick hypothyroid adult ada_agnostic-train sylva_agnostic-train SPECTF "
    "wine-quality-red wine-quality-white delta_ailerons ailerons delta_elevators elevators tokyo1 baseball isolet-1560 "
    "mfeat-factors mfeat-fourier mfeat-karhunen mfeat-morphological mfeat-pixel mfeat-zernike analcatdata_halloffame "
    "qsar-aquatic-toxicity qsar-fish-toxicity catsup-choice cracker-choice wizmir wankara cps_85_wages cps1988 "
    "pendigits optdigits semeion wage working-hours wages-psid"
)
SOLVED = "wdbc breast-w banknote-authentication kr-vs-kp mushroom dermatology penguins texture mortgage"
"""Known to be nearly trivial, though not to a tree."""
USEFUL = {"binary": (0.6, 0.98), "multiclass": (0.05, 0.95), "regression": (0.1, 0.98)}
"""What the tree must reach, and must not: ROC AUC, accuracy above that of the largest class (as a share of what is
left) and R²."""


def manifest(folder: Path = FOLDER) -> pd.DataFrame:
    """Return the manifest with a row for each data set, by name."""
    return pd.read_csv(folder / "manifest.csv").set_index("name")


def choose(folder: Path = FOLDER) -> list[str]:
    """Return one data set for each task and class of size."""
    listed = manifest(folder).drop(index=f"{SIMULATED} {RELATED}".split(), errors="ignore")
    rng = np.random.default_rng(SEED)
    chosen = []
    for task in USEFUL:
        for low, high in itertools.pairwise(EDGES):
            fitting = listed[(listed["task"] == task) & (listed["n_rows"] >= low) & (listed["n_rows"] < high)]
            drawn = rng.permutation(sorted(fitting.index)).tolist()
            useful = (name for name in drawn if name not in SOLVED.split() and _is_useful(folder, name, task))
            chosen += list(itertools.islice(useful, 1))
    return chosen


def split(name: str, target: str, task: str, place: Path, folder: Path = FOLDER) -> None:
    """Write train.csv, test.csv without the target and truth.csv: two thirds and one third, stratified for classes."""
    from metaml.splits.shuffled import plan_folds

    if (place / "truth.csv").exists():
        return
    frame = pd.read_csv(folder / f"{name}.csv.gz", low_memory=False)
    classes = None if task == "regression" else frame[target].astype(str).to_numpy()
    train, test = plan_folds(len(frame), classes, n_folds=3, seed=SEED).split(0)
    place.mkdir(parents=True, exist_ok=True)
    frame.iloc[train].to_csv(place / "train.csv", index=False)
    frame.iloc[test].drop(columns=target).to_csv(place / "test.csv", index=False)
    frame.iloc[test][[target]].to_csv(place / "truth.csv", index=False)


def _is_useful(folder: Path, name: str, task: str) -> bool:
    from sklearn.model_selection import cross_val_score
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    frame = pd.read_csv(folder / f"{name}.csv.gz", low_memory=False)
    y = frame.pop(str(frame.columns[-1]))
    X = frame.apply(lambda column: column if column.dtype.kind in "if" else column.astype("category").cat.codes)
    if task == "regression":
        tree, scoring = DecisionTreeRegressor(max_depth=4, random_state=0), "r2"
        y, X = y.sample(frac=1, random_state=0), X.loc[y.sample(frac=1, random_state=0).index]
    else:
        tree = DecisionTreeClassifier(max_depth=4, random_state=0)
        scoring = "roc_auc" if task == "binary" else "accuracy"
        y = pd.Series(pd.factorize(y)[0])
    score = cross_val_score(tree, X, y, cv=3, scoring=scoring).mean()
    if task == "multiclass":
        largest = y.value_counts(normalize=True).max()
        score = (score - largest) / (1 - largest)
    low, high = USEFUL[task]
    return bool(low <= score <= high)


if __name__ == "__main__":
    print("\n".join(choose()))
