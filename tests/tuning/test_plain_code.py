"""The best configuration as a program without metaml: it runs, and scores about the same."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from metaml.algorithms import ALGORITHMS
from metaml.data import from_frame
from metaml.tuning.plain_code import plain_code

RNG = np.random.default_rng(0)
N_ROWS = 200
SIZE = RNG.normal(size=N_ROWS)
COLOUR = RNG.choice(["red", "green", "blue"], size=N_ROWS)
TABLE = pd.DataFrame({"size": SIZE, "colour": COLOUR, "noise": RNG.normal(size=N_ROWS)})
TABLE.loc[::17, "size"] = np.nan
STRENGTH = np.nan_to_num(SIZE) + (COLOUR == "red") + 0.1 * RNG.normal(size=N_ROWS)
BLOCKER = "raise ImportError('this program must not need metaml')\n"


@pytest.mark.parametrize("task", ["binary", "regression"])
@pytest.mark.parametrize("algorithm", [name for name, known in ALGORITHMS.items() if known.plain is not None])
def test_the_program_learns_and_predicts(
    tmp_path: Path,
    algorithm: str,
    task: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    target = STRENGTH if task == "regression" else np.where(STRENGTH > 0.5, "large", "small")
    TABLE.assign(y=target).to_csv(tmp_path / "data.csv", index=False)
    TABLE.head(3).to_csv(tmp_path / "new.csv", index=False)
    dataset = from_frame(TABLE.assign(y=target), "y")
    config = ALGORITHMS[algorithm].space(task).default()  # type: ignore[arg-type]
    metric = "r2" if task == "regression" else "roc_auc"

    program = plain_code(dataset, algorithm, config, metric=metric, n_folds=3)
    assert program is not None
    monkeypatch.setattr(sys, "argv", ["best", str(tmp_path / "data.csv"), str(tmp_path / "new.csv")])
    exec(compile(program, "best_without_metaml.py", "exec"), {"__name__": "__main__"})

    score, *predictions = capsys.readouterr().out.splitlines()
    assert float(score.split()[0]) > (0.5 if task == "regression" else 0.9)
    assert predictions[0] == "prediction"
    assert len(predictions) == 4


def test_the_program_needs_no_metaml(tmp_path: Path) -> None:
    TABLE.assign(y=STRENGTH).to_csv(tmp_path / "data.csv", index=False)
    config = ALGORITHMS["decision_tree"].space("regression").default()
    program = plain_code(from_frame(TABLE.assign(y=STRENGTH), "y"), "decision_tree", config, metric="r2", n_folds=2)
    (tmp_path / "metaml.py").write_text(BLOCKER)
    (tmp_path / "best_without_metaml.py").write_text(str(program))

    words = [sys.executable, str(tmp_path / "best_without_metaml.py"), str(tmp_path / "data.csv")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert "standard deviation over folds" in done.stdout


def test_a_table_with_dates_has_no_such_program() -> None:
    dates = pd.date_range("2024-01-01", periods=N_ROWS, freq="h").astype(str)
    dataset = from_frame(TABLE.assign(day=dates, y=STRENGTH), "y")
    config = ALGORITHMS["decision_tree"].space("regression").default()

    assert plain_code(dataset, "decision_tree", config, metric="neg_rmse", n_folds=5) is None


def test_an_algorithm_that_is_ours_alone_has_no_such_program() -> None:
    dataset = from_frame(TABLE.assign(y=STRENGTH), "y")
    config = ALGORITHMS["svm"].space("regression").default()

    assert plain_code(dataset, "svm", config, metric="neg_rmse", n_folds=5) is None
