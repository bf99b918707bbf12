"""The archive of a model file: what is read of it is bounded before it is read."""

import io
import zipfile

import pytest

from metaml.model.archive import _part


def test_a_part_is_read_no_further_than_allowed():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("arrays.bin", bytes(1000))

    with zipfile.ZipFile(buffer) as archive:
        assert _part(archive, "arrays.bin", 1000) == bytes(1000)
        with pytest.raises(ValueError, match="unlikely size"):
            _part(archive, "arrays.bin", 999)
