"""A disk that is full wherever a new knowledge base is made: a sentence, and nothing is left behind."""

import json
import shutil
import subprocess
import sys

import pytest

from metaml_kb.exchange import export

UNSHARE = ["unshare", "--user", "--map-root-user", "--mount"]
PROGRAM = """
import json, subprocess, sys
from pathlib import Path
from metaml_kb.errors import StorageFull
from metaml_kb.exchange import create_from

place, source = map(Path, sys.argv[1:])
subprocess.run(["mount", "-t", "tmpfs", "tmpfs", place], check=True)
outcomes = []
for kilobytes in (100, 400, 700, 900, 1100, 1600):
    subprocess.run(["mount", "-o", f"remount,size={kilobytes}k", place], check=True)
    try:
        create_from(place / "kb.db", source)
        outcome = "made"
    except StorageFull as error:
        outcome = str(error)
    except Exception as error:
        outcome = repr(error)
    outcomes.append([outcome, [path.name for path in place.iterdir()]])
    for path in place.iterdir():
        path.unlink()
print(json.dumps(outcomes))
"""


def can_mount() -> bool:
    if shutil.which("unshare") is None:
        return False
    return (
        subprocess.run([*UNSHARE, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True, check=False).returncode
        == 0
    )


@pytest.mark.skipif(not can_mount(), reason="small file systems cannot be made here")
def test_a_full_disk_is_told_wherever_a_new_knowledge_base_is_made(kb, run_of, tmp_path):
    kb.add_runs(run_of(n) for n in range(3000))
    export(kb, tmp_path / "start.metaml")
    (tmp_path / "small").mkdir()

    command = [*UNSHARE, sys.executable, "-c", PROGRAM, tmp_path / "small", tmp_path / "start.metaml"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    *others, (last, files) = json.loads(done.stdout)
    made = tmp_path / "small" / "kb.db"
    told = f"{made} cannot grow: the disk is full. Nothing was changed; free some space and repeat."
    assert others == [[told, []]] * 5
    assert (last, files) == ("made", ["kb.db"])
