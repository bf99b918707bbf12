"""Every snippet of the README and of docs/ is run, page by page, offline and on small data.

A search takes a few iterations here, whatever time budget the page gives it. A block that cannot be run has a comment
above it that says why: `<!-- not run: needs the network -->`.
"""

import contextlib
import gzip
import io
import re
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from metaml_kb import open_kb
from tests.cli.terminal import metaml
from tests.experienced import fill

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"(?:<!-- not run:(.*?)-->\n)?```(sh|python)\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)
SHORT = ["--iterations", "2", "--algorithms", "decision_tree,k_neighbors"]
SOME_RUN = "1f3a9c02"
"""The key that pages give as an example; here it stands for a run on data.csv."""
EXACT = ("README.md", "docs/python.md", "docs/howto/minimize.md")
"""Pages whose Python prints the same everywhere. Figures of the tutorial depend on the machine."""
OF_A_NEW_USER = (
    *("README.md", "docs/python.md", "docs/tutorial.md"),
    *("docs/howto/optuna.md", "docs/howto/query.md", "docs/howto/tools.md"),
)
"""Pages that are followed with the experience that comes with metaml; reading it takes longer than a short search."""

pytestmark = pytest.mark.usefixtures("one_pool")


@dataclass(frozen=True)
class Snippet:
    """A block of a page: why it is not run (None if it is), its language, its code, and what it should print."""

    why_not: str | None
    language: str
    code: str
    shown: str | None


def snippets_of(page: str) -> list[Snippet]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return [Snippet(why or None, language, code, shown or None) for why, language, code, shown in BLOCK.findall(text)]


PAGES = [
    page
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if "_build" not in path.parts and snippets_of(page := str(path.relative_to(ROOT)))
]


