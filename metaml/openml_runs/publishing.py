"""Publish our finished runs on OpenML with the user's API key, and only on request.

The key comes from the environment or from openml's own configuration. openml has it only during an upload, and it is
removed from every message. It is not a setting of a session and never stored.
"""

import json
import os
from collections import OrderedDict
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import numpy as np

from metaml.algorithms import ALGORITHMS
from metaml.data import Dataset, Task
from metaml.errors import BadRequest, SourceError
from metaml.evaluation import Job, Outcome, given_plan
from metaml.metrics import METRICS
from metaml.sources.base import Loaded
from metaml.sources.openml import Client

KEY_VARIABLE = "OPENML_APIKEY"


def api_key() -> str:
    """Return the user's API key; BadRequest says where to put one."""
    key = os.environ.get(KEY_VARIABLE, "").strip()
    if not key:
        import openml

        key = str(openml.config.apikey or "").strip()
    if not key:
        raise BadRequest(
            f"Publishing needs an OpenML API key and there is none. Set {KEY_VARIABLE}, or run: openml configure apikey"
        )
    return key


class Publisher:
    """Uploads runs, one call each; its `repr` does not show the key."""

    def __init__(self, client: Client, key: str) -> None:
        self.client = client
        self._key = key

    def __call__(self, loaded: Loaded, job: Job, outcome: Outcome) -> int:
        """Upload a finished run and return its number on OpenML, or raise SourceError.

        The run must be complete, on OpenML's own folds, and with its predictions: jobs must ask for `keep_predictions`.
        The run is sent only once: if the answer is lost, the server may have stored it.
        """
        self._check(loaded, job, outcome)
        local = self.client.local()
        task_id, dataset_id = int(loaded.details["task_id"]), int(loaded.details["dataset_id"])
        once = replace(self.client, patience=replace(self.client.patience, tries=1))
        with local.stage(is_read_only=True) as stage:
            local.lend(stage, "tasks", task_id)
            local.lend(stage, "datasets", dataset_id)

            def describe(_: int) -> Any:
                with self.client.set_up(root=stage.root, key=self._key) as openml:
                    return _flow(openml, job.algorithm, loaded.dataset.task).publish()

            def labels(_: int) -> list[str]:
                with self.client.set_up(root=stage.root) as openml:
                    task = openml.tasks.get_task(task_id, download_features_meta_data=True)
                    return list(getattr(task, "class_labels", None) or ())

            def send(_: int) -> int:
                with once.set_up(root=stage.root, key=self._key) as openml:
                    run = _run(openml, flow, loaded, job, outcome, rows)
                    return int(run.publish().run_id)

            what = f"publishing a run on task {task_id}"
            rows = _rows(loaded, outcome, self.client.retry(what, labels))
            flow = self.client.retry(what, describe, key=self._key)
            return once.retry(what, send, key=self._key)

    def _check(self, loaded: Loaded, job: Job, outcome: Outcome) -> None:
        details = loaded.details
        reason = None
        if loaded.origin != "openml" or loaded.folds is None:
            reason = "its data set is not an OpenML task"
        elif outcome.status != "ok":
            reason = f"it is {outcome.status}, not complete"
        elif outcome.stopped_early:
            reason = "it stopped when its time was up, so its configuration does not say how to make it again"
        elif outcome.predictions is None:
            reason = "its predictions were not kept"
        elif job.plan != given_plan(loaded.folds):
            reason = "it was not evaluated on the folds of the task"
        elif details["n_repeats"] != 1:
            reason = f"the task wants {details['n_repeats']} repeats of its folds and we make one"
        elif details["n_rows"] != len(loaded.folds):
            reason = "rows of the task were not usable, so they have no prediction"
        if reason:
            raise SourceError(
                f"A run of {job.algorithm} cannot be published: {reason}. It stays in the knowledge base."
            )


def _flow(openml: Any, algorithm: str, task: Task) -> Any:
    """Return the flow that describes one of our algorithms; its version is that of metaml and of the library."""
    kind = "regression" if task == "regression" else "classification"
    library = ALGORITHMS[algorithm].library
    versions = [f"metaml=={version('metaml')}", f"{library}=={version(library)}"]
    parameters = {"seed": "0"}
    for parameter in ALGORITHMS[algorithm].space(task).parameters:
        parameters[parameter.name] = json.dumps(parameter.default)
    return openml.flows.OpenMLFlow(
        name=f"metaml.{algorithm}.{kind}",
        description=f"The algorithm {algorithm} of metaml for {kind}, with the preprocessing its parameters ask for.",
        model=None,
        components=OrderedDict(),
        parameters=OrderedDict(parameters),
        parameters_meta_info=OrderedDict((name, {"data_type": None, "description": None}) for name in parameters),
        external_version=",".join(versions),
        tags=["metaml"],
        language="English",
        dependencies="\n".join(versions),
    )


def _run(openml: Any, flow: Any, loaded: Loaded, job: Job, outcome: Outcome, rows: list[list[Any]]) -> Any:
    settings = [
        OrderedDict([("oml:name", name), ("oml:value", json.dumps(value)), ("oml:component", flow.flow_id)])
        for name, value in {"seed": job.seed, **job.config}.items()
    ]
    metric = METRICS["neg_mae" if loaded.dataset.task == "regression" else "accuracy"]
    scores = outcome.scores[metric.name]
    folds = OrderedDict((fold, metric.sign * score) for fold, score in zip(outcome.folds, scores, strict=True))
    return openml.runs.OpenMLRun(
        task_id=int(loaded.details["task_id"]),
        flow_id=flow.flow_id,
        dataset_id=int(loaded.details["dataset_id"]),
        parameter_settings=settings,
        data_content=rows,
        flow=flow,
        flow_name=flow.name,
        fold_evaluations=OrderedDict([(metric.openml_name, OrderedDict([(0, folds)]))]),
        description_text=flow.dependencies.replace("\n", ", "),
        tags=["metaml"],
    )


def _rows(loaded: Loaded, outcome: Outcome, class_labels: list[str]) -> list[list[Any]]:
    """Return the predictions as OpenML wants them: one row per tested row, with the chance of every class."""
    dataset = loaded.dataset
    folds, predictions = np.asarray(loaded.folds), np.asarray(outcome.predictions)
    order = np.lexsort((dataset.rows, folds)).tolist()
    heads = {i: [0, int(folds[i]), int(dataset.rows[i])] for i in order}
    if dataset.labels is None:
        return [[*heads[i], float(predictions[i]), float(dataset.y[i])] for i in order]
    places = _places(dataset, class_labels)
    rows = []
    for i in order:
        repeat, fold, row = heads[i]
        chances = np.zeros(len(class_labels))
        chances[places] = predictions[i]
        predicted, truth = class_labels[places[int(predictions[i].argmax())]], class_labels[places[dataset.y[i]]]
        rows.append([repeat, fold, 0, row, predicted, truth, *chances.tolist()])
    return rows


def _places(dataset: Dataset, class_labels: list[str]) -> list[int]:
    """Return the position of each of our labels in OpenML's list, whose order and quotes may differ."""
    known = {label.strip("'\""): place for place, label in enumerate(class_labels)}
    labels = [str(label) for label in dataset.labels.tolist()] if dataset.labels is not None else []
    strange = [label for label in labels if label not in known]
    if strange:
        raise SourceError(f"OpenML does not know the class {strange[0]!r} of {dataset.name}. Fetch the task again.")
    return [known[label] for label in labels]
