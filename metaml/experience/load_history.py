"""Loads the runs of one algorithm from a knowledge base, as arrays to learn from."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, version

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metaml.algorithms import ALGORITHMS
from metaml.algorithms.base import BEST_COLUMNS
from metaml.arrays import Floats as Array
from metaml.arrays import Positions
from metaml.errors import BadRequest
from metaml.experience.run_frames import Configs, value_codes, with_fingerprints
from metaml.metalearning.fidelity import aligned, at_rows, by_size, fingerprint_of
from metaml.metalearning.history import USUAL_FOLDS, RunHistory, facts_of, make_history
from metaml.metalearning.near_duplicates import near_duplicates, stem
from metaml.metalearning.scales import comparable, within_groups
from metaml.metrics import METRICS
from metaml.spaces import Space
from metaml.spaces.config import Config
from metaml_kb import KnowledgeBase
from metaml_kb.frames import hyperparameter_columns

ORIGIN_WEIGHTS = {
    **dict.fromkeys(("default", "random", "imported", "grid"), 1.0),
    **dict.fromkeys(("warm start", "surrogate", "repeat"), 0.5),
}
"""Configurations that a search proposed crowd around its optimum: they say less about the rest of the space."""
OTHER_RELEASE_WEIGHT = 0.7
STARTER_WEIGHT = 1 / 3
"""What came with metaml counts less than what its user has run: as own runs accumulate they outweigh it."""
FEW_FOLDS = 2.0
"""A mean over k folds weighs k / (k + 2), relative to ten folds."""
STAND_IN = "accuracy"
FIDELITY = ("n_rows", "n_folds")
"""Columns with the rows and folds that a run used: what differs in them is never averaged."""
ADDED = ("fingerprint", "score", "weight", "reference", "seconds", *FIDELITY)
"""Columns that are put beside those of the knowledge base; a hyperparameter may not be called so."""
TASK_FAMILIES = {"binary": "classification", "multiclass": "classification", "regression": "regression"}


def run_history(
    kb: KnowledgeBase,
    algorithm: str,
    *,
    metric: str,
    task: str | None = None,
    space: Space | None = None,
    leave_out: Iterable[str] = (),
    like: Mapping[str, float] | None = None,
    name: str | None = None,
    most_per_dataset: int | None = 300,
    seed: int = 0,
) -> RunHistory:
    """Return what the knowledge base knows of an algorithm by a metric (higher is better, comparable over data sets).

    The data sets whose fingerprints are in `leave_out` are left out, and with them their near-duplicates; so are those
    that look like a data set with the metafeatures `like`, or that are called `name`. With a `task`, only data sets of
    its family (classification or regression) count. With a `space`, hyperparameters it does not have are ignored, and
    those it draws on a log scale are encoded so. Repetitions of a configuration on the same rows and folds are
    averaged. Runs on a sample of a data set are of another data set, which has the metafeatures of so many rows (see
    `metaml.metalearning.fidelity`).
    """
    known = kb.datasets()
    described = kb.metafeatures()
    gone = near_duplicates(known, described, leave_out, like=like, name=name)
    frame, notes = _runs(kb, algorithm, metric, task, known, gone)
    revision = kb.revision()
    frame = _with_fidelity(kb, frame.assign(weight=_weights(kb, frame)))
    frame, configs = _averaged(frame, space)
    described = _with_sizes(described.reindex(sorted(set(frame["fingerprint"]))), known.set_index("fingerprint"))
    n_rows = described["NumberOfInstances"].reindex(frame["fingerprint"]).to_numpy(np.float64)
    n_used: Array = np.fmin(n_rows, frame["n_rows"].to_numpy(np.float64))
    datasets, groups = by_size(frame["fingerprint"], n_used, n_rows)
    names = dict(zip(known["fingerprint"], known["name"], strict=True))
    described = at_rows(described, datasets)
    comparable_scores = within_groups(frame["score"].to_numpy(np.float64), groups, partial(comparable, metric=metric))
    return make_history(
        algorithm,
        metric,
        datasets=datasets,
        names=[str(names[fingerprint_of(name)]) for name in datasets],
        groups=groups,
        configs=configs,
        scores=aligned(comparable_scores, groups, *_plans_and_configs(frame)),
        metafeatures=described,
        facts=[facts_of(row) for _, row in described.iterrows()],
        weights=frame["weight"].to_numpy(np.float64),
        seconds=frame["seconds"].to_numpy(np.float64),
        reference=frame["reference"].to_numpy(np.float64),
        n_rows=n_used,
        n_folds=frame["n_folds"].to_numpy(np.float64),
        runs=frame["run"].tolist(),
        space=space,
        most_per_dataset=most_per_dataset,
        revision=revision,
        left_out=sorted(gone),
        notes=notes,
        seed=seed,
    )


def to_leave_out(kb: KnowledgeBase, names: Iterable[str]) -> tuple[str, ...]:
    """Return the fingerprints of the data sets with these names or fingerprints, and of their near-duplicates."""
    known = kb.datasets()
    words = {word.casefold() for word in names}
    given = [
        str(fingerprint)
        for fingerprint, name in zip(known["fingerprint"], known["name"], strict=True)
        if str(fingerprint) in words or stem(str(name)) in {stem(word) for word in words}
    ]
    return tuple(sorted(near_duplicates(known, kb.metafeatures(), given))) if given else ()


def check_left_out(kb: KnowledgeBase, words: Iterable[str], *, own: Iterable[str] = ()) -> None:
    """Raise BadRequest if a name or fingerprint to leave out is unknown: it may be a typing error.

    `own` are the names of the current data set, which may be new.
    """
    known = kb.datasets()
    names = {stem(str(name)): str(name) for name in known["name"]}
    fine = {*names, *map(str, known["fingerprint"]), *map(stem, own)}
    for word in words:
        if stem(word) not in fine:
            close = difflib.get_close_matches(stem(word), names, n=3)
            hint = f"Did you mean {' or '.join(names[name] for name in close)}? " if close else ""
            raise BadRequest(f"{kb.name} has no data set {word!r} to leave out. {hint}See all with: metaml kb datasets")


def _runs(
    kb: KnowledgeBase, algorithm: str, metric: str, task: str | None, known: pd.DataFrame, gone: set[str]
) -> tuple[pd.DataFrame, list[str]]:
    """Return the complete runs that count, with fingerprint, score and seconds, and what is to be said of them."""
    is_known = len(known) and kb.has_algorithm(algorithm)
    frame = kb.runs(algorithm=algorithm, status="ok") if is_known else pd.DataFrame()
    if not len(frame):
        return _nothing(), [f"{kb.name} has no complete run of {algorithm}: nothing can be learnt yet."]
    metrics = [name for name in frame.attrs["metrics"] if frame[name].notna().any()]
    scored = next((column for column in (metric, f"neg_{metric}") if column in metrics), None)
    if scored is None:
        others = ", ".join(metrics)
        return _nothing(), [f"{kb.name} has no run of {algorithm} scored by {metric}, only by {others}."]
    if BEST_COLUMNS in frame:
        # A score on few columns says nothing about the other settings.
        frame = frame[frame[BEST_COLUMNS].isna()]
    frame = with_fingerprints(kb, frame, known, algorithm)
    frame = _with_stand_in(frame, scored).dropna(subset=[scored])
    notes = []
    family = TASK_FAMILIES.get(task or "")
    if family is not None:
        families = {
            str(fingerprint): TASK_FAMILIES.get(str(word), family)
            for fingerprint, word in zip(known["fingerprint"], known["task"], strict=True)
        }
        is_ours = frame["fingerprint"].map(families).to_numpy() == family
        if not is_ours.any():
            other = "regression" if family == "classification" else "classification"
            text = f"All runs of {algorithm} in {kb.name} are of {other}: they say nothing about {family}."
            return _nothing(), [text]
        frame = frame[is_ours]
    frame = frame[~frame["fingerprint"].isin(gone)]
    n = int(frame["fingerprint"].nunique())
    if n == 0:
        notes.append(f"{kb.name} knows {algorithm} on no data set but this one and its near-duplicates.")
    elif n < 10:
        notes.append(f"{kb.name} knows {algorithm} on {n} data set{'s' * (n > 1)}: too few to lean on.")
    seconds = frame["fit_seconds"].to_numpy(np.float64) + np.nan_to_num(frame["predict_seconds"].to_numpy(np.float64))
    return frame.assign(score=frame[scored].astype(np.float64), seconds=seconds), notes


def _with_stand_in(frame: pd.DataFrame, scored: str) -> pd.DataFrame:
    """Return the frame with accuracy in place of a missing metric of labels.

    Scores are compared only within a data set, and an accurate configuration is seldom bad by the other metrics.
    """
    if scored not in METRICS or not METRICS[scored].accuracy_stands_in or STAND_IN not in frame:
        return frame
    is_scored = frame[scored].notna().groupby(frame["fingerprint"]).transform("any")
    return frame.assign(**{scored: frame[scored].where(is_scored, frame[STAND_IN])})


def _nothing() -> pd.DataFrame:
    columns = ["run", "fingerprint", "score", "seconds", "session", "fold_plan", "origin"]
    return pd.DataFrame({name: pd.Series(dtype=object) for name in columns})


def _weights(kb: KnowledgeBase, frame: pd.DataFrame) -> Array:
    """Return how much each run counts, by its origin, its number of folds and the libraries that made it."""
    weights = frame["origin"].map(ORIGIN_WEIGHTS).fillna(0.5).to_numpy(np.float64)
    plans = kb.fold_plans().dropna(subset="n_folds")
    folds = frame["fold_plan"].map(dict(zip(plans["key"], plans["n_folds"], strict=True))).to_numpy(np.float64)
    share = np.where(np.isfinite(folds), folds / (folds + FEW_FOLDS), 10 / (10 + FEW_FOLDS)) * (10 + FEW_FOLDS) / 10
    machines = _machines(kb)
    frame["reference"] = frame["session"].map({key: value[0] for key, value in machines.items()}).astype(np.float64)
    age = frame["session"].map({key: value[1] for key, value in machines.items()}).fillna(1.0).to_numpy(np.float64)
    from_starter = set(kb.sessions("starter")["key"])
    ownership = np.where(frame["session"].isin(from_starter), STARTER_WEIGHT, 1.0)
    product: Array = weights * share * age * ownership
    return product


def _with_fidelity(kb: KnowledgeBase, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with the rows and the folds of each run, and its seconds as they would be with five folds.

    Rows are NaN if the fold plan uses all, folds if they are unknown; seconds are then left as they are.
    """
    plans = kb.fold_plans().set_index("key")
    found = plans.reindex(frame["fold_plan"])
    n_rows, n_folds = (found[name].to_numpy(np.float64, na_value=np.nan) for name in ("max_rows", "n_folds"))
    share = np.where(np.isfinite(n_folds) & (n_folds > 0), USUAL_FOLDS / n_folds, 1.0)
    return frame.assign(n_rows=n_rows, n_folds=n_folds, seconds=frame["seconds"].to_numpy(np.float64) * share)


