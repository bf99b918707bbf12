import shutil

import pytest

from metaml.errors import BadRequest
from metaml.report import raster
from metaml.report.insight_charts import ErrorBar, error_bars
from metaml.report.raster import PROGRAMS, png_of


@pytest.mark.skipif(not any(map(shutil.which, PROGRAMS)), reason="needs a program that draws SVG")
def test_a_picture_becomes_a_png():
    content = png_of(error_bars([ErrorBar("a", 1.0)], title="T", x_label="x"), 720, 116)

    assert content.startswith(b"\x89PNG")


def test_without_a_program_the_user_is_told_what_to_install(monkeypatch):
    monkeypatch.setattr(raster.shutil, "which", lambda _: None)

    with pytest.raises(BadRequest, match=r"write a file that ends in \.svg"):
        png_of("<svg/>", 10, 10)
