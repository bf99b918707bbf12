import dataclasses
import resource
import signal
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

from metaml.errors import BadRequest
from metaml.evaluation.dataset_store import KEPT_DATASETS, DatasetStore


def test_a_data_set_comes_back_as_it_was(tmp_path, three_classes):
    DatasetStore(tmp_path).put(three_classes)

    found = DatasetStore(tmp_path).get(three_classes.fingerprint)

    pd.testing.assert_frame_equal(found.X, three_classes.X)
    assert (found.y == three_classes.y).all()
    assert found.labels.tolist() == three_classes.labels.tolist()


def test_only_the_data_sets_used_last_stay_in_memory(tmp_path, numbers):
    store = DatasetStore(tmp_path)
    names = [f"{number:032x}" for number in range(KEPT_DATASETS + 1)]
    for name in names:
        store.put(dataclasses.replace(numbers, fingerprint=name))
    first = store.get(names[0])

    again = store.get(names[0])
    for name in names[1:]:
        store.get(name)

    assert again is first
    assert store.get(names[0]) is not first
    assert np.array_equal(store.get(names[0]).y, first.y)


def test_a_missing_data_set_is_named(tmp_path):
    with pytest.raises(BadRequest, match="no data set abc"):
        DatasetStore(tmp_path).get("abc")


def test_a_full_disk_is_told_in_a_sentence_and_nothing_half_written_is_left(tmp_path, numbers):
    store = DatasetStore(tmp_path)

    with limited_files(1000), pytest.raises(BadRequest, match=r"no space for the data set.*TMPDIR"):
        store.put(numbers)

    assert list(tmp_path.iterdir()) == []


@contextmanager
def limited_files(size):
    """Let no file of this process grow beyond so many bytes, as on a disk that is nearly full."""
    before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
