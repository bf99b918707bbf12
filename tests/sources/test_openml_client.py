"""Calls of OpenML: retried while that may help, and an error is one sentence without the key."""

from collections.abc import Callable
from pathlib import Path

import pytest
from openml_content import N_ROWS
from openml_server import OpenMLServer

from metaml.errors import SourceError
from metaml.sources.base import Source
from metaml.sources.openml import RetryPolicy

Make = Callable[..., Source]


@pytest.mark.parametrize(
    ("task", "reason"),
    [
        (64, "task 64: its data set 64 is deactivated on OpenML"),
        (75, "task 75: it is evaluated by holdout"),
        (81, "task 81: it is of the type 'Clustering'"),
        (404, r"task 404: OpenML says 'Unknown task' \(number 151\)"),
    ],
)
def test_what_will_not_change_is_set_aside_at_once(
    task_source: Make, server: OpenMLServer, task: int, reason: str
) -> None:
    with pytest.raises(SourceError, match=reason):
        task_source(task).load()

    assert server.asked(f"/task/{task}$") == 1
    assert server.asked("download") == 0


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        *(("/data/v1/download/31/", kind) for kind in ("412", "500", "502", "504", "busy", "truncated", "cut", "hang")),
        *(
            (part, kind)
            for part in ("/task/31", "/data/31", "/data/features", "/api_splits/")
            for kind in ("500", "cut")
        ),
    ],
)
def test_a_passing_error_is_retried(task_source: Make, server: OpenMLServer, part: str, kind: str) -> None:
    server.fail(part, kind, times=2)

    loaded = task_source(31).load()

    assert loaded.dataset.X.shape == (N_ROWS, 4)
    assert server.asked(part) == 3


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("412", "OpenML answered with status 412"),
        ("500", "OpenML answered with status 500"),
        ("502", "OpenML answered with status 502"),
        ("504", "OpenML answered with status 504"),
        ("busy", "OpenML says 'Database connection error"),
        ("truncated", "the connection broke off"),
        ("cut", "the data file does not have the checksum that was announced"),
        ("hang", "OpenML did not answer in time"),
    ],
)
def test_a_lasting_error_sets_the_task_aside_with_its_reason(
    task_source: Make, server: OpenMLServer, cache: Path, kind: str, reason: str
) -> None:
    server.fail("download/31/", kind)

    with pytest.raises(SourceError, match=f"^task 31: {reason}.*, after 3 tries. Try again later.$"):
        task_source(31).load()

    assert not list(cache.rglob("*.arff"))


def test_a_server_that_is_not_there_is_named_as_such(task_source: Make) -> None:
    nobody = task_source(31, server="http://127.0.0.1:9/api/v1/xml", patience=RetryPolicy(1, 0.0, 0.5))

    with pytest.raises(SourceError, match="task 31: OpenML cannot be reached, after 1 tries"):
        nobody.load()
