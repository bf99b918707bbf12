"""Settings against score: which are drawn, on which scale, in which order."""

from dataclasses import replace

import pytest

from metaml.web.hyperparameters import hyperparameters, varying_hyperparameters, window_of
from metaml_kb.browsing.listing import ListedRun
from tests.report.reading import words

BASE = ListedRun(1, "k" * 32, "d", "f", "binary", "svm", {}, "ok", "random", {}, 1.0, None, None, None)


@pytest.fixture
def runs():
    return [
        replace(
            BASE,
            config={"rate": 10.0 ** -(n % 5), "noise": (n * 7) % 5, "mode": "ab"[n % 2], "same": 1, "word": f"w{n}",
                    **({"rare": n} if n < 4 else {})},
            scores={"accuracy": 0.5 + 0.05 * (n % 5)},
        )
        for n in range(20)
    ]  # fmt: skip


def test_what_goes_with_the_score_comes_first_and_what_never_varies_is_left_out(runs):
    found = {item.name: item for item in varying_hyperparameters(runs, "accuracy")}

    assert next(iter(found)) == "rate"
    assert found["rate"].scale.is_log
    assert not found["noise"].scale.is_log
    assert list(found["mode"].scale.levels) == ["a", "b"]
    assert found["rare"].values[4:] == [None] * 16
    assert not {"same", "word"} & set(found)


def test_pictures_are_drawn_and_few_runs_are_said_to_be_too_few(runs):
    page = hyperparameters(runs, "accuracy", "svm")

    assert "20 complete runs of svm" in words(page)
    assert page.count('class="run shade-') == 20
    assert "too few" in words(hyperparameters(runs[:2], "accuracy", "svm"))


def test_the_worst_tenth_is_off_the_scale():
    low, high = window_of([0.0, *[0.9] * 10, 1.0], [0.0, *[0.9] * 10, 1.0])

    assert (round(low, 3), round(high, 3)) == (0.894, 1.006)
