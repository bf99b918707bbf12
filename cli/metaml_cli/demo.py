"""`metaml demo`: a tour of metaml on a real data set, in its own folder."""

import os
import shlex
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from metaml_cli.render import WIDTH

DATA, NEW, ANSWERS, PREDICTIONS = "tumours.csv", "new.csv", "answers.csv", "predictions.csv"
NAME, TARGET, RESULT, KB_FILE = "tumours", "diagnosis", "result", "kb.db"
HELD_OUT = 0.25
DESCRIBE_SECONDS = 5
QUERY = """SELECT algorithm, count(*) AS runs, max(value) AS best
    FROM result WHERE dataset = 'tumours' AND metric = 'roc_auc'
    GROUP BY algorithm ORDER BY best DESC"""
SHORT_KEY = 8


def demo(
    output: Annotated[Path, typer.Option(help="Folder for everything the tour makes.")] = Path("metaml-demo"),
    seconds: Annotated[
        int, typer.Option(min=1, help="Seconds for the search; the other steps take about half a minute.")
    ] = 45,
) -> None:
    """Take a tour of every step on a real data set.

    It takes about a minute.

    It needs no network. It writes everything into its folder, including its own knowledge base. Only the measured speed
    of this machine goes to your cache, as in every search.

    Example: metaml demo --output metaml-demo --seconds 45
    """
    started = time.monotonic()
    rows, new = write_data(output)
    tour = Tour(output)
    tour.tell(
        f"A tour of metaml: does a microscope image show whether a tumour is malignant? {DATA} has {rows} patients "
        f"of the University of Wisconsin (the data set comes with scikit-learn); {NEW} has {new} more without the "
        f"column {TARGET}. All files go to the folder {output}, with a knowledge base for this tour: your own is "
        "not touched. Each command below really runs; you can type it yourself."
    )
    tour.show(f"cd {shlex.quote(str(output))}")
    tour.show(f"export METAML_KB={KB_FILE}")
    tour.tell(
        "The knowledge base keeps every run. A new one starts with the runs that come with metaml, so "
        "even your first search uses experience."
    )
    tour.run("kb", "init")
    tour.tell(
        "What kind of data set is this? Here are some of its metafeatures. By these, metaml finds similar data sets. "
        "(metaml knows these patients already: it comes with runs on this data set, wdbc. Your data will be new.)"
    )
    tour.run("describe", DATA, "--seconds", str(DESCRIBE_SECONDS), most=9, last=4)
    tour.tell(
        "Which configurations does experience suggest first? Nothing is run for this. sd: how far above an average run."
    )
    tour.run("suggest", DATA, "-n", "3")
    tour.tell(
        f"Now the search: {seconds} seconds, including the final model. Each configuration is cross-validated and "
        "stored; its score decides what to try next. The best are combined into an ensemble."
    )
    tour.run("tune", DATA, "--time-budget", f"{seconds}s", "--output", RESULT, is_live=True)
    tour.tell("The result, compared with simple baselines:")
    tour.run("show", RESULT, "--top", "3")
    tour.tell("The model predicts patients that it has never seen:")
    tour.run("predict", RESULT, NEW, "--proba", "-o", PREDICTIONS)
    tour.tell(_verdict(output))
    tour.tell("The knowledge base has grown:")
    tour.run("kb", "info", most=7, last=4)
    tour.tell("You can query it in SQL or from Python. What did each algorithm reach here?")
    tour.run("kb", "sql", QUERY)
    key = _best_run(output)
    if key:
        tour.tell("Why was the best of these runs made, and which score was expected?")
        tour.run("why", key)
    tour.tell(f"That was all, in {time.monotonic() - started:.0f} s. Open the report in a browser:")
    tour.show_plain(str((output / RESULT / "report.html").resolve()))
    tour.tell("Then:")
    for command in (
        "metaml tune YOUR.csv --target COLUMN --time-budget 5m",
        f"metaml kb best {NAME} roc_auc --kb {shlex.quote(str(output / KB_FILE))}",
        "metaml --help",
    ):
        tour.show(command)


