"""Runs of OpenML's scikit-learn bot for the starter: those that would have come out the same with our algorithms.

What is the same is decided by `metaml.openml_runs.flows`, from the tables' columns and OpenML's qualities. The support
vector machines' columns were scaled but not centred, which only the rbf kernel does not notice.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from metaml.metafeatures.openml import repair_openml
from metaml.openml_runs.flows import DatasetShape, Translated, translate
from metaml.openml_runs.setups import Setup
from metaml.spaces.config import Config
from metaml_kb import DatasetRecord, KnowledgeBase, Run, SessionRecord
from metaml_kb.records import digest

PUBLISHED = 1534636800.0
"""19 August 2018, when the runs were published; when each was made is not in the tables."""
ATTRIBUTION: Mapping[str, Any] = {
    "title": "Hyperparameter Importance Across Datasets (KDD 2018): runs of the OpenML scikit-learn bot",
    "authors": "Jan N. van Rijn and Frank Hutter; the data sets' own authors are named on OpenML",
    "url": [
        "https://github.com/janvanrijn/openml-pimp",
        "https://github.com/janvanrijn/openml-multitask",
        "https://www.openml.org",
    ],
    "licence": "BSD 3-Clause (both repositories); CC-BY 4.0 (OpenML content)",
    "changes": "a random part of the runs; hyperparameters in metaml's words; metafeatures' placeholders left out",
}
FLOWS = {"random_forest": 6969, "adaboost": 6970, "svc": 8317}
NAMES = {
    **{3: "kr-vs-kp", 6: "letter", 11: "balance-scale", 12: "mfeat-factors", 14: "mfeat-fourier", 15: "breast-w"},
    **{16: "mfeat-karhunen", 18: "mfeat-morphological", 20: "mfeat-pixel", 21: "car", 22: "mfeat-zernike"},
    **{24: "mushroom", 28: "optdigits", 29: "credit-approval", 31: "credit-g", 32: "pendigits", 37: "diabetes"},
    **{41: "soybean", 43: "spambase", 53: "vehicle", 58: "waveform-5000", 219: "electricity", 2074: "satimage"},
    **{2079: "eucalyptus", 3021: "sick", 3022: "vowel", 3493: "monks-problems-2", 3494: "monks-problems-3"},
    **{3510: "JapaneseVowels", 3512: "synthetic_control", 3543: "irish", 3560: "analcatdata_dmft", 3561: "profb"},
    **{3573: "mnist_784", 3889: "sylva_agnostic", 3891: "gina_agnostic", 3896: "ada_agnostic", 3899: "mozilla4"},
    **{3902: "pc4", 3903: "pc3", 3904: "jm1", 3913: "kc2", 3917: "kc1", 3948: "KDDCup09_upselling", 7592: "adult"},
    **{9914: "wilt", 9950: "micro-mass", 9952: "phoneme", 9956: "one-hundred-plants-texture", 9957: "qsar-biodeg"},
    **{9960: "wall-robot-navigation", 9964: "semeion", 9970: "hill-valley", 9976: "madelon", 9978: "ozone-level-8hr"},
    **{9979: "cardiotocography", 9980: "climate-model-simulation-crashes", 9981: "cnae-9", 9983: "eeg-eye-state"},
    **{9985: "first-order-theorem-proving", 9986: "gas-drift", 10093: "banknote-authentication"},
    **{14964: "artificial-characters", 14966: "Bioresponse", 14967: "cjs", 14968: "cylinder-bands"},
    **{34536: "Internet-Advertisements", 34537: "PhishingWebsites", 34538: "MiceProtein", 125920: "dresses-sales"},
    **{125921: "LED-display-domain-7digit", 125923: "Australian", 146195: "connect-4", 146606: "higgs"},
    **{146607: "SpeedDating"},
}
"""OpenML's name of each task's data set; the tables have only the tasks' numbers."""


