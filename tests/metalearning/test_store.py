"""What was trained can be kept, and is known to be stale when the knowledge base has grown."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from metaml.errors import BadRequest
from metaml.metalearning.runs import Experience
from metaml.metalearning.store import Trained, folder_of, load, load_fresh, save, train

DESCRIBED = {"NumberOfInstances": 700.0, "NumberOfFeatures": 6.0, "NumberOfClasses": 2.0}
CONFIGS = [{"rate": rate, "word": word} for rate in (0.1, 0.5, 0.9) for word in ("a", "b", "new")]


def test_saved_and_loaded_says_the_same(trained: Trained, tmp_path: Path):
    save(trained, tmp_path / "toy")

    found = load(tmp_path / "toy")

    before, after = (item.learner.predict(CONFIGS, DESCRIBED) for item in (trained, found))
    np.testing.assert_allclose(after, before, atol=1e-5)
    rows = found.learner.encoder_.transform(CONFIGS)
    assert np.abs(found.landscape.levels_at(rows) - trained.landscape.levels_at(rows)).max() < 1e-4
    assert found.landscape.datasets == trained.landscape.datasets


def test_no_pickle_is_written(trained: Trained, tmp_path: Path):
    save(trained, tmp_path / "toy")

    assert sorted(path.name for path in (tmp_path / "toy").iterdir()) == [
        "landscape.npz",
        "learner.json",
        "model_0.txt",
    ]


def test_stale_cache_is_noticed(trained: Trained, tmp_path: Path):
    save(trained, tmp_path / "toy")

    assert load_fresh(tmp_path / "toy", "kb-1") is not None
    assert load_fresh(tmp_path / "toy", "kb-2") is None


def test_missing_or_broken_cache_is_trained_anew(tmp_path: Path):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "learner.json").write_text("{")

    assert load_fresh(tmp_path / "nothing", "kb-1") is None
    assert load_fresh(tmp_path / "broken", "kb-1") is None


def test_nothing_there_is_said_with_what_to_do(tmp_path: Path):
    with pytest.raises(BadRequest, match="metaml learn"):
        load(tmp_path / "nothing")


def test_saving_again_replaces(trained: Trained, tmp_path: Path):
    save(trained, tmp_path / "toy")

    save(replace(trained, revision="kb-2"), tmp_path / "toy")

    assert load(tmp_path / "toy").revision == "kb-2"
    assert [path.name for path in tmp_path.iterdir()] == ["toy"]


def test_what_was_left_out_has_a_place_of_its_own(tmp_path: Path):
    all_of_it = folder_of(tmp_path, "toy", "accuracy", task="binary")
    without = folder_of(tmp_path, "toy", "accuracy", task="binary", left_out=["b", "a"])

    assert all_of_it.name == "toy-accuracy-binary"
    assert without == folder_of(tmp_path, "toy", "accuracy", task="binary", left_out=["a", "b"])
    assert without != all_of_it


def test_little_experience_can_be_trained_and_kept(synthetic: Experience, tmp_path: Path):
    for n_datasets in (0, 1):
        save(train(synthetic.keep(range(n_datasets))), tmp_path / "toy")

        found = load(tmp_path / "toy")

        assert found.landscape.n_datasets == n_datasets
        assert np.isfinite(found.learner.predict(CONFIGS, DESCRIBED)).all()