class Tour:
    """Runs commands in a folder with its own knowledge base, and shows them as a user would type them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "METAML_KB": KB_FILE}

    def tell(self, text: str) -> None:
        """Print some sentences, after an empty line."""
        typer.echo("\n" + textwrap.fill(text, WIDTH, break_on_hyphens=False, break_long_words=False))

    def show(self, command: str) -> None:
        """Print a command line."""
        self.show_plain(f"$ {command}")

    def show_plain(self, line: str) -> None:
        """Print a line that the user may copy, so it is never wrapped."""
        typer.echo(f"  {line}")

    def run(self, *arguments: str, most: int | None = None, last: int = 0, is_live: bool = False) -> None:
        """Show a command, run it, and print its output. Of a long output, print `most` lines and the `last` ones."""
        self.show(f"metaml {' '.join(map(_quoted, arguments))}")
        sys.stdout.flush()
        command = [sys.executable, "-m", "metaml_cli", *arguments]
        # In a terminal, a search shows its progress. All other output is fitted to the page.
        watched = is_live and sys.stderr.isatty()
        # Ctrl-C goes to the command, not to the tour: a search then ends with its best model so far.
        before = signal.signal(signal.SIGINT, lambda *_: None)
        try:
            done = subprocess.run(
                command,
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=None if watched else subprocess.PIPE,
                stderr=None if watched else subprocess.STDOUT,
                text=True,
                check=False,
            )
        finally:
            signal.signal(signal.SIGINT, before)
        for line in _shortened((done.stdout or "").splitlines(), most, last):
            typer.echo(line)
        if done.returncode:
            raise typer.Exit(done.returncode)


def _shortened(lines: Sequence[str], most: int | None, last: int) -> list[str]:
    """Return lines of at most 80 columns; if there are too many, only the first and the last ones."""
    if most is not None and len(lines) > most + last + 1:
        lines = [*lines[:most], f"… {len(lines) - most - last} more lines …", *lines[len(lines) - last :]]
    return [part.rstrip() for line in lines for part in _wrapped(line)]


def _wrapped(line: str) -> list[str]:
    """Return a line in parts that fit. Keep the spaces in it: they may align a table."""
    return textwrap.wrap(line, WIDTH, subsequent_indent="  ", drop_whitespace=False, break_on_hyphens=False) or [""]


def _quoted(word: str) -> str:
    """Return a word quoted for a shell; SQL that contains single quotes gets double quotes."""
    return f'"{word}"' if "'" in word and not set('"$`\\') & set(word) else shlex.quote(word)


def write_data(folder: Path) -> tuple[int, int]:
    """Write the data set into the folder, in two parts; return the number of rows of each."""
    import numpy as np
    from sklearn.model_selection import train_test_split

    from metaml.errors import BadRequest
    from metaml.sources import builtin

    if folder.exists() and not folder.is_dir():
        raise BadRequest(f"{folder} is a file. Choose a folder with --output.")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / ANSWERS).exists():
        raise BadRequest(f"{folder} holds files that the tour did not write. Choose another folder with --output.")
    dataset = builtin.load("breast_cancer")
    frame = dataset.X.assign(**{TARGET: np.asarray(dataset.labels)[dataset.y]})
    known, new = train_test_split(frame, test_size=HELD_OUT, stratify=frame[TARGET], random_state=0)
    parts = {DATA: known, NEW: new.drop(columns=TARGET), ANSWERS: new[[TARGET]]}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, part in parts.items():
            part.to_csv(folder / name, index=False)
    except OSError as error:
        raise BadRequest(f"{folder} cannot be written: {error.strerror}. Choose another with --output.") from None
    return len(known), len(new)


def _verdict(folder: Path) -> str:
    """Return how many predictions agree with the diagnoses of the doctors."""
    import pandas as pd
    from sklearn.metrics import roc_auc_score

    truth = pd.read_csv(folder / ANSWERS)[TARGET]
    answers: pd.DataFrame = pd.read_csv(folder / PREDICTIONS)
    n_right = int((answers["prediction"] == truth).sum())
    area = roc_auc_score(truth == "malignant", answers["malignant"])
    return (
        f"Compared with {ANSWERS}, {n_right} of {len(truth)} diagnoses are right ({n_right / len(truth):.1%}), and "
        f"the ROC AUC is {area:.4f}. The score that metaml gave above is cross-validated; this one confirms it."
    )


def _best_run(folder: Path) -> str | None:
    """Return the first characters of the key of the best run; None if no run was complete."""
    from metaml_kb import open_kb

    with open_kb(folder / KB_FILE, create=False) as base:
        if base.runs(dataset=NAME, status="ok", limit=1).empty:
            return None
        found = base.best(NAME, "roc_auc", 1)
    return str(found["run"].iloc[0])[:SHORT_KEY]
