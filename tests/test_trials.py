"""What survives an evaluation until the session ends."""

import pickle

from metaml.trials import FoldModels

MODELS = (pickle.dumps({"fold": 0}), pickle.dumps({"fold": 1}))


def test_models_come_back_as_they_were_kept():
    with FoldModels() as models:
        models.keep("run", MODELS)

        assert "run" in models
        assert models.get("run") == ({"fold": 0}, {"fold": 1})


def test_runs_without_models_and_those_that_were_forgotten_have_none():
    with FoldModels() as models:
        models.keep("without", ())
        models.keep("bad", MODELS)
        models.keep("good", MODELS)

        models.keep_only(["good"])

        assert [run in models for run in ("without", "bad", "good")] == [False, False, True]
        assert models.get("bad") == ()


def test_what_cannot_be_written_is_not_kept():
    with FoldModels() as models:
        models.keep("no/such/folder", MODELS)

        assert "no/such/folder" not in models
