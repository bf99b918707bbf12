"""Evaluations that others stored on OpenML, with their hyperparameters, into a knowledge base."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from metaml.errors import BadRequest, MetamlError
from metaml.evaluation import given_plan
from metaml.metafeatures.openml import repair_openml
from metaml.metrics import METRICS
from metaml.openml_runs.flows import DatasetShape, shape_of, translate
from metaml.openml_runs.setups import Setup, read_setup
from metaml.records.conversion import fold_plan_record, store_dataset
from metaml.sources.base import Loaded
from metaml.sources.openml import Client, load_task
from metaml_kb import DatasetRecord, KnowledgeBase, ProposalRecord, Run

SETUPS_AT_ONCE = 100
"""How many numbers fit into an address."""


@dataclass(frozen=True)
class EvaluationReport:
    """What was imported.

    `kept` counts the runs under a flow's own name by reason; `set_aside` gives the reason for each skipped task.
    """

    n_new: int = 0
    n_known: int = 0
    n_mapped: int = 0
    kept: Mapping[str, int] = field(default_factory=dict)
    set_aside: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Target:
    """The data set and the folds that a task's runs belong to."""

    fingerprint: str
    task: str
    fold_plan: str
    shape: DatasetShape | None


def import_evaluations(
    kb: KnowledgeBase, tasks: Sequence[int], flows: Sequence[int], *, client: Client | None = None, limit: int = 10_000
) -> EvaluationReport:
    """Store the evaluations of these flows on these tasks, at most `limit` each, and return what was imported.

    The data of each task are fetched too, so that the runs belong to the data set that a bot or a tuner sees. If that
    fails, the runs are stored under the data set's name only. A run's seed is its number on OpenML: importing it again
    adds nothing, and two runs of one setup stay separate. Scores are those of the whole run, not of its folds.
    """
    client = client or Client()
    if not tasks or not flows:
        raise BadRequest("Say which evaluations to import: give at least one --task and one --flow.")
    if client.offline:
        raise BadRequest("Evaluations are not in the cache, so they cannot be fetched offline. Use another client.")
    settings = {"tasks": list(tasks), "flows": list(flows), "limit": limit}
    session = kb.start_session("import", settings={"from": "openml", **settings})
    kept: Counter[str] = Counter()
    set_aside: dict[str, str] = {}
    n_new = n_known = n_mapped = 0
    for task in dict.fromkeys(tasks):
        try:
            loaded = _loaded(client, task, set_aside)
            for flow in dict.fromkeys(flows):
                found = _evaluations(client, task, flow, loaded, limit)
                setups = _setups(client, flow, sorted({run["setup"] for run in found.values()}))
                if not found:
                    continue
                target = _store_target(kb, task, loaded, next(iter(found.values()))["data_name"])
                runs = list(_runs(found, setups, target, session, kept))
                added = kb.add_runs(runs)
                n_new, n_known = n_new + added.n_new, n_known + added.n_known
                n_mapped += sum(not run.algorithm.startswith("openml.flow.") for run in runs)
        except MetamlError as error:
            set_aside[f"task {task}"] = str(error)
    kb.finish_session(session)
    return EvaluationReport(n_new, n_known, n_mapped, dict(kept), set_aside)


def _loaded(client: Client, task: int, set_aside: dict[str, str]) -> Loaded | None:
    try:
        return load_task(client, task)
    except MetamlError as error:
        set_aside[f"data of task {task}"] = str(error)
        return None


def _evaluations(client: Client, task: int, flow: int, loaded: Loaded | None, limit: int) -> dict[int, dict[str, Any]]:
    """Return the runs by number, each with its setup, its scores and when it was made."""
    kind = None if loaded is None else loaded.dataset.task
    runs: dict[int, dict[str, Any]] = {}
    # If the data set is unknown, an accuracy only shows that the task is a classification.
    known = (
        [METRICS["accuracy"]] if kind is None else [found for found in METRICS.values() if kind in found.openml_tasks]
    )
    for metric in known:
        for evaluation in _list(client, task, flow, metric.openml_name, limit):
            if evaluation.value is None:
                continue
            run = runs.setdefault(
                evaluation.run_id,
                {
                    "setup": evaluation.setup_id,
                    "data_name": evaluation.data_name,
                    "uploader": evaluation.uploader,
                    "finished_at": _moment(evaluation.upload_time),
                    "scores": {},
                },
            )
            run["scores"][metric.name] = metric.sign * float(evaluation.value)
    return runs


def _list(client: Client, task: int, flow: int, measure: str, limit: int) -> list[Any]:
    def ask(_: int) -> list[Any]:
        with client.set_up() as openml:
            found = openml.evaluations.list_evaluations(
                measure, tasks=[task], flows=[flow], size=limit, output_format="object"
            )
        return list(found.values())

    return client.retry(f"evaluations of flow {flow} on task {task}", ask)


def _setups(client: Client, flow: int, numbers: Sequence[int]) -> dict[int, Setup]:
    setups: dict[int, Setup] = {}
    for start in range(0, len(numbers), SETUPS_AT_ONCE):
        chunk = numbers[start : start + SETUPS_AT_ONCE]

        def ask(_: int, chunk: Sequence[int] = chunk) -> dict[int, Any]:
            with client.set_up() as openml:
                found: dict[int, Any] = openml.setups.list_setups(setup=chunk, output_format="object")
                return found

        for number, setup in client.retry(f"setups of flow {flow}", ask).items():
            setups[number] = read_setup(flow, (setup.parameters or {}).values())
    return setups


def _store_target(kb: KnowledgeBase, task: int, loaded: Loaded | None, data_name: str) -> _Target:
    """Store the data set, its qualities and its folds, as far as they are known."""
    if loaded is None or loaded.folds is None:
        record = DatasetRecord(f"name:{data_name}", data_name, source="openml", details={"task_id": task})
        kb.add_dataset(record)
        return _Target(record.fingerprint, "unknown", f"openml.task.{task}", None)
    dataset = loaded.dataset
    store_dataset(kb, dataset, loaded.origin, details=loaded.details)
    kb.add_metafeatures(dataset.fingerprint, repair_openml(loaded.qualities), source="openml")
    fold_plan = f"openml.task.{task}"
    if loaded.details["n_repeats"] == 1:
        plan = given_plan(loaded.folds)
        kb.add_fold_plan(fold_plan_record(plan))
        fold_plan = plan.hash
    return _Target(dataset.fingerprint, dataset.task, fold_plan, shape_of(dataset))


def _runs(
    found: Mapping[int, Mapping[str, Any]],
    setups: Mapping[int, Setup],
    target: _Target,
    session: str,
    kept: Counter[str],
) -> Iterator[Run]:
    for number, run in found.items():
        setup = setups.get(run["setup"])
        if setup is None:
            kept["its setup is not on the server (left out)"] += 1
            continue
        translated = translate(setup, target.shape)
        if translated.reason is not None:
            kept[f"flow {setup.flow}: {translated.reason}"] += 1
        details = {"run_id": number, "setup_id": run["setup"], "flow_id": setup.flow, "uploader": run["uploader"]}
        yield Run(
            dataset=target.fingerprint,
            algorithm=translated.algorithm,
            config=translated.config,
            scores=run["scores"],
            fold_plan=target.fold_plan,
            seed=number,
            origin="imported",
            session=session,
            proposal=ProposalRecord("openml", details=details),
            finished_at=run["finished_at"],
        )


def _moment(text: str | None) -> float | None:
    """Return the seconds since 1970 of a time on the server, taken as UTC."""
    if not text:
        return None
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None
