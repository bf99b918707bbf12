"""`metaml why` tells who proposed a run, what was expected, and which past data sets spoke for it."""

import json
import re
from pathlib import Path

import pytest

from metaml.evaluation import Limits, LocalExecutor
from metaml.search.settings import TuneSettings
from metaml.sources import builtin
from metaml.tuning.session import TuneSession
from metaml_kb import ProposalRecord, open_kb
from tests.cli.terminal import metaml


def tune(path: Path, executor: LocalExecutor, metric: str = "auto") -> Path:
    """Make a knowledge base with the default, random and surrogate runs of a short session."""
    settings = TuneSettings(
        algorithms=("decision_tree",),
        metric=metric,
        seconds=None,
        n_iterations=5,
        n_folds=3,
        limits=Limits(600.0),
        seed=4,
    )
    with open_kb(path) as kb:
        TuneSession(builtin.load("iris"), kb, settings, executor).run()
    return path


@pytest.fixture(scope="module")
def tuned(tmp_path_factory, one_worker):
    return tune(tmp_path_factory.mktemp("tuned") / "kb.db", one_worker)


def key_of(place, origin: str) -> str:
    with open_kb(place) as kb:
        return str(kb.runs(origin=origin)["run"].iloc[-1])


def words(text: str) -> str:
    """Return a text without its line breaks and indents."""
    return " ".join(text.split())


def details_of(**changes: object) -> dict[str, object]:
    return {
        "reasons": ["max_depth = 5 speaks for it (+0.31)", "ccp_alpha = 0.1 speaks against it (-0.10)"],
        "carriers": [
            {"dataset": "breast_cancer", "run": "ab" * 16, "standing": 1.25, "closeness": 0.83},
            {"dataset": "wine", "standing": -0.5, "distance": 0.25},
        ],
        "expected": 0.42,
        **changes,
    }


@pytest.mark.parametrize(
    ("origin", "sentence"),
    [
        ("default", "Proposed by Nobody: it is the default configuration of decision_tree, a yardstick"),
        ("random", "Proposed by Chance: it was drawn from the space of decision_tree."),
        ("surrogate", "Proposed by The surrogates of strategy 'default'"),
    ],
)
def test_a_run_tells_what_it_is_and_who_proposed_it(tuned, origin, sentence):
    key = key_of(tuned, origin)

    result = metaml("why", key[:10], "--kb", tuned)

    told = words(result.stdout)
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert told.startswith(f"Run {key}: decision_tree on iris,")
    assert "iris: multiclass, 150 rows, 4 features, target 'target'" in told
    assert "criterion=" in told
    assert "by tune session" in told
    assert "of seed 4, evaluated with seed 0" in told
    assert sentence in told
    assert "It was made without experience: no past data set spoke for it." in told


def test_what_the_session_optimised_comes_first(tuned):
    lines = metaml("why", key_of(tuned, "default"), "--kb", tuned).stdout.splitlines()

    assert next(line for line in lines if line.startswith("Score")).split(maxsplit=1)[1].startswith("log loss ")


@pytest.mark.parametrize(
    ("metric", "label", "verdict"),
    [
        ("brier", "Brier score", r"\S+ came out, (as|better than|worse than) predicted"),
        ("kappa", "kappa", r"after thresholds; \S+ came out before them"),
    ],
)
def test_a_prediction_is_compared_with_the_metric_of_its_session(one_worker, tmp_path, metric, label, verdict):
    place = tune(tmp_path / "kb.db", one_worker, metric)

    told = words(metaml("why", key_of(place, "surrogate"), "--kb", place).stdout)

    assert f" Score {label} " in told
    assert re.search(rf" Predicted {label} \S+ ± \S+ {verdict}", told)


def test_a_prediction_stands_beside_what_came_out(kb, run_of):
    run = run_of(
        1,
        origin="surrogate",
        scores={"neg_log_loss": [-0.5, -0.3]},
        proposal=ProposalRecord("gbqr", -0.5, 0.05, 2.0, 0.9),
        predict_seconds=0.25,
    )
    kb.add_run(run)

    told = words(metaml("why", run.identity, "--kb", kb.name).stdout)

    assert "log loss 0.4000 (0.3000 to 0.5000 over 2 folds)" in told
    assert "log loss 0.5000 ± 0.0500; 0.4000 came out, better than predicted by 2.0 sd" in told
    assert "2.00 s; it took 1.75 s" in told
    assert "acquisition value 0.9" in told


def test_a_failure_is_held_against_its_prediction(kb, run_of):
    run = run_of(1, status="failed", scores={}, error="ValueError: no", proposal=ProposalRecord("gbqr", -0.5))
    kb.add_run(run)

    told = words(metaml("why", run.identity, "--kb", kb.name).stdout)

    assert "Score ValueError: no" in told
    assert "log loss 0.5000; nothing came out (failed)" in told


