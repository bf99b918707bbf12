"""Stored predictions in every kind of database: read, merged, exported, and left out of private exports."""

import numpy as np
import pytest

from metaml_kb import FoldPlanRecord, open_kb
from metaml_kb.exchange import export, import_file
from metaml_kb.predictions import Truth, pack
from metaml_kb.predictions.reading import n_bytes_kept, read_predictions, read_truth
from metaml_kb.transfer import merge

PREDICTED = np.array([[0.25, 0.75], [1.0, 0.0], [0.5, 0.5]])
TRUTH = Truth(np.array([1, 0, 1]), ("no", "yes"))


@pytest.fixture
def filled(backend, run_of):
    import zlib

    folds = zlib.compress(np.array([0, 1, -1], dtype="<i2").tobytes())
    backend.add_fold_plan(FoldPlanRecord("plan", n_folds=2, assignment=folds))
    backend.add_runs(
        [
            run_of(1, fold_plan="plan", predictions=pack(PREDICTED, truth=TRUTH)),
            run_of(2, fold_plan="plan", predictions=pack(PREDICTED[::-1])),
            run_of(3, fold_plan="plan"),
            run_of(4, fold_plan="plan", status="failed", scores={}),
        ]
    )
    return backend


def test_predictions_are_read_in_the_order_of_the_runs(filled):
    first, second = read_predictions(filled, "f" * 32)

    assert first.values == pytest.approx(PREDICTED, abs=1e-3)
    assert second.values == pytest.approx(PREDICTED[::-1], abs=1e-3)
    assert (first.algorithm, first.status, first.fold_plan) == ("random_forest", "ok", "plan")
    assert first.folds.tolist() == [0, 1, -1]
    assert filled.predictions(first.run) == pytest.approx(PREDICTED, abs=1e-3)


def test_the_truth_is_that_of_any_run(filled):
    truth = read_truth(filled, "f" * 32)

    assert truth.y.tolist() == [1, 0, 1]
    assert truth.labels == ("no", "yes")
    assert read_truth(filled, "unknown") is None


def test_predictions_and_truth_are_merged_and_exported_byte_by_byte(filled, tmp_path):
    with open_kb(tmp_path / "merged.db") as target:
        merge(target, filled)
        assert n_bytes_kept(target) == n_bytes_kept(filled) > 0
    export(filled, tmp_path / "all.metaml")
    with open_kb(tmp_path / "imported.db") as target:
        import_file(target, tmp_path / "all.metaml")
        assert read_truth(target, "f" * 32).labels == ("no", "yes")
        assert len(list(read_predictions(target, "f" * 32))) == 2


def test_a_private_export_has_neither(filled, tmp_path):
    export(filled, tmp_path / "private.metaml", private=True)

    with open_kb(tmp_path / "imported.db") as target:
        import_file(target, tmp_path / "private.metaml")
        assert target.n_runs() == 4
        assert n_bytes_kept(target) == 0
