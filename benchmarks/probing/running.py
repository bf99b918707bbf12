"""Run a command as a user would, and say what is wrong with how it ended."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

METAML = (sys.executable, "-m", "metaml_cli")
MEGABYTES = 4_000
SAID = 200


@dataclass(frozen=True)
class End:
    """How a process ended; `code` is negative after a signal, None if it was killed for being late."""

    code: int | None
    out: str
    err: str
    seconds: float
    megabytes: float

    def faults(self, expected: Sequence[int], *, megabytes: float = MEGABYTES) -> list[str]:
        """Return what no user should see."""
        text = self.out + self.err
        found = []
        if self.code is None:
            found.append("late")
        elif self.code < 0 or self.code in (134, 135, 136, 139):
            found.append(f"native death ({self.code})")
        elif self.code not in expected:
            found.append(f"exit {self.code} instead of {' or '.join(map(str, expected))}")
        found += ["traceback"] if "Traceback (most recent call last)" in text else []
        found += ["internal error"] if "internal error" in text else []
        found += ["no sentence"] if self.code not in (0, None) and not self.err.strip() else []
        found += [f"{self.megabytes:.0f} MB"] if self.megabytes > megabytes else []
        return found

    @property
    def said(self) -> str:
        """Return the last line of what it said about a problem."""
        lines = [line for line in self.err.strip().splitlines() if line.strip()]
        return lines[-1][:SAID] if lines else ""


@dataclass(frozen=True)
class Probe:
    """One probe: what was done, how it ended, and what was wrong with that."""

    section: str
    name: str
    code: int | None = None
    seconds: float = 0.0
    megabytes: float = 0.0
    said: str = ""
    faults: list[str] = field(default_factory=list)


def probe_of(section: str, name: str, end: End, faults: Sequence[str]) -> Probe:
    """Return the probe that a process was."""
    return Probe(section, name, end.code, round(end.seconds, 2), round(end.megabytes), end.said, list(faults))


def environment(folder: Path, **more: str) -> dict[str, str]:
    """Return the variables of a user whose home is a folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("METAML")}
    paths = [path for path in sys.path if path and Path(path).is_dir()]
    return {**kept, "HOME": str(folder), "METAML_STARTER": "no", "PYTHONPATH": os.pathsep.join(paths), **more}


def run(
    words: Sequence[str],
    folder: Path,
    *,
    seconds: float = 120.0,
    variables: Mapping[str, str | None] | None = None,
    during: Callable[[subprocess.Popen[bytes]], None] | None = None,
) -> End:
    """Run `metaml` with these words in a folder. `during` is called while it runs; a variable that is None is unset."""
    changed = {**environment(folder), **(variables or {})}
    begun = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            [*METAML, *words],
            cwd=folder,
            env={name: value for name, value in changed.items() if value is not None},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        is_late = threading.Event()
        timer = threading.Timer(seconds, lambda: (is_late.set(), kill_all(process)))
        timer.start()
        try:
            if during is not None:
                during(process)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        finally:
            timer.cancel()
            kill_all(process)
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read(10**6).decode("utf-8", "replace"))
    code = None if is_late.is_set() else process.returncode
    return End(code, texts[0], texts[1], time.monotonic() - begun, usage.ru_maxrss / 1000)


def kill_all(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and all that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


class Results:
    """A file of probes, one per line, so that a run can go on where it was interrupted."""

    def __init__(self, path: Path) -> None:
        self.path = path
        lines = path.read_text().splitlines() if path.exists() else []
        self.probes = [Probe(**json.loads(line)) for line in lines]

    def add(self, probe: Probe) -> None:
        """Append a probe and print it if something was wrong."""
        self.probes.append(probe)
        with self.path.open("a") as file:
            file.write(json.dumps(asdict(probe)) + "\n")
        mark = "; ".join(probe.faults) if probe.faults else "as expected"
        print(f"{probe.section:8} {probe.name:38} {probe.code!s:>5} {probe.seconds:6.1f} s  {mark}  {probe.said[:90]}")
        sys.stdout.flush()

    def missing(self, section: str, names: Sequence[str]) -> Iterator[str]:
        """Yield the names of a section that were not probed yet."""
        done = {probe.name for probe in self.probes if probe.section == section}
        yield from (name for name in names if name not in done)

    def table(self) -> str:
        """Return a table of the sections."""
        lines = [
            "| section | probes | as expected | tracebacks | native deaths | late | lost | other | most MB |",
            "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
        ]
        kinds = ("traceback", "native", "late", "lost")
        for section in dict.fromkeys(probe.section for probe in self.probes):
            probes = [probe for probe in self.probes if probe.section == section]
            faults = [fault for probe in probes for fault in probe.faults]
            counts = [sum(fault.startswith(kind) for fault in faults) for kind in kinds]
            n_good = sum(not probe.faults for probe in probes)
            most = max(probe.megabytes for probe in probes)
            cells = [section, len(probes), n_good, *counts, len(faults) - sum(counts), f"{most:.0f}"]
            lines.append("| " + " | ".join(map(str, cells)) + " |")
        return "\n".join(lines)