def _plans_and_configs(frame: pd.DataFrame) -> tuple[Positions, Positions]:
    """Return a code of rows and folds, and one of the configuration, for each run."""
    names = [column for column in hyperparameter_columns(frame) if column not in ADDED]
    return value_codes(frame, ["n_rows", "n_folds"]), value_codes(frame, names)


def _machines(kb: KnowledgeBase) -> dict[str, tuple[float, float]]:
    """Return, by session, the reference seconds of its host and the weight of its library releases."""
    return {
        str(session): (float(seconds), _release_weight(versions))
        for session, seconds, versions in kb.session_environments().itertuples(index=False)
    }


def _release_weight(versions: Mapping[str, str]) -> float:
    for library in {algorithm.library for algorithm in ALGORITHMS.values()}:
        try:
            here = version(library)
        except PackageNotFoundError:
            continue
        if library in versions and here.split(".")[:2] != str(versions[library]).split(".")[:2]:
            return OTHER_RELEASE_WEIGHT
    return 1.0


def _averaged(frame: pd.DataFrame, space: Space | None) -> tuple[pd.DataFrame, Sequence[Config]]:
    """Return one row for each configuration of each data set, number of rows and folds, and the configurations.

    The score of repeated runs is their weighted mean. Together they get the largest of their weights.
    """
    names = [column for column in hyperparameter_columns(frame) if column not in ADDED]
    in_space = None if space is None else {parameter.name for parameter in space.parameters}
    names = [column for column in names if in_space is None or column.removeprefix("config.") in in_space]
    codes = value_codes(frame, ["fingerprint", *FIDELITY, *names])
    _, first, position, counts = np.unique(codes, return_index=True, return_inverse=True, return_counts=True)
    weights = frame["weight"].to_numpy(np.float64)
    heaviest = np.zeros(len(first))
    np.maximum.at(heaviest, position, weights)
    # Relative to the heaviest, so that a score that stands alone stays as it is to the last digit.
    parts = weights / heaviest[position]
    scores = np.bincount(position, parts * frame["score"].to_numpy(np.float64), minlength=len(first))
    means: dict[str, Array] = {"score": scores / np.bincount(position, parts, minlength=len(first)), "weight": heaviest}
    for column in ("seconds", "reference"):
        totals = np.bincount(position, frame[column].to_numpy(np.float64), minlength=len(first))
        means[column] = totals / counts
    chosen = frame.iloc[first].assign(**means)
    order = np.argsort(first, kind="stable")
    chosen = chosen.iloc[order]
    return chosen, Configs(chosen, names)


def _with_sizes(described: pd.DataFrame, known: pd.DataFrame) -> pd.DataFrame:
    """Return metafeatures in which sizes that only the data set's record knows are filled in."""
    described = described.copy()
    records = known.reindex(described.index)
    for name, column, more in (
        ("NumberOfInstances", "n_rows", 0),
        ("NumberOfFeatures", "n_columns", 1),
        ("NumberOfClasses", "n_classes", 0),
    ):
        sizes: NDArray[np.float64] = pd.to_numeric(records[column]).to_numpy(np.float64, na_value=np.nan) + more
        if name not in described:
            described[name] = sizes
        else:
            described[name] = described[name].fillna(pd.Series(sizes, index=described.index))
    return described
