"""A model file is data: nothing in it runs, and one that was changed is refused in a sentence."""

import hashlib
import io
import json
import pickle
import tracemalloc
import zipfile

import numpy as np
import pytest

from metaml.errors import BadModel
from metaml.model import load
from metaml.model.trusted import TRUSTED
from metaml.system import trial_process


def sealed(files):
    """The bytes of a file as an attacker would write it who knows the format, seal included."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
        archive.comment = bytes(64)
    unsealed = buffer.getvalue()[:-64]
    return unsealed + hashlib.sha256(unsealed).hexdigest().encode()


def contents(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewritten(path, change):
    """Change the structure of the first estimator, and seal the file again."""
    files = contents(path)
    parts = json.loads(files["estimators.json"])
    change(parts)
    files["estimators.json"] = json.dumps(parts)
    path.write_bytes(sealed(files))
    return path


@pytest.fixture
def path(make_model, tmp_path):
    return make_model("binary", ["random_forest"]).save(tmp_path / "model.zip")


def refusal(path):
    with pytest.raises(BadModel) as caught:
        load(path)
    said = str(caught.value)
    assert "\n" not in said
    assert said.endswith((".", "version."))
    return said


@pytest.mark.parametrize("where", [0.1, 0.3, 0.5, 0.7, 0.9, 0.999])
def test_a_changed_byte_is_noticed(path, where):
    content = bytearray(path.read_bytes())
    content[int(where * len(content))] ^= 1
    path.write_bytes(content)

    assert path.name in refusal(path)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99])
def test_a_file_cut_short_is_refused(path, share):
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])

    assert path.name in refusal(path)


def test_changed_numbers_are_noticed_even_in_an_intact_zip(path):
    files = contents(path)
    numbers = bytearray(files["arrays.bin"])
    numbers[1000] ^= 1
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in (files | {"arrays.bin": bytes(numbers)}).items():
            archive.writestr(name, content)

    assert "was changed after it was saved" in refusal(path)


def test_files_that_are_not_models_are_refused_with_the_reason(tmp_path):
    foreign = tmp_path / "foreign.zip"
    with zipfile.ZipFile(foreign, "w") as archive:
        archive.writestr("readme.txt", "hello")
    (tmp_path / "table.csv").write_text("a,b\n1,2\n")

    assert "but no metaml model" in refusal(foreign)
    assert "is no metaml model" in refusal(tmp_path / "table.csv")
    assert "There is no model at" in refusal(tmp_path / "missing.zip")
    assert "There is no model at" in refusal(tmp_path)


def test_a_newer_format_is_named(path):
    files = contents(path)
    about = json.loads(files["model.json"]) | {"version": 99}
    path.write_bytes(sealed(files | {"model.json": json.dumps(about)}))

    assert "has model format 99, this metaml reads 1" in refusal(path)


class Trap:
    """An object whose unpickling leaves a trace."""

    def __init__(self, trace):
        self.trace = trace

    def __reduce__(self):
        return open, (str(self.trace), "w")


def test_a_pickle_in_place_of_a_model_does_not_run(tmp_path, path):
    trace = tmp_path / "trace"
    bomb = pickle.dumps(Trap(trace))
    (tmp_path / "bomb.zip").write_bytes(bomb)
    hidden = tmp_path / "hidden.zip"
    hidden.write_bytes(sealed(contents(path) | {"arrays.bin": bomb, "estimators.json": bomb}))

    refusal(tmp_path / "bomb.zip")
    refusal(hidden)

    assert not trace.exists()


@pytest.mark.parametrize(
    "evil",
    [
        {"object": "os.system", "state": {"command": "touch TRACE"}},
        {"object": "builtins:eval", "state": {"source": "open('TRACE', 'w')"}},
        {"object": "subprocess.Popen", "state": {"args": ["touch", "TRACE"]}},
        {"object": "functools.partial", "state": {"func": "os.system", "args": ["touch TRACE"]}},
        {"object": "check_array", "state": {"func": "os.system", "array": "touch TRACE"}},
        {"object": "LightGBMBooster", "state": {"model_file": "TRACE"}},
        {"object": "XGBoostBooster", "state": {"model_file": "TRACE"}},
        {"reduce": ["os.system", "touch TRACE"]},
        {"type": "os.system"},
        {"array": 10**9},
        {"array": -1.5},
        {"object": ["Tree"], "state": {}},
        {"object": "Tree", "state": []},
        {"tuple": 3},
        {"dict": [[{"dict": []}, 1]]},
        {},
    ],
    ids=str,
)
def test_a_sealed_file_with_foreign_content_is_refused_and_runs_nothing(path, evil, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())

    rewritten(path, lambda parts: parts["members"].__setitem__(0, [evil]))

    refusal(path)
    assert sorted(tmp_path.iterdir()) == before


def test_a_tree_that_points_outside_itself_is_refused(path):
    content = bytearray(contents(path)["arrays.bin"])
    parts = json.loads(contents(path)["estimators.json"])
    nodes = next(entry for entry in parts["arrays"] if isinstance(entry["dtype"], dict))
    content[nodes["start"] : nodes["start"] + 8] = np.int64(10**6).tobytes()
    path.write_bytes(sealed(contents(path) | {"arrays.bin": bytes(content)}))

    assert "a tree points outside itself" in refusal(path)


def test_a_boosted_tree_that_asks_for_a_column_that_is_not_there_is_refused(make_model, tmp_path):
    model = make_model("binary", ["gradient_boosting"])
    model.members[0].estimators[0].model_.model_._predictors[0][0].nodes["feature_idx"] = 1000

    assert "a tree asks for columns that are not there" in refusal(model.save(tmp_path))


@pytest.mark.parametrize(
    "change",
    [
        {"members": []},
        {"schema": {"features": []}},
        {"n_rows": "many"},
        {"n_rows": 1e999},
        {"multipliers": ["a"]},
        {"members": [{"algorithm": "x"}]},
    ],
    ids=str,
)
def test_a_description_that_does_not_fit_is_refused(path, change):
    files = contents(path)
    about = json.loads(files["model.json"]) | change
    path.write_bytes(sealed(files | {"model.json": json.dumps(about)}))

    assert "does not fit together" in refusal(path)


def test_trusted_names_lead_to_the_classes_they_promise():
    for name, recipe in TRUSTED.items():
        if not recipe.place.startswith("catboost"):
            assert isinstance(recipe.type, type), name


def test_a_bomb_is_not_unpacked(path):
    files = contents(path)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("model.json", "estimators.json"):
            archive.writestr(name, files[name])
        with archive.open("arrays.bin", "w") as part:
            for _ in range(400):
                part.write(bytes(1_000_000))
        archive.comment = bytes(64)
    unsealed = buffer.getvalue()[:-64]
    path.write_bytes(unsealed + hashlib.sha256(unsealed).hexdigest().encode())
    tracemalloc.start()

    refusal(path)

    assert tracemalloc.get_traced_memory()[1] < 250_000_000
    tracemalloc.stop()


def test_an_array_that_is_referred_to_again_and_again_is_refused(path):
    def repeat(parts):
        parts["members"][0] = [{"tuple": [{"array": 0}] * 2_000_000}]

    assert "larger than the file" in refusal(rewritten(path, repeat))


def test_a_model_that_cannot_be_tried_is_not_called_unfit(make_model, tmp_path, monkeypatch):
    pytest.importorskip("catboost")
    path = make_model(names=["catboost"]).save(tmp_path / "model.zip")
    monkeypatch.setattr(trial_process, "_PROGRAM", "raise SystemExit")

    assert "the process that tries models did not start. Try again when this machine is less busy." in refusal(path)
