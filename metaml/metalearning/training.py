"""Trained meta-learners as files: LightGBM's own text, JSON and plain arrays, never a pickle.

Each stores the revision of the knowledge base it was trained on, so that an outdated one is noticed.
"""

import io
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from metaml.arrays import Floats
from metaml.encoding import Encoder
from metaml.encoding.encoder import Coding
from metaml.errors import BadRequest
from metaml.metalearning.booster_text import booster_of, compact_text
from metaml.metalearning.history import RunHistory
from metaml.metalearning.interactions import interactions_for
from metaml.metalearning.landscape import N_COMPONENTS, Landscape, make_landscape
from metaml.metalearning.meta_learner import LearnerModel, LearnerRecipe, MetaLearner
from metaml.metalearning.pooled_landscape import pooled_landscape

LEARNER_RUNS = 100
"""Runs of each data set the meta-learner is trained on."""
FEW_RUNS = 50
FORMAT = 2
"""Changes with what is written, so that files of another release are retrained instead of misread."""


@dataclass(frozen=True, eq=False)
class Trained:
    """The meta-learner and landscape of one algorithm and metric, and the revision of the knowledge base used."""

    algorithm: str
    metric: str
    revision: str
    learner: MetaLearner
    landscape: Landscape
    n_runs: int = 0
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def train(
    history: RunHistory, *, recipe: str = "default", n_grid: int = 2000, n_threads: int = 1, seed: int = 0
) -> Trained:
    """Return the meta-learner and the landscape of a run history.

    The landscape uses every run. The meta-learner uses at most a hundred runs per data set: more do not improve it.
    If most data sets have few runs, the meta-learner's predictions are part of the landscape.
    """
    learner = MetaLearner(recipe, n_threads=n_threads, seed=seed).fit(history.thinned(LEARNER_RUNS, seed))
    is_sparse = np.median([len(places) for places in history.places] or [0]) < FEW_RUNS
    if is_sparse:
        landscape = pooled_landscape(history, learner, n_grid=n_grid, seed=seed)
    else:
        landscape = make_landscape(history, n_grid=n_grid, seed=seed)
    return Trained(
        history.algorithm,
        history.metric,
        history.revision,
        learner,
        landscape,
        len(history.scores),
        history.left_out,
        history.notes,
    )


def file_contents(trained: Trained, *, metafeatures: bool = True) -> dict[str, bytes]:
    """Return a trained meta-learner as file contents by file name, with or without the metafeatures."""
    learner, landscape = trained.learner, trained.landscape
    files = {
        f"model_{number}.txt": compact_text(member.booster).encode() for number, member in enumerate(learner.members_)
    }
    table = landscape.metafeatures
    average, along, components = _low_rank(landscape.levels)
    arrays = io.BytesIO()
    np.savez(
        arrays,
        grid=landscape.grid,
        average=average.astype(np.float32),
        along=along.astype(np.float32),
        components=components.astype(np.float32),
        log_spread=landscape.log_spread,
        metafeatures=table.to_numpy(np.float64) if metafeatures else np.zeros((0, 0)),
    )
    files["landscape.npz"] = arrays.getvalue()
    encoder = learner.encoder_
    content = {
        "format": FORMAT,
        "algorithm": trained.algorithm,
        "metric": trained.metric,
        "revision": trained.revision,
        "n_runs": trained.n_runs,
        "left_out": trained.left_out,
        "notes": trained.notes,
        "datasets": landscape.datasets,
        "metafeatures": [str(name) for name in table.columns],
        "seed": landscape.seed,
        "encoder": packed_encoder(encoder),
        "members": [
            {
                "recipe": asdict(member.recipe),
                "metafeatures": member.metafeatures,
                "names": member.names,
                "centre": member.centre,
                "unit": member.unit,
            }
            for member in learner.members_
        ],
    }
    files["learner.json"] = json.dumps(content, indent=1).encode()
    return files


def unpacked(files: Mapping[str, bytes], *, metafeatures: pd.DataFrame | None = None) -> Trained:
    """Return the trained meta-learner from its files; `metafeatures` replaces those the files lack."""
    content = json.loads(files["learner.json"])
    if content.get("format") != FORMAT:
        raise BadRequest("A meta-learner was written by another release of metaml. Train it again with: metaml learn")
    learner = MetaLearner([LearnerRecipe(**member["recipe"]) for member in content["members"]])
    learner.encoder_ = unpacked_encoder(content["encoder"])
    learner.interactions_ = interactions_for(learner.encoder_)
    learner.members_ = tuple(
        _learner_model(member, files[f"model_{number}.txt"].decode())
        for number, member in enumerate(content["members"])
    )
    with np.load(io.BytesIO(files["landscape.npz"])) as arrays:
        if metafeatures is None:
            table = pd.DataFrame(arrays["metafeatures"], index=content["datasets"], columns=content["metafeatures"])
        else:
            table = metafeatures.reindex(index=content["datasets"], columns=content["metafeatures"])
        landscape = Landscape(
            datasets=tuple(content["datasets"]),
            grid=arrays["grid"],
            levels=(arrays["average"] + arrays["along"] @ arrays["components"]).astype(np.float64),
            metafeatures=table,
            log_spread=arrays["log_spread"],
            seed=int(content["seed"]),
        )
    return Trained(
        content["algorithm"],
        content["metric"],
        content["revision"],
        learner,
        landscape,
        int(content["n_runs"]),
        tuple(content["left_out"]),
        tuple(content["notes"]),
    )


def _low_rank(levels: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the mean of levels and two low-rank factors of the rest: all that a landscape uses."""
    average = levels.mean(axis=0) if len(levels) else np.zeros(levels.shape[1])
    U, S, V = np.linalg.svd(levels - average, full_matrices=False)
    return average, U[:, :N_COMPONENTS] * S[:N_COMPONENTS], V[:N_COMPONENTS]


def packed_encoder(encoder: Encoder) -> dict[str, Any]:
    """Return an encoder as plain JSON."""
    return {
        "one_hot": encoder.one_hot,
        "unit": encoder.unit,
        "log": sorted(encoder.log),
        "codings": [asdict(coding) for coding in encoder.codings_],
    }


def unpacked_encoder(content: Mapping[str, Any]) -> Encoder:
    """Return the encoder that was written as plain JSON."""
    encoder = Encoder(one_hot=content["one_hot"], unit=content["unit"], log=content["log"])
    encoder.codings_ = tuple(
        Coding(**{**coding, "words": tuple(coding["words"]), "kept": tuple(coding["kept"])})
        for coding in content["codings"]
    )
    return encoder


def _learner_model(content: Mapping[str, Any], model: str) -> LearnerModel:
    return LearnerModel(
        LearnerRecipe(**content["recipe"]),
        booster_of(model),
        tuple(content["metafeatures"]),
        tuple(content["names"]),
        float(content["centre"]),
        float(content["unit"]),
    )
