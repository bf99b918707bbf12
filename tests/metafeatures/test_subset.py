import numpy as np

from metaml.metafeatures.discretise import discretise
from metaml.metafeatures.subset import columns_worth_keeping
from metaml.metafeatures.view import View


def test_a_clean_threshold_gives_two_intervals_and_noise_gives_one():
    rng = np.random.default_rng(0)
    x = np.arange(400) / 400
    numbers = np.column_stack([x, rng.random(400)])

    codes = discretise(numbers, (x >= 0.5).astype(int), n_classes=2)

    assert np.unique(codes[:, 0]).size == 2
    assert np.unique(codes[:, 1]).size == 1


def test_missing_numbers_stay_missing():
    numbers = np.array([[1.0, np.nan], [2.0, np.nan], [np.nan, np.nan]])

    codes = discretise(numbers, np.array([0, 1, 1]), n_classes=2)

    assert codes[2, 0] == -1
    assert (codes[:, 1] == -1).all()


def test_selection_keeps_the_telling_columns_and_drops_copies_and_noise():
    rng = np.random.default_rng(0)
    a, b, noise = rng.random(600), rng.integers(0, 2, 600), rng.random(600)
    y = ((a > 0.5).astype(int) + b) // 2
    view = View(numbers=np.column_stack([a, 2 * a, noise]), codes=b[:, None], y=y, n_classes=2, task="binary")

    numbers, codes = columns_worth_keeping(view)

    assert numbers.tolist() in ([0], [1])
    assert codes.tolist() == [0]


def test_selection_may_be_empty():
    rng = np.random.default_rng(0)
    view = View(
        numbers=rng.random((200, 3)),
        codes=np.zeros((200, 0), dtype=int),
        y=rng.integers(0, 2, 200),
        n_classes=2,
        task="binary",
    )

    numbers, codes = columns_worth_keeping(view)

    assert (numbers.size, codes.size) == (0, 0)
