"""Search on hostile files: a model or a sentence, in the time that was given and with bounded memory."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from probing.hostile import DEVICES, OTHERS, TEXT
from probing.running import Probe, Results, probe_of, run

SECTION = "files"
SECONDS = 4
MEGABYTES = 3_000


def probes(results: Results, folder: Path) -> Iterator[Probe]:
    made = {name: (write, codes) for name, write, codes in [*TEXT, *OTHERS]}
    devices = dict(DEVICES)
    for name in results.missing(SECTION, [*made, *devices]):
        with tempfile.TemporaryDirectory(dir=folder) as place:
            path, expected = name, devices.get(name, ())
            if name in made:
                write, expected = made[name]
                path = str(Path(place) / name)
                write(Path(path))
            words = ["tune", path, "--time-budget", f"{SECONDS}s", "--algorithms", "decision_tree,elastic_net"]
            end = run([*words, "--no-kb", "--limit-memory", "1500"], Path(place), seconds=300.0)
            faults = end.faults(expected, megabytes=MEGABYTES)
            has_model = (Path(place) / "metaml-output" / "model.zip").exists()
            faults += ["lost: no model"] if end.code == 0 and not has_model else []
            shown = end.out + end.err
            faults += ["control characters in the terminal"] if any(c in shown for c in "\x1b\x07\u202e") else []
        yield probe_of(SECTION, name, end, faults)
