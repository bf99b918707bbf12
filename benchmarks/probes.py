"""What happens when things go wrong? Hostile files, SQL, models and imports; broken knowledge bases; full disks; kills.

python benchmarks/probes.py                               all sections; goes on where it was interrupted
python benchmarks/probes.py --sections files,sql          some of them
python benchmarks/probes.py --minutes 7                   no probe begins after so many minutes
python benchmarks/probes.py --results probes.jsonl --table

Each probe runs `metaml` as a user would. It should end in time, with the exit code that docs/commands.md promises,
without a traceback, a native death or a silent loss.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parent.parent))

from probing import disk, files, imports, kb, kill, models, sql
from probing.running import Results

SECTIONS = {"files": files, "sql": sql, "models": models, "imports": imports, "kb": kb, "disk": disk, "kill": kill}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sections", default=",".join(SECTIONS))
    parser.add_argument("--results", type=Path, default=Path(tempfile.gettempdir()) / "metaml-probes.jsonl")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no probe after so many minutes")
    parser.add_argument("--table", action="store_true", help="only print the table of the results so far")
    options = parser.parse_args()
    results = Results(options.results)
    until = time.monotonic() + 60 * options.minutes
    for section in [] if options.table else options.sections.split(","):
        with tempfile.TemporaryDirectory(prefix=f"probe-{section}-") as folder:
            for probe in SECTIONS[section].probes(results, Path(folder)):
                results.add(probe)
                if time.monotonic() > until:
                    break
    print(results.table())
    return int(any(probe.faults for probe in results.probes))


if __name__ == "__main__":
    sys.exit(main())
