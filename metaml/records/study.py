"""The trials of an Optuna study as runs of the knowledge base: what others searched for is experience, too."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from metaml.errors import BadRequest
from metaml.evaluation.scoring import METRICS
from metaml_kb import DatasetRecord, KnowledgeBase, Run
from metaml_kb.records import FoldPlanRecord

STATUS = {"COMPLETE": "ok", "FAIL": "failed"}
"""How trials end that say something; pruned ones and those under way do not."""
PLAN = "optuna"
PLAIN = (str, int, float, bool, type(None))


@dataclass(frozen=True)
class ImportedStudy:
    """What became of the trials of a study."""

    study: str
    n_new: int
    n_known: int
    n_left_out: int


def load_study(url: str, name: str | None = None) -> Any:
    """Return a study of an Optuna storage, by its name if there are several.

    Raises `BadRequest` if Optuna is not installed, or if there is no such storage or study.
    """
    try:
        optuna: Any = import_module("optuna")
    except ImportError:
        raise BadRequest("Optuna is not installed. Install it with: pip install 'metaml[optuna]'") from None
    address = url if "://" in url else f"sqlite:///{url}"
    if address.startswith("sqlite:///"):
        _check_file(address.removeprefix("sqlite:///"))
    try:
        found = optuna.get_all_study_names(storage=address)
    except Exception as error:
        why = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
        raise BadRequest(f"The storage cannot be read: {why}. Give its URL, such as sqlite:///study.db.") from None
    if name is None and len(found) == 1:
        name = found[0]
    if name not in found:
        listed = ", ".join(found[:10]) or "none"
        raise BadRequest(f"There is no study {name!r} among: {listed}. Choose one with --study.")
    return optuna.load_study(study_name=name, storage=address)


def import_study(kb: KnowledgeBase, study: Any, *, dataset: str, algorithm: str, metric: str) -> ImportedStudy:
    """Store the finished trials of a study as runs on a data set; those that are known stay as they are.

    `dataset` is a name or a fingerprint that the knowledge base knows, or a new name. `metric` is what the objective
    returned; a study that minimises returned a loss, which is stored negated. Raises `BadRequest` for a study of
    several objectives, and for one that maximises a loss.
    """
    if len(study.directions) != 1:
        raise BadRequest(f"{study.study_name} has {len(study.directions)} objectives. Import a study of one.")
    is_loss = study.directions[0].name == "MINIMIZE"
    name = f"neg_{metric.removeprefix('neg_')}" if is_loss else metric
    if not is_loss and name not in METRICS and f"neg_{metric}" in METRICS:
        raise BadRequest(f"{study.study_name} maximises, but {metric} is a loss. Say with --metric what it returned.")
    kb.add_fold_plan(FoldPlanRecord(PLAN, PLAN))
    session = kb.start_session("import", settings={"study": study.study_name})
    fingerprint = _fingerprint(kb, dataset)
    trials = study.get_trials(deepcopy=False)
    runs = list(_runs(trials, fingerprint, algorithm, name, sign=-1.0 if is_loss else 1.0, session=session))
    added = kb.add_runs(runs)
    kb.finish_session(session)
    return ImportedStudy(study.study_name, added.n_new, added.n_known, len(trials) - len(runs))


def _runs(
    trials: list[Any], fingerprint: str, algorithm: str, metric: str, *, sign: float, session: str
) -> Iterator[Run]:
    for trial in trials:
        status = STATUS.get(trial.state.name)
        value = trial.values[0] if trial.values else math.nan
        is_plain = all(isinstance(item, PLAIN) for item in trial.params.values())
        if status is None or not is_plain or not trial.params or (status == "ok" and not math.isfinite(value)):
            continue
        seconds = trial.duration.total_seconds() if trial.duration is not None else None
        yield Run(
            dataset=fingerprint,
            algorithm=algorithm,
            config=dict(trial.params),
            scores={metric: sign * value} if status == "ok" else {},
            fold_plan=PLAN,
            status=status,
            fit_seconds=seconds,
            error=None if status == "ok" else "The trial failed.",
            origin="imported",
            session=session,
            finished_at=None if trial.datetime_complete is None else trial.datetime_complete.timestamp(),
        )


def _fingerprint(kb: KnowledgeBase, wanted: str) -> str:
    """Return the fingerprint of a data set that is known by it or by its name; else store the name."""
    frame = kb.datasets().reset_index()
    known = [str(row) for row in frame.loc[(frame["name"] == wanted) | (frame["fingerprint"] == wanted), "fingerprint"]]
    if len(known) > 1:
        raise BadRequest(
            f"{len(known)} data sets are called {wanted!r}: {', '.join(known[:4])}. Name one by its fingerprint."
        )
    if known:
        return known[0]
    kb.add_dataset(DatasetRecord(f"name:{wanted}", wanted, source="import"))
    return f"name:{wanted}"


def _check_file(name: str) -> None:
    # SQLite would make an empty file of a name that was mistyped.
    if not Path(name.partition("?")[0]).is_file():
        raise BadRequest(f"There is no file {name}. Give the storage of the study, such as sqlite:///study.db.")
