import json

from metaml.evaluation.environment import environment, library_versions
from metaml.evaluation.reference import workload


def test_environment_is_plain_json_and_measures_once_even_if_the_cache_was_broken(tmp_path):
    cache = tmp_path / "cache.json"
    cache.write_text("[1, 2")

    first = environment(cache)
    second = environment(cache)

    assert json.loads(json.dumps(first)) == second
    assert first["reference_seconds"] > 0
    assert len(json.loads(cache.read_text())) == 1
    assert set(first) == {"host", "platform", "cpu", "n_cpus", "python", "libraries", "reference_seconds"}


def test_a_cache_that_cannot_be_written_does_no_harm(tmp_path):
    (tmp_path / "file").touch()

    facts = environment(tmp_path / "file" / "cache.json")

    assert facts["reference_seconds"] > 0


def test_versions_are_those_installed():
    import numpy

    assert library_versions()["numpy"] == numpy.__version__


def test_reference_workload_is_always_the_same():
    assert workload() == workload()
