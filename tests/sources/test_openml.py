"""OpenML's tasks as sources: the unmodified openml package against a server on loopback."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from openml_content import N_FOLDS, N_ROWS, fold_of
from openml_server import OpenMLServer

from metaml.errors import SourceError
from metaml.sources.base import Source
from metaml.sources.openml import sources

Make = Callable[..., Source]
FOLDS = [fold_of(row) for row in range(N_ROWS)]


def test_an_arff_task_comes_with_openmls_folds_and_qualities(task_source: Make) -> None:
    loaded = task_source(31).load()

    assert (loaded.dataset.name, loaded.dataset.task, loaded.dataset.target) == ("credit-g", "binary", "class")
    assert loaded.folds is not None
    assert loaded.folds.tolist() == FOLDS
    assert loaded.origin == "openml"
    assert loaded.qualities["NumberOfInstances"] == 40
    assert "MeanMutualInformation" not in loaded.qualities
    assert loaded.details["task_id"] == loaded.details["dataset_id"] == 31
    assert loaded.details["licence"] == "Public"


def test_nominal_columns_are_categories_though_they_look_like_numbers(task_source: Make) -> None:
    X = task_source(31).load().dataset.X

    assert [name for name in X if X[name].dtype == "category"] == ["purpose", "grade"]
    assert X["grade"].cat.categories.tolist() == ["1", "2", "3"]
    assert X["purpose"].cat.categories.tolist() == ["car", "new house", "radio"]


def test_a_parquet_task_is_the_same_as_its_arff(task_source: Make, server: OpenMLServer, tmp_path: Path) -> None:
    from_parquet = task_source(37).load()
    server.fail("dataset_37.pq", "500")
    from_arff = task_source(37, cache=tmp_path / "other").load()

    assert (server.asked("GET .*pq"), server.asked("download/37/")) == (1, 1)
    assert from_parquet.dataset.fingerprint == from_arff.dataset.fingerprint
    assert from_parquet.dataset.X.columns.tolist() == ["width", "wet"]
    assert from_parquet.dataset.task == "multiclass"
    assert from_parquet.qualities == {}


def test_rows_without_a_target_lose_their_place_in_the_folds(task_source: Make) -> None:
    loaded = task_source(7).load()

    assert loaded.dataset.task == "regression"
    assert loaded.folds is not None
    assert loaded.folds.tolist() == [fold for row, fold in enumerate(FOLDS) if row != 3]


def test_sparse_arff_is_made_dense_with_its_words(task_source: Make) -> None:
    dataset = task_source(52).load().dataset

    assert dataset.X.shape == (N_ROWS, 3)
    assert dataset.labels is not None
    assert dataset.labels.tolist() == ["ham", "spam"]
    assert np.array_equal(dataset.y == 1, dataset.X["w0"] > 0)


def test_a_sparse_table_that_is_too_large_is_set_aside(task_source: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metaml.sources.openml.MOST_SPARSE_CELLS", 50)

    with pytest.raises(SourceError, match=r"task 52: its sparse table has 160 cells"):
        task_source(52).load()


def test_a_suite_is_its_tasks_and_each_comes_once(server: OpenMLServer, cache: Path) -> None:
    found = sources([37], [99], server=server.address, cache=cache)

    assert [source.name for source in found] == ["task 37", "task 31"]
    assert server.asked("task/") == 0


def test_a_suite_that_does_not_exist_fails_when_it_is_loaded(server: OpenMLServer, cache: Path) -> None:
    found = sources([31], [98], server=server.address, cache=cache)

    assert [source.name for source in found] == ["task 31", "suite 98"]
    with pytest.raises(SourceError, match="suite 98: OpenML says 'Study does not exist"):
        found[1].load()


@pytest.mark.parametrize("kind", ["truncated", "cut", "hang", "404"])
def test_parquet_that_cannot_be_had_is_replaced_by_arff(task_source: Make, server: OpenMLServer, kind: str) -> None:
    server.fail("dataset_37.pq", kind)

    loaded = task_source(37).load()

    assert len(loaded.dataset.y) == N_ROWS
    assert server.asked("download/37/") == 1


def test_fold_numbers_run_from_zero(task_source: Make) -> None:
    folds = task_source(37).load().folds

    assert folds is not None
    assert np.unique(folds).tolist() == list(range(N_FOLDS))
