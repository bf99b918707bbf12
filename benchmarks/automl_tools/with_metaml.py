"""metaml by its command line: `tune`, then `predict`; the rest of the command line goes to `tune`.

Its knowledge base is a copy of the one that `automl.py prepare` makes: the starter, with lessons that were learnt
without any of the data sets of the comparison.
"""

import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

from chosen_data import ALL
from contract import Fitted, Job, deliver

EXPERIENCE = "experience.db"
METAML = str(Path(sys.executable).parent / "metaml")


def tune_command(job: Job, extra: list[str]) -> list[str]:
    """Return what a person would type; the data set itself is no experience where metaml can be told so."""
    words = [METAML, "tune", str(job.train_file), "--target", job.target, "--task", job.task, "--seed", str(job.seed)]
    words += ["--time-budget", f"{job.budget:g}s", "--workers", str(job.threads), "--output", f"{job.folder}/found"]
    if "--no-kb" not in extra:
        base = Path(job.folder).parent / EXPERIENCE
        shutil.copy(base, f"{job.folder}/fresh.db")
        shutil.copytree(f"{base}.lessons", f"{job.folder}/fresh.db.lessons")
        words += ["--kb", f"{job.folder}/fresh.db"]
        for name in ALL:
            words += ["--exclude-dataset", name]
    return [*words, *extra]


def main() -> None:
    job = Job.read(sys.argv[1])
    command = tune_command(job, sys.argv[2:])
    begun = time.time()
    subprocess.run(command, check=True)
    ready = time.time()

    from importlib.metadata import version

    from metaml.model import load

    model = load(f"{job.folder}/found")
    labels = None if model.labels is None else [str(label) for label in model.labels.tolist()]
    answer = model.predict if labels is None else model.predict_proba
    members = [f"{member.weight:.2f} {member.algorithm}" for member in model.members]
    typed = " ".join(command[1:]).replace(job.folder, "RUN").replace(job.data, "DATA")
    details = {"version": version("metaml"), "best": ", ".join(members), "command": typed}
    # Its clock starts with its own process, not with this one that types the command.
    deliver(replace(job, started=begun), Fitted(labels, answer, begun, details=details), ready)
    words = [METAML, "predict", f"{job.folder}/found", str(job.test_file), "-o", f"{job.folder}/predictions.csv"]
    subprocess.run(words if labels is None else [*words, "--proba"], check=True)


if __name__ == "__main__":
    main()
