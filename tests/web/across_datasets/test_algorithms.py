"""How algorithms compare over data sets, from equally many runs of each."""

import pandas as pd
import pytest

from metaml.insight import expected_best
from metaml.web.across_datasets.algorithms import best_scores, common, datasets_for
from tests.report.reading import sections, words
from tests.web.asking import page_at
from tests.web.samples import ALGORITHMS, N_DATASETS


def test_ranks_and_wins_are_those_of_the_scores(catalogue):
    page = page_at(catalogue, "/algorithms", metric="accuracy")

    ranked = [row for row in page.sheets["algorithms"].rows if row["rank"] is not None]
    assert sections(page.content) == {"ranks", "all", "wins"}
    assert [row["algorithm"] for row in ranked] == list(reversed(ALGORITHMS))
    assert sum(row["wins"] for row in ranked) <= 8
    assert page.sheets["wins_by_task"].rows[0]["binary"] > 0
    assert "cannot be told apart" in words(page.content)


def test_more_runs_are_no_advantage(in_file):
    in_file.catch_up()
    names = {name: number for number, name in in_file.algorithms().items()}

    table = best_scores(in_file, "accuracy")

    scores = in_file.digest.first[2, "accuracy", names["svm"]]
    assert len(scores) == 9
    assert table.loc[2, "svm"] == pytest.approx(expected_best(scores, 5))


def test_only_what_all_have_is_compared():
    table = pd.DataFrame({"a": [1.0] * 10, "b": [2.0] * 9 + [None], "rare": [1.0] + [None] * 9})

    assert list(common(table).columns) == ["a", "b"]
    assert len(common(table)) == 9
    assert common(table.iloc[:3]).empty


def test_the_data_sets_to_look_at_have_few_runs_in_all(in_file):
    in_file.catch_up()
    number = next(key for key, name in in_file.algorithms().items() if name == "svm")

    assert len(datasets_for(in_file, number, 1000)) == N_DATASETS
    assert len(datasets_for(in_file, number, 30)) == 2