def test_past_data_sets_and_reasons_are_told(kb, run_of):
    details = details_of(guard="experience misled twice and was switched off")
    run = run_of(1, origin="warm start", proposal=ProposalRecord("start", details=details))
    kb.add_run(run)

    result = metaml("why", run.identity, "--kb", kb.name)

    assert "Experience     +0.42 sd expected" in result.stdout
    assert "Reasons        max_depth = 5 speaks for it (+0.31)\n" in result.stdout
    assert "Past data sets breast_cancer: +1.2 sd, 83% alike, run abababab\n" in result.stdout
    assert "               wine: -0.5 sd, distance 0.25\n" in result.stdout
    assert "Guard          experience misled twice" in result.stdout
    assert "without experience" not in result.stdout


@pytest.mark.parametrize(("origin", "proposer"), [("warm start", "start"), ("surrogate", "experience")])
def test_experience_without_reasons_is_still_experience(kb, run_of, origin, proposer):
    run = run_of(1, origin=origin, proposal=ProposalRecord(proposer))
    kb.add_run(run)

    result = metaml("why", run.identity, "--kb", kb.name)

    assert "Proposed by    Experience: " in result.stdout
    assert "Experience proposed it, but its reasons were not kept." in result.stdout


@pytest.mark.parametrize(
    "details",
    [
        {"reasons": "one", "carriers": {"dataset": 3}},
        {"reasons": [3, None], "carriers": [None, {}, {"standing": "high", "dataset": "x" * 200}]},
        {"run_id": 7, "reasons": ["\x1b[31m" + "y" * 300]},
    ],
)
def test_details_of_any_shape_fit_the_terminal(kb, run_of, details):
    run = run_of(1, proposal=ProposalRecord("openml", details=details), origin="imported")
    kb.add_run(run)

    result = metaml("why", run.identity, "--kb", kb.name)

    assert max(map(len, result.stdout.splitlines())) <= 80
    assert "\x1b" not in result.stdout


def test_a_run_of_which_little_is_known_can_be_told(kb, run_of):
    run = run_of(
        1, scores={"predictive_accuracy": 0.9}, origin="imported", config={}, fit_seconds=None, fold_plan="unknown"
    )
    kb.add_run(run)

    told = words(metaml("why", run.identity, "--kb", kb.name).stdout)

    assert "Score predictive_accuracy 0.9000" in told
    assert "Configuration none" in told
    assert "Cost not known" in told
    assert "Nobody here: it was made elsewhere and imported." in told


def test_json_gives_everything(kb, run_of):
    scores = {"kappa": [float("nan"), 0.5], "accuracy": [0.5, 1.0]}
    run = run_of(1, scores=scores, proposal=ProposalRecord("start", 0.6, details=details_of()), origin="warm start")
    kb.add_run(run)

    facts = json.loads(metaml("why", run.identity[:12], "--kb", kb.name, "--format", "json").stdout)

    assert facts["run"] == run.identity
    assert facts["dataset"]["name"] == "iris"
    assert facts["configuration"] == {"criterion": "gini", "n_estimators": 1}
    assert facts["scores"] == {"accuracy": 0.75, "kappa": 0.5}
    assert facts["fold_scores"]["kappa"] == [None, 0.5]
    assert facts["proposal"]["details"] == details_of()
    assert facts["proposal"]["predicted_score"] == 0.6
    assert facts["session"] is None


@pytest.mark.parametrize("beginning", ["", "run", "0" * 32])
def test_a_run_that_is_not_there_gets_one_sentence(kb, beginning):
    result = metaml("why", beginning, "--kb", kb.name, code=2)

    assert result.stdout == ""
    assert result.stderr.startswith("metaml: ")
    assert "metaml kb runs" in result.stderr


def test_a_beginning_of_several_runs_is_refused(kb, run_of):
    runs = [run_of(number) for number in range(17)]
    kb.add_runs(runs)
    initials = [run.identity[0] for run in runs]
    shared = next(initial for initial in initials if initials.count(initial) > 1)

    result = metaml("why", shared, "--kb", kb.name, code=2)

    assert "Give more of it." in result.stderr


def test_a_number_is_the_evaluation_of_the_last_search(tuned):
    with open_kb(tuned) as kb:
        session = kb.sql("SELECT key FROM session ORDER BY started_at DESC LIMIT 1")["key"][0]
        keys = [details["run"] for _, details in kb.events(session, "finished")]

    told = metaml("why", "4", "--kb", tuned).stdout

    assert told.startswith(f"Run {keys[3]}")


def test_digits_beyond_the_number_of_evaluations_begin_a_key(tuned):
    told = metaml("why", "9999", "--kb", tuned, code=2).stderr

    assert "No run" in told
