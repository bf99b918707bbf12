"""Small files for the tests of reading."""

import io
import zipfile
from pathlib import Path

ROWS = [("1.5", "red", "p"), ("2.5", "dark; blue, x|y", "q"), ("3", "red", "p"), ("", "NA", "q")] * 2


def written(path: Path, content: str | bytes) -> Path:
    """Return the path of a file with this content."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def delimited(delimiter: str) -> str:
    """Return a small table with this delimiter."""
    quoted = ((number, f'"{word}"', label) for number, word, label in ROWS)
    return "\n".join(delimiter.join(row) for row in [("a", "b", "y"), *quoted]) + "\n"


def zipped(content: bytes, *names: str) -> bytes:
    """Return an archive of files with the same content."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, content)
    return buffer.getvalue()
