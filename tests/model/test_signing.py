"""Signed models: the key tells whether a file comes from somebody who has it."""

from pathlib import Path

import pytest

from metaml.errors import BadModel, BadRequest
from metaml.model import load
from metaml.model.signing import read_key, sign, signature_path
from tests.model.conftest import model_of

KEY, OTHER = b"0123456789abcdef", b"fedcba9876543210"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    saved: Path = model_of().save(tmp_path / "model.zip")
    return saved


def test_a_signed_model_is_loaded_with_its_key(path: Path) -> None:
    sign(path, KEY)

    assert load(path, key=KEY).task == "binary"


def test_another_key_is_refused(path: Path) -> None:
    sign(path, OTHER)

    with pytest.raises(BadModel, match="was not signed with this key"):
        load(path, key=KEY)


def test_a_model_without_a_signature_is_refused_only_if_one_is_asked_for(path: Path) -> None:
    assert load(path).task == "binary"
    with pytest.raises(BadModel, match="is not signed"):
        load(path, key=KEY)


def test_a_resealed_model_loses_its_signature(path: Path) -> None:
    sign(path, KEY)
    model_of("multiclass").save(path)

    assert signature_path(path).exists()
    with pytest.raises(BadModel, match="was changed afterwards"):
        load(path, key=KEY)


@pytest.mark.parametrize(("content", "said"), [(None, "cannot be read"), (b"short\n", "has 5 bytes")])
def test_a_key_that_is_none_is_refused(tmp_path: Path, content: bytes | None, said: str) -> None:
    if content is not None:
        (tmp_path / "key").write_bytes(content)

    with pytest.raises(BadRequest, match=said):
        read_key(tmp_path / "key")
