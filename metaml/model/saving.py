"""The model file: a model as plain data, and back."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from metaml.data import Schema
from metaml.ensemble.calibration import Calibration
from metaml.errors import BadModel, BadRequest
from metaml.model.archive import MODEL_FILE, read_archive, write_archive
from metaml.model.fitted import Member, Model
from metaml.model.freezing import Freezer, thaw
from metaml.model.sample import Sample
from metaml.model.trusted import trusted_name
from metaml.model.uncertainty import Uncertainty
from metaml.system.trial_process import kept_trials


def save(model: Model, path: str | Path) -> Path:
    """Write a model to a file, or as model.zip into a folder; return where it is."""
    path = Path(path)
    path = path / MODEL_FILE if path.is_dir() else path
    freezer = Freezer()
    estimators = [[freezer.freeze(estimator) for estimator in member.estimators] for member in model.members]
    about = {
        "task": model.task,
        "target": model.schema.target,
        "dataset": model.dataset,
        "fingerprint": model.fingerprint,
        "n_rows": model.n_rows,
        "metric": model.metric,
        "score": _finite(model.score),
        "created": model.created,
        "versions": dict(model.versions),
        "multipliers": model.multipliers,
        "calibration": None if model.calibration is None else model.calibration.to_dict(),
        "members": [
            {
                "algorithm": member.algorithm,
                "config": member.config,
                "weight": member.weight,
                "score": _finite(member.score),
                "n_estimators": len(member.estimators),
                "layer": member.layer,
                "feeds": member.feeds,
            }
            for member in model.members
        ],
        "facts": dict(model.facts),
        "schema": model.schema.to_dict(),
    }
    known = model.uncertainty
    uncertainty = None if known is None else freezer.freeze([known.errors, known.folds, list(known.scales)])
    kept = model.sample
    sample = None if kept is None else freezer.freeze([kept.features, kept.target, kept.outputs])
    parts = {"arrays": freezer.arrays, "members": estimators, "uncertainty": uncertainty, "sample": sample}
    write_archive(path, about, parts, freezer.content, version=model.n_layers if model.calibration is None else 3)
    return path


@kept_trials()
def load(path: str | Path, *, key: bytes | None = None) -> Model:
    """Return the model in a file or folder; nothing in the file is executed, and a changed file is refused.

    With a `key`, the file must be signed with it.
    """
    path = Path(path)
    path = path / MODEL_FILE if path.is_dir() else path
    about, parts, content = read_archive(path, key)
    try:
        schema = Schema.from_dict(about["schema"])
        structures = parts["members"]
        members = tuple(
            Member(
                algorithm=str(plain["algorithm"]),
                config=plain["config"],
                weight=float(plain["weight"]),
                estimators=tuple(_checked(thaw(one, parts["arrays"], content), schema) for one in structure),
                score=plain["score"],
                # Models of one layer, saved by earlier versions, do not say so.
                layer=int(plain.get("layer", 1)),
                feeds=bool(plain.get("feeds", False)),
            )
            for plain, structure in zip(about["members"], structures, strict=True)
        )
        factors = about["multipliers"]
        calibration = about.get("calibration")
        if calibration is not None:
            calibration = Calibration.from_dict(calibration, len(schema.labels or ()))
        return Model(
            members=members,
            schema=schema,
            dataset=about["dataset"],
            fingerprint=about["fingerprint"],
            n_rows=int(about["n_rows"]),
            metric=about["metric"],
            score=about["score"],
            multipliers=None if factors is None else tuple(float(factor) for factor in factors),
            calibration=calibration,
            uncertainty=_uncertainty(parts, content),
            sample=_sample(parts, content, schema),
            facts=about["facts"],
            created=about["created"],
            versions=_texts(about["versions"]),
            is_from_file=True,
        )
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, BadRequest) as error:
        said = f"{type(error).__name__}: {error}".split("\n")[0]
        raise BadModel(f"{path} does not fit together ({said}). Save it again with this version.") from None


def _uncertainty(parts: dict[str, Any], content: bytes) -> Uncertainty | None:
    """Return what a file says about the errors of its model; those of earlier versions say nothing."""
    plain = parts.get("uncertainty")
    if plain is None:
        return None
    errors, folds, scales = thaw(plain, parts["arrays"], content)
    if not all(trusted_name(scale) == "TabularRegressor" for scale in scales):
        raise ValueError("an expected error is not a TabularRegressor")
    return Uncertainty(np.asarray(errors, dtype=np.float64), np.asarray(folds, dtype=np.int16), tuple(scales))


def _sample(parts: dict[str, Any], content: bytes, schema: Schema) -> Sample | None:
    """Return the training rows in a file, if there are any and they are those of its schema."""
    plain = parts.get("sample")
    if plain is None:
        return None
    features, target, outputs = thaw(plain, parts["arrays"], content)
    target = np.asarray(target, dtype=np.float64 if schema.labels is None else np.int64)
    sample = Sample(np.asarray(features, dtype=np.float64), target, np.asarray(outputs, dtype=np.float64))
    n_outputs = 1 if schema.labels is None else len(schema.labels)
    if sample.features.shape[1] != len(schema.columns) or sample.outputs.shape[1] != n_outputs:
        raise ValueError("the sample of rows is of another table")
    if schema.labels is not None and not ((target >= 0) & (target < n_outputs)).all():
        raise ValueError("the sample of rows has classes that do not exist")
    sample.frame(schema)
    return sample


def _checked(estimator: Any, schema: Schema) -> Any:
    """Return the estimator if it is one for this schema."""
    n_labels = None if schema.labels is None else len(schema.labels)
    wanted = "TabularRegressor" if n_labels is None else "TabularClassifier"
    if trusted_name(estimator) not in (wanted, *(("DistributionRegressor",) if n_labels is None else ())):
        raise ValueError(f"a member is not a {wanted}")
    if n_labels is not None and not set(estimator.classes_.tolist()) <= set(range(n_labels)):
        raise ValueError("a member predicts classes that do not exist")
    return estimator


def _texts(plain: dict[str, Any]) -> dict[str, str]:
    return {str(name): str(version) for name, version in plain.items()}


def _finite(score: float | None) -> float | None:
    return None if score is None or not math.isfinite(score) else float(score)
