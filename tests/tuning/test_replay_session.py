"""A session proposed again from its event log: nothing but the log decides."""

from dataclasses import replace

import numpy as np
import pytest

from metaml.errors import BadRequest
from metaml.records.conversion import dataset_record, fold_plan_record
from metaml.tuning.replay_session import replay_session
from metaml.tuning.resume import find_unfinished, trials_of
from metaml.tuning.session import TuneSession
from metaml.tuning.trials import PredictionFiles
from metaml_kb import open_kb
from tests.tuning.sessions import cut_after, settings_of


def test_the_event_log_alone_decides_what_is_proposed(tuned):
    kb, found = tuned

    steps = replay_session(kb, found.session[:8])

    assert len(steps) == 8
    assert all(step.is_same for step in steps)


def test_an_unknown_session_cannot_be_replayed(tuned):
    kb, _ = tuned

    with pytest.raises(BadRequest, match="No tuning session has a key"):
        replay_session(kb, "ffff")


def test_for_labels_the_event_log_alone_decides_too(judged):
    kb, found, _ = judged

    steps = replay_session(kb, found.session)
    remembered = trials_of(kb, found.session, "f1", PredictionFiles(None))

    assert [step.is_same for step in steps] == [True] * 8
    assert [trial.score for trial in remembered] == [trial.score for trial in found.trials]


def test_a_session_with_experience_can_be_replayed(experienced):
    kb, found = experienced

    steps = replay_session(kb, found.session)

    assert [step.is_same for step in steps] == [True] * 12


def test_a_session_that_was_killed_and_resumed_can_be_replayed(iris, executor, tmp_path):
    with open_kb(tmp_path / "kb.db") as kb:
        settings = settings_of(n_workers=2, n_iterations=12)
        key = cut_after(5, iris, kb, settings, executor)
        earlier = find_unfinished(kb, iris.fingerprint, PredictionFiles(None))
        found = TuneSession(iris, kb, settings, executor, resumed=earlier).run()

        steps = replay_session(kb, key)

    assert len(found.trials) == 12
    assert len(steps) >= 12
    assert all(step.is_same for step in steps)


def test_a_session_that_made_known_runs_again_is_replayed_by_its_own_scores(iris, executor, tmp_path):
    with open_kb(tmp_path / "first.db") as kb:
        made = TuneSession(iris, kb, settings_of(), executor).run()
    with open_kb(tmp_path / "kb.db") as kb:
        kb.add_dataset(dataset_record(iris, "file", {}))
        kb.add_fold_plan(fold_plan_record(made.plan))
        for trial in made.trials:
            # As the starter experience keeps them.
            rounded = {name: np.float32(folds).tolist() for name, folds in trial.run.scores.items()}
            kb.add_run(replace(trial.run, scores=rounded, session=None, environment=None, proposal=None))

        found = TuneSession(iris, kb, settings_of(), executor).run()
        stored = trials_of(kb, found.session, found.metric, PredictionFiles(None))

    assert [trial.score for trial in stored] == [trial.score for trial in found.trials]
    assert [t.outcome_by(found.metric).scores for t in stored] == [
        t.outcome_by(found.metric).scores for t in found.trials
    ]


def test_a_session_in_packed_batches_can_be_replayed(iris, executor, tmp_path):
    with open_kb(tmp_path / "kb.db") as kb:
        settings = settings_of(n_workers=2, n_iterations=11, schedule="rambo")
        found = TuneSession(iris, kb, settings, executor).run()
        batches = [details["turn"] for _, details in kb.events(found.session, "asked") if "turn" in details]

        steps = replay_session(kb, found.session)

    assert len(batches) >= 2
    assert [step.is_same for step in steps] == [True] * 11
