"""Lessons: everything learnt from several algorithms, in one file of plain data."""

import zipfile
from dataclasses import replace

import numpy as np
import pytest

from metaml.errors import BadRequest
from metaml.metalearning.lessons import Lessons, load_lessons, load_portfolio, save_lessons, taught_by, teach
from tests.metalearning.worlds import make_synthetic

DESCRIBED = {"NumberOfInstances": 700.0, "NumberOfFeatures": 6.0, "NumberOfClasses": 2.0}


@pytest.fixture(scope="module")
def lessons() -> Lessons:
    """What two algorithms teach, of which the second one is always better."""
    low = replace(make_synthetic(), revision="kb-1")
    high = replace(low.with_scores(low.scores + 0.05), algorithm="better")
    empty = replace(make_synthetic(1, 1).keep([]), algorithm="unknown")
    return teach({"toy": low, "better": high, "unknown": empty}, family="classification", n_known=720, n_grid=50)


def test_only_algorithms_with_runs_teach(lessons: Lessons):
    assert set(lessons.trained) == set(lessons.runtimes) == {"toy", "better"}
    assert (lessons.n_runs, lessons.n_datasets, lessons.revision) == (720, 12, "kb-1")
    assert len(lessons.metafeatures) == 12


def test_a_file_says_the_same_to_the_last_digits_and_holds_no_pickle(lessons: Lessons, tmp_path):
    save_lessons(lessons, tmp_path / "a.lessons")

    found = load_lessons(tmp_path / "a.lessons")

    configs = [{"rate": rate, "word": "a"} for rate in (0.1, 0.5, 0.9)]
    before, after = (item.trained["toy"].learner.predict(configs, DESCRIBED) for item in (lessons, found))
    assert np.allclose(before, after, atol=1e-5)
    assert (found.metric, found.names, found.n_known) == (lessons.metric, lessons.names, lessons.n_known)
    with zipfile.ZipFile(tmp_path / "a.lessons") as file:
        assert {name.rpartition(".")[2] for name in file.namelist()} == {"json", "npz", "txt"}


def test_the_portfolio_and_the_teachers_are_read_without_the_rest(lessons: Lessons, tmp_path):
    save_lessons(lessons, tmp_path / "a.lessons")

    assert load_portfolio(tmp_path / "a.lessons").candidates == lessons.portfolio.candidates
    assert taught_by(tmp_path / "a.lessons") == frozenset(lessons.names)


def test_a_file_that_is_none_gets_a_sentence(tmp_path):
    path = tmp_path / "a.lessons"
    path.write_bytes(b"not lessons")

    with pytest.raises(BadRequest, match=r"a\.lessons"):
        load_lessons(path)
    assert load_portfolio(path) is None
    assert taught_by(path) is None