def houses(n: int) -> pd.DataFrame:
    rng = np.random.default_rng(n)
    frame = pd.DataFrame({"rooms": rng.integers(1, 9, n), "town": ["Ulm", "Bonn"] * (n // 2)})
    return frame.assign(price=np.where(frame["rooms"] + rng.normal(0, 1, n) > 4, "high", "low"))


def visits(n: int) -> pd.DataFrame:
    rng = np.random.default_rng(n)
    days, customers = pd.date_range("2026-01-01", periods=n), rng.integers(0, n // 3, n)
    return pd.DataFrame({"day": days, "customer": customers, "age": rng.integers(18, 80, n), "y": np.arange(n) % 2})


def shop(n: int) -> pd.DataFrame:
    rng = np.random.default_rng(n)
    frame = pd.DataFrame(
        {"age": rng.integers(18, 80, n), "income": rng.integers(9, 99, n), "size": list("SML") * (n // 3)}
    )
    zips, debts = rng.integers(1000, 1004, n), rng.integers(0, 9, n)
    return frame.assign(zip=zips, debt=debts, bought=np.where(frame["income"] > 9 * debts, "yes", "no"))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, one_pool: None) -> Path:
    """A folder in which a search on data.csv has ended: its data, its result and a knowledge base of that search."""
    folder = tmp_path_factory.mktemp("finished")
    houses(60).to_csv(folder / "data.csv", index=False)
    houses(8).drop(columns="price").to_csv(folder / "new.csv", index=False)
    visits(60).to_csv(folder / "visits.csv", index=False)
    shop(60).to_csv(folder / "shop.csv", index=False)
    visits(20).to_csv(folder / "later.csv", index=False)
    visits(60).assign(persons=np.arange(60) % 3 + 1).to_csv(folder / "survey.csv", index=False)
    metaml("tune", folder / "data.csv", *SHORT, "--output", folder / "result", "--kb", folder / "kb.db")
    return folder


@pytest.fixture(scope="module")
def of_a_new_user(tmp_path_factory: pytest.TempPathFactory, shipped_file: Path, finished: Path) -> Path:
    """A knowledge base that holds what comes with metaml and that search."""
    path = shutil.copy(shipped_file, tmp_path_factory.mktemp("new-user") / "kb.db")
    metaml("kb", "merge", path, finished / "kb.db")
    return path


@pytest.fixture
def folder(request: pytest.FixtureRequest, page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that a page is followed in, with the files that it names."""
    if page == "docs/howto/import.md":
        make_tables_of_others(tmp_path)
    else:
        shutil.copytree(request.getfixturevalue("finished"), tmp_path, dirs_exist_ok=True)
    if page in OF_A_NEW_USER:
        shutil.copy(request.getfixturevalue("of_a_new_user"), tmp_path / "kb.db")
        monkeypatch.delenv("METAML_STARTER")
    if page == "docs/howto/optuna.md":
        make_study(tmp_path)
    if page == "docs/howto/share.md":
        make_knowledge_bases_of_a_team(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("METAML_KB", str(tmp_path / "kb.db"))
    return tmp_path


def make_tables_of_others(folder: Path) -> None:
    """Write tables to import, and a knowledge base that is small enough to judge its rankings."""
    rows = [f"{task},{C},{0.5 + 0.01 * task + 0.1 * C}" for task in range(1, 4) for C in (0.1, 0.5, 1.0)]
    (folder / "runs.csv.gz").write_bytes(gzip.compress("\n".join(["task_id,C,accuracy", *rows]).encode()))
    (folder / "metafeatures.csv").write_text("task_id,NumberOfInstances\n1,100\n2,200\n3,300\n")
    with open_kb(folder / "kb.db") as kb:
        fill(kb)


def make_study(folder: Path) -> None:
    """Write the study that somebody made with Optuna."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(storage=f"sqlite:///{folder / 'study.db'}", study_name="mine", direction="maximize")
    study.optimize(lambda trial: trial.suggest_float("C", 0.0, 1.0), n_trials=2)


def make_knowledge_bases_of_a_team(folder: Path) -> None:
    """Write knowledge bases that know more and more data sets."""
    for n_datasets, name in enumerate(("mine.db", "team.db", "alice.db", "bob.db"), start=1):
        with open_kb(folder / name) as kb:
            fill(kb, n_datasets=n_datasets, n_runs=2)


def run_line(line: str, patch: pytest.MonkeyPatch) -> None:
    """Run one line of a shell block; a search is made short."""
    match [_a_run_on("data") if word == SOME_RUN else word for word in shlex.split(line)]:
        case ["export", assignment]:
            patch.setenv(*assignment.split("=", 1))
        case ["metaml", "tune", *arguments]:
            # A model that a person can read is one of few algorithms.
            metaml("tune", *_without_budget(arguments), *(SHORT[:2] if "--readable" in arguments else SHORT))
        case ["metaml", *arguments]:
            metaml(*arguments)
        case _:
            pytest.fail(f"This line cannot be run here. Say why in a comment above its block: {line}")


def _a_run_on(dataset: str) -> str:
    with open_kb(create=False) as kb:
        return str(kb.runs(dataset=dataset, status="ok")["run"][0])


def _without_budget(arguments: list[str]) -> list[str]:
    places = {place + k for place, word in enumerate(arguments) if word == "--time-budget" for k in (0, 1)}
    return [word for place, word in enumerate(arguments) if place not in places]


def run_page(page: str, patch: pytest.MonkeyPatch) -> None:
    """Run the snippets of a page one after the other; later ones know the names of earlier ones."""
    names: dict[str, object] = {}
    for snippet in snippets_of(page):
        if snippet.why_not is not None:
            continue
        if snippet.language == "sh":
            for line in snippet.code.splitlines():
                run_line(line, patch)
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(snippet.code, page, "exec"), names)
        if page in EXACT:
            assert printed.getvalue() == snippet.shown


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("page", PAGES)
def test_every_snippet_of_a_page_runs(page, monkeypatch):
    run_page(page, monkeypatch)

    assert any(snippet.why_not is None for snippet in snippets_of(page))


def test_the_python_page_prints_the_same_where_nothing_is_known_beforehand(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("METAML_KB", str(tmp_path / "kb.db"))

    run_page("docs/python.md", monkeypatch)

    with open_kb(create=False) as kb:
        assert kb.datasets()["name"].tolist() == ["my iris"]


@pytest.mark.parametrize("page", PAGES)
def test_a_block_that_is_not_run_says_why(page):
    reasons = [snippet.why_not for snippet in snippets_of(page) if snippet.why_not is not None]

    assert all(len(reason.split()) >= 2 for reason in reasons)
    assert len(snippets_of(page)) == len(re.findall(r"^```(?:sh|python)$", (ROOT / page).read_text(), re.MULTILINE))
