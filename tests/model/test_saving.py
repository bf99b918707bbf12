"""What a model file keeps beside the members: calibration, in a format that older readers refuse."""

import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from metaml.ensemble.calibration import Calibration
from metaml.errors import BadModel
from metaml.model import load
from metaml.model.archive import read_archive, write_archive


def version_of(path):
    return json.loads(zipfile.ZipFile(path).read("model.json"))["version"]


def test_a_calibrated_model_predicts_the_same_after_saving(make_model, make_table, tmp_path):
    plain = make_model("multiclass")
    model = replace(plain, calibration=Calibration("platt", 0.5, (0.2, 0.0, -0.2)))

    again = load(model.save(tmp_path))

    rows = make_table("multiclass")
    assert np.array_equal(again.predict_proba(rows), model.predict_proba(rows))
    assert not np.allclose(again.predict_proba(rows), plain.predict_proba(rows))


def test_only_a_calibrated_model_needs_a_newer_reader(make_model, tmp_path):
    model = make_model()

    assert version_of(model.save(tmp_path / "plain.zip")) == 1
    assert version_of(replace(model, calibration=Calibration("temperature", 0.5)).save(tmp_path / "new.zip")) == 3


def test_a_file_without_a_calibration_loads_as_before(make_model, make_table, tmp_path):
    model = make_model()
    about, parts, content = read_archive(model.save(tmp_path))
    old = {key: value for key, value in about.items() if key != "calibration"}

    write_archive(tmp_path / "old.zip", old, parts, content)

    assert np.array_equal(load(tmp_path / "old.zip").predict(make_table()), model.predict(make_table()))


@pytest.mark.parametrize(
    "calibration", [{"method": "magic"}, {"method": "platt", "slope": 1, "offsets": [1] * 9, "knots": []}, [], "x"]
)
def test_a_calibration_that_does_not_fit_is_a_sentence(make_model, tmp_path, calibration):
    about, parts, content = read_archive(make_model().save(tmp_path))

    write_archive(tmp_path / "wrong.zip", {**about, "calibration": calibration}, parts, content)

    with pytest.raises(BadModel, match="does not fit together"):
        load(tmp_path / "wrong.zip")
