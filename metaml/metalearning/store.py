"""Trained meta-learners on the disk: LightGBM's own text, JSON and plain arrays, never a pickle.

What was trained is kept under the revision of the knowledge base it was trained on, so that a stale one is noticed.
"""

import json
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from metaml.encoding import Encoder
from metaml.encoding.encoder import Coding
from metaml.errors import BadRequest
from metaml.metalearning.interactions import interactions_for
from metaml.metalearning.landscape import Landscape, make_landscape
from metaml.metalearning.learner import Member, MetaLearner, Recipe
from metaml.metalearning.runs import Experience

LEARNER_RUNS = 100
"""Runs of each data set the meta-learner is trained on."""
FORMAT = 1
"""Changes with what is written, so that files of another release are trained anew instead of misread."""


@dataclass(frozen=True, eq=False)
class Trained:
    """What was learnt of one algorithm by one metric, and the revision of the knowledge base it was learnt from."""

    algorithm: str
    metric: str
    revision: str
    learner: MetaLearner
    landscape: Landscape
    n_runs: int = 0
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def is_stale(self, revision: str) -> bool:
        """Return whether the knowledge base has changed since."""
        return self.revision != revision


def train(experience: Experience, *, recipe: str = "default", n_threads: int = 1, seed: int = 0) -> Trained:
    """Return the meta-learner and the landscape of an experience.

    The landscape gains from every run; to the meta-learner more than a hundred runs of a data set say nothing new.
    """
    return Trained(
        experience.algorithm,
        experience.metric,
        experience.revision,
        MetaLearner(recipe, n_threads=n_threads, seed=seed).fit(experience.thinned(LEARNER_RUNS, seed)),
        make_landscape(experience, seed=seed),
        len(experience.scores),
        experience.left_out,
        experience.notes,
    )


def folder_of(root: Path, algorithm: str, metric: str, *, task: str = "", left_out: Iterable[str] = ()) -> Path:
    """Return where a trained meta-learner is kept; one that left data sets out has a place of its own."""
    gone = "|".join(sorted(left_out))
    suffix = "-without-" + blake2b(gone.encode(), digest_size=6).hexdigest() if gone else ""
    words = "-".join(word for word in (algorithm, metric, task) if word)
    return root / ("".join(c if c.isalnum() or c in "-_." else "_" for c in words) + suffix)


def save(trained: Trained, folder: Path) -> None:
    """Write a trained meta-learner into a folder of its own, all or nothing: a reader never sees half of it."""
    new = folder.with_name(folder.name + ".new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    learner, landscape = trained.learner, trained.landscape
    for number, member in enumerate(learner.members_):
        (new / f"model_{number}.txt").write_text(member.booster.model_to_string(), encoding="utf-8")
    table = landscape.metafeatures
    np.savez(
        new / "landscape.npz",
        grid=landscape.grid,
        levels=landscape.levels.astype(np.float32),
        log_spread=landscape.log_spread,
        metafeatures=table.to_numpy(np.float64),
    )
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
        "encoder": {
            "one_hot": encoder.one_hot,
            "unit": encoder.unit,
            "log": sorted(encoder.log),
            "codings": [asdict(coding) for coding in encoder.codings_],
        },
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
    (new / "learner.json").write_text(json.dumps(content, indent=1), encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    new.rename(folder)


def load(folder: Path) -> Trained:
    """Return the trained meta-learner of a folder."""
    path = folder / "learner.json"
    if not path.exists():
        raise BadRequest(f"There is no trained meta-learner in {folder}. Make one with: metaml learn")
    content = json.loads(path.read_text(encoding="utf-8"))
    if content.get("format") != FORMAT:
        raise BadRequest(f"{folder.name} was written by another release of metaml. Train it anew with: metaml learn")
    learner = MetaLearner([Recipe(**member["recipe"]) for member in content["members"]])
    learner.encoder_ = _encoder(content["encoder"])
    learner.interactions_ = interactions_for(learner.encoder_)
    learner.members_ = tuple(
        _member(member, folder / f"model_{number}.txt") for number, member in enumerate(content["members"])
    )
    with np.load(folder / "landscape.npz") as arrays:
        table = pd.DataFrame(arrays["metafeatures"], index=content["datasets"], columns=content["metafeatures"])
        landscape = Landscape(
            datasets=tuple(content["datasets"]),
            grid=arrays["grid"],
            levels=arrays["levels"].astype(np.float64),
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


def load_fresh(folder: Path, revision: str) -> Trained | None:
    """Return the trained meta-learner of a folder, or None if there is none for this revision or it cannot be read."""
    try:
        trained = load(folder)
    except (BadRequest, ValueError, KeyError, TypeError, OSError):
        return None
    return None if trained.is_stale(revision) else trained


def _encoder(content: Mapping[str, Any]) -> Encoder:
    encoder = Encoder(one_hot=content["one_hot"], unit=content["unit"], log=content["log"])
    encoder.codings_ = tuple(
        Coding(**{**coding, "words": tuple(coding["words"]), "kept": tuple(coding["kept"])})
        for coding in content["codings"]
    )
    return encoder


def _member(content: Mapping[str, Any], path: Path) -> Member:
    import lightgbm

    booster = lightgbm.Booster(model_str=path.read_text(encoding="utf-8"))
    return Member(
        Recipe(**content["recipe"]),
        booster,
        tuple(content["metafeatures"]),
        tuple(content["names"]),
        float(content["centre"]),
        float(content["unit"]),
    )
