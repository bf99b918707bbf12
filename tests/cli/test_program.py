"""The program around the commands: Ctrl-C at any moment."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from metaml_cli import kb
from metaml_cli.main import app

INTERRUPTED = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nimport time\ntime.sleep(5)\n"


@pytest.mark.parametrize("start", ["import runpy; runpy.run_module('metaml_cli', run_name='__main__')", "script"])
def test_ctrl_c_while_libraries_are_imported_shows_no_traceback(tmp_path: Path, start: str) -> None:
    (tmp_path / "typer.py").write_text(INTERRUPTED)
    program = start if start != "script" else "from metaml_cli.__main__ import main; main()"
    # As in a terminal, also where these tests are a background job, which ignores Ctrl-C.
    terminal = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"

    done = subprocess.run(
        [sys.executable, "-c", f"{terminal}; import sys; sys.path.insert(0, {str(tmp_path)!r}); {program}"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.stderr == ""
    assert done.returncode == -signal.SIGINT


def test_ctrl_c_that_a_library_turned_into_an_import_error_is_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    def importing(*_: object, **__: object) -> None:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:
            raise ImportError("numpy.core.multiarray failed to import") from error

    monkeypatch.setattr(kb, "opened", importing)
    result = CliRunner().invoke(app, ["kb", "info"])

    assert "internal error" not in result.stderr
    assert isinstance(result.exception, SystemExit | KeyboardInterrupt | typer.Abort)
