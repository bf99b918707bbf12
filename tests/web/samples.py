"""A small knowledge base with everything a page can show, hostile names included."""

import numpy as np

from metaml_kb import (
    DatasetRecord,
    EnvironmentRecord,
    FoldPlanRecord,
    KnowledgeBase,
    ProposalRecord,
    Run,
    SessionRecord,
)

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&`=cmd|' /C calc'!A0\u202e{{7*7}}"
"""A name that would be markup, a formula, a template or reversed text where it is not escaped."""
METRICS = {
    "binary": ("accuracy", "neg_log_loss", "roc_auc"),
    "multiclass": ("accuracy", "neg_log_loss"),
    "regression": ("neg_rmse", "r2"),
}
TASKS = ("binary", "multiclass", "regression")
ALGORITHMS = ("lightgbm", "svm", "random_forest", "my_learner")
N_DATASETS, N_DRAWS, N_FOLDS = 12, 9, 3
TUNE, BOT, LIVE = "a" * 32, "b" * 32, "c" * 32
"""The keys of the sessions; the last one is under way."""


def fingerprint(number: int) -> str:
    return f"{number:032x}"


def fill(kb: KnowledgeBase) -> None:
    """Store data sets of all tasks, sessions of all kinds, and runs of all origins and statuses."""
    rng = np.random.default_rng(0)
    for number in range(N_DATASETS):
        task = TASKS[number % 3]
        name = HOSTILE if number == 0 else f"data-{number}"
        kb.add_dataset(
            DatasetRecord(
                fingerprint(number),
                name,
                task=task,
                target=HOSTILE if number == 0 else "y",
                n_rows=100 * (number + 1),
                n_columns=4 + number,
                n_classes={"binary": 2, "multiclass": 3}.get(task),
                source=HOSTILE if number == 0 else "file",
            )
        )
        kb.add_metafeatures(
            fingerprint(number),
            {
                HOSTILE: 1.0,
                "NumberOfInstances": 100.0 * (number + 1),
                "NumberOfFeatures": 4.0 + number,
                "Skewness": float("nan"),
            },
        )
    kb.add_fold_plan(FoldPlanRecord("3-fold", "stratified", N_FOLDS, seed=0))
    environment = kb.add_environment(
        EnvironmentRecord({HOSTILE: HOSTILE}, host=HOSTILE, platform=HOSTILE, processor=HOSTILE)
    )
    plan = {"metric": "roc_auc", "bandit": "thompson"}
    settings = {"dataset": fingerprint(0), "seconds": 60.0, "n_workers": 2, "n_folds": N_FOLDS, "search_plan": plan}
    kb.add_session(SessionRecord(BOT, "bot", 1.7e9, 1.7e9 + 500, 1, {"title": HOSTILE, "n_runs": 200}))
    kb.add_session(SessionRecord(TUNE, "tune", 1.7e9 + 600, 1.7e9 + 660, 2, settings))
    kb.add_session(SessionRecord(LIVE, "tune", 1.7e9 + 900, None, 3, settings))
    made = []
    for number in range(N_DATASETS):
        for place, algorithm in enumerate((*ALGORITHMS, *([HOSTILE] if number == 0 else []))):
            level = 0.7 + 0.02 * place + 0.02 * rng.random()
            made += [run_of(number, algorithm, draw, level + 0.001 * draw, environment) for draw in range(N_DRAWS)]
    kb.add_runs(made)
    for draw in range(12):
        run = searched(draw, TUNE, environment)
        kb.add_run(run, events=events_of(run, draw))
    kb.add_run(
        Run(
            dataset=fingerprint(0), algorithm="svm", config={"C": 99.0}, status="failed", error=HOSTILE,
            fold_plan="3-fold", session=TUNE, environment=environment, finished_at=1.7e9 + 659, origin="random",
        )
    )  # fmt: skip


def run_of(number: int, algorithm: str, draw: int, level: float, environment: str) -> Run:
    task = TASKS[number % 3]
    scores = {
        metric: [level - (metric.startswith("neg_")) + 0.01 * fold for fold in range(N_FOLDS)]
        for metric in METRICS[task]
    }
    config = {"rate": 0.001 * 10 ** (draw / 2), "depth": draw + 1, "mode": ("a", "b")[draw % 2], "fixed": 1}
    if number == 0:
        config[HOSTILE] = f"{HOSTILE}{draw}"
        scores[f"custom:{HOSTILE}"] = [level] * N_FOLDS
    return Run(
        dataset=fingerprint(number), algorithm=algorithm, config=config, scores=scores, fold_plan="3-fold", seed=draw,
        fit_seconds=0.5 + draw, predict_seconds=0.1, peak_megabytes=50.0, origin="random", probability=0.01,
        session=BOT, environment=environment, finished_at=1.7e9 + 10 * number + draw,
    )  # fmt: skip


def searched(draw: int, session: str, environment: str | None) -> Run:
    """Return an evaluation of a search on the first data set."""
    level = 0.75 + 0.01 * draw
    origin = ("default", "warm start", "surrogate")[draw % 3]
    carriers = [{"dataset": HOSTILE, "standing": 1.0, "distance": 0.1}]
    details = {"expected": 0.4, "reasons": [HOSTILE], "carriers": carriers} if origin == "warm start" else {}
    return Run(
        dataset=fingerprint(0), algorithm=ALGORITHMS[draw % 2], config={"rate": 0.01 * (draw + 1), "mode": HOSTILE},
        scores={metric: [level, level + 0.02, level + 0.01] for metric in METRICS["binary"]}, fold_plan="3-fold",
        seed=100 + draw, fit_seconds=1.0, predict_seconds=0.1, origin=origin, session=session, environment=environment,
        proposal=ProposalRecord(HOSTILE, predicted_score=level, predicted_std=0.1, details=details),
        finished_at=1.7e9 + 601 + draw,
    )  # fmt: skip


def events_of(run: Run, draw: int) -> list[tuple[str, dict[str, object]]]:
    return [("finished", {"run": run.identity, "seconds": 1.1, "at": 1.0 + 4.0 * draw, "score": 0.76 + 0.01 * draw})]
