import pandas as pd
import pytest

from metaml.system import cores


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """Return a function that makes this a machine of so many cores, in a container with a quota if one is given."""

    def make(n, quota="max 100000"):
        monkeypatch.setattr(cores.os, "sched_getaffinity", lambda _: set(range(n)), raising=False)
        monkeypatch.setattr(cores, "QUOTA", tmp_path / "cpu.max")
        monkeypatch.setattr(cores, "MEGABYTES_PER_WORKER", 1)
        (tmp_path / "cpu.max").write_text(quota)

    return make


def test_a_small_table_gets_a_worker_for_each_of_16_cores(machine):
    machine(16)

    threads = cores.default_threads(None, 10_000)

    assert (cores.default_workers(None, threads), threads) == (16, 1)


def test_a_large_table_gets_all_16_cores_in_four_workers(machine):
    machine(16)

    threads = cores.default_threads(None, 50_000_000)

    assert (cores.default_workers(None, threads), threads) == (4, 4)


def test_a_large_table_on_two_cores_gets_two_workers(machine):
    machine(2)

    threads = cores.default_threads(None, 50_000_000)

    assert (cores.default_workers(None, threads), threads) == (2, 1)


def test_a_container_with_a_quota_of_three_cores_gets_three_workers(machine):
    machine(64, quota="300000 100000")

    assert cores.default_workers(None) == 3


def test_a_machine_without_a_quota_file_uses_the_cores_it_may(machine, monkeypatch, tmp_path):
    machine(6)
    monkeypatch.setattr(cores, "QUOTA", tmp_path / "none")

    assert cores.default_workers(None) == 6


def test_no_more_workers_are_started_than_the_memory_has_room_for(machine, monkeypatch):
    machine(64)
    monkeypatch.setattr(cores, "MEGABYTES_PER_WORKER", 10**9)

    assert cores.default_workers(None) == 1


def test_counted_iterations_run_one_at_a_time_in_one_thread(machine):
    machine(16)

    assert (cores.default_workers(10), cores.default_threads(10, 50_000_000)) == (1, 1)


def test_a_packed_file_holds_more_cells_than_a_plain_one_of_its_size(tmp_path):
    plain, packed = tmp_path / "a.csv", tmp_path / "a.csv.gz"
    for file in (plain, packed):
        file.write_bytes(bytes(600))

    assert (cores.cells_of(plain), cores.cells_of(packed)) == (100.0, 400.0)


def test_the_cells_of_a_frame_are_counted():
    assert cores.cells_of(pd.DataFrame({"a": [1, 2], "b": [3, 4]})) == 4.0
