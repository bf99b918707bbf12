"""What is said of a model from a file that cannot predict."""

from collections.abc import Iterator
from contextlib import contextmanager

from metaml.errors import BadModel, MetamlError


@contextmanager
def refusing(is_from_file: bool) -> Iterator[None]:
    """Turn any error of a model from a file into `BadModel`; the error of a model that was just fitted stays itself."""
    try:
        yield
    except MetamlError:
        raise
    except Exception as error:
        if not is_from_file:
            raise
        said = f"{type(error).__name__}: {error}".split("\n")[0][:200]
        raise BadModel(
            f"The model cannot predict these rows ({said}). Its file was changed, or is of another version."
        ) from None