def add_openml(kb: KnowledgeBase, metadata: Path, *, most: int, seed: int, kind: str) -> Counter[str]:
    """Add at most `most` runs of each task and algorithm, and the metafeatures; return why rows were dropped."""
    qualities: Any = pd.read_csv(metadata / "metafeatures.csv").set_index("task_id").to_dict("index")
    rng = np.random.default_rng(seed)
    dropped: Counter[str] = Counter()
    runs: list[Run] = []
    key = digest(kind, metadata.name)
    for table in FLOWS:
        frame = pd.read_csv(metadata / f"runs_{table}.csv.gz", keep_default_na=False)
        for task in sorted(frame["task_id"].unique().tolist()):
            shape = shape_of(qualities[task])
            rows = frame[frame["task_id"] == task].to_dict("records")
            found = list(_runs(rows, table, task, shape, key, dropped))
            kept = rng.permutation(len(found))[:most]
            dropped[f"{table}: more than {most} of a task"] += len(found) - len(kept)
            runs += [found[place] for place in sorted(kept)]
    settings = {**ATTRIBUTION, "most_runs_of_a_task_and_algorithm": most, "seed": seed, "n_dropped": dropped.total()}
    kb.add_session(SessionRecord(key, kind, PUBLISHED, PUBLISHED, seed, settings))
    for task in sorted({int(run.dataset.rpartition(":")[2]) for run in runs}):
        facts = repair_openml(qualities[task])
        kb.add_dataset(_record(task, facts))
        kb.add_metafeatures(_fingerprint(task), {n: v for n, v in facts.items() if not math.isnan(v)}, source="openml")
    kb.add_runs(runs)
    return dropped


def shape_of(qualities: Mapping[Any, float]) -> DatasetShape:
    """Return what the translation needs to know of a task's data, as far as OpenML's qualities tell."""
    n_classes, n_symbolic = int(qualities["NumberOfClasses"]), int(qualities["NumberOfSymbolicFeatures"])
    n_categorical = n_symbolic - 1
    n_numeric = int(qualities["NumberOfFeatures"]) - n_symbolic
    mean, lacks = float(qualities["MeanNominalAttDistinctValues"]), bool(qualities["NumberOfMissingValues"] > 0)
    # The mean is over all symbolic columns, or over those but the target; the sum of levels is a whole number.
    n_levels = mean * n_categorical
    if abs(n_levels - round(n_levels)) > 1e-3:
        n_levels = mean * n_symbolic - n_classes
    return DatasetShape(
        task="binary" if n_classes == 2 else "multiclass",
        width=n_numeric + (round(n_levels) if n_categorical else 0),
        spread=1.0,
        most_levels=int(qualities["MaxNominalAttDistinctValues"]) if n_categorical else 0,
        lacks_numbers=lacks and n_numeric > 0,
        lacks_categories=lacks and n_categorical > 0,
    )


def _runs(
    rows: list[dict[Any, Any]], table: str, task: int, shape: DatasetShape, session: str, dropped: Counter[str]
) -> Iterator[Run]:
    """Yield the run behind each row that has a counterpart among our configurations."""
    for row in rows:
        translated = _translated(table, row, shape)
        if translated.reason:
            dropped[f"{table}: {translated.reason}"] += 1
            continue
        yield Run(
            dataset=_fingerprint(task),
            algorithm=translated.algorithm,
            config={name: _short(value) for name, value in translated.config.items()},
            scores={"accuracy": float(row["predictive_accuracy"])},
            fold_plan="openml 10-fold",
            origin="imported",
            session=session,
            finished_at=PUBLISHED,
        )


def _translated(table: str, row: Mapping[Any, Any], shape: DatasetShape) -> Translated:
    if row.get("kernel", "rbf") != "rbf":
        return Translated("svm", {}, "the columns are not centred, which kernels but rbf notice")
    return translate(Setup(FLOWS[table], {}, _parts(table, row)), shape)


def _parts(table: str, row: Mapping[Any, Any]) -> dict[str, Config]:
    """Return the components of the flow behind a table; the columns that were constant are filled in."""
    given: Config = {
        name: bool(value) if isinstance(value, bool | np.bool_) else value
        for name, value in row.items()
        if name not in ("task_id", "imputation", "predictive_accuracy")
    }
    if table == "random_forest":
        return {"RandomForestClassifier": {"n_estimators": 100, **given}}
    if table == "adaboost":
        tree: Config = {"max_depth": given.pop("max_depth")}
        return {
            "AdaBoostClassifier": given,
            "DecisionTreeClassifier": tree,
            "ConditionalImputer": {"strategy": row["imputation"]},
        }
    return {"SVC": {"shrinking": True, **given}, "StandardScaler": {}}


def _short(value: Any) -> Any:
    """Return a float with six significant digits, as our own are drawn."""
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _fingerprint(task: int) -> str:
    return f"name:openml-task:{task}"


def _record(task: int, facts: Mapping[str, float]) -> DatasetRecord:
    n_classes = int(facts["NumberOfClasses"])
    return DatasetRecord(
        fingerprint=_fingerprint(task),
        name=f"{NAMES[task]} ({task})",
        task="binary" if n_classes == 2 else "multiclass",
        n_rows=int(facts["NumberOfInstances"]),
        n_columns=int(facts["NumberOfFeatures"]) - 1,
        n_classes=n_classes,
        source="openml",
        details={"openml_task": task},
    )
