"""`tune`: a data set in, a model, a report and new experience out, within a budget that counts everything."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from metaml.budget import Budget
from metaml.data import Dataset
from metaml.evaluation import Pool
from metaml.finishing import Finished, finish, reserve_for
from metaml.report import ReportData
from metaml.takeaway import report_data, write_files
from metaml.tuning import Found, TuneProgress, TuneSession, TuneSettings
from metaml_kb import KnowledgeBase, open_kb


@dataclass(frozen=True, eq=False)
class Tuned:
    """What a call of `tune` gives back."""

    finished: Finished
    found: Found
    report: ReportData
    seconds: float


def tune(
    dataset: Dataset,
    settings: TuneSettings | None = None,
    *,
    kb: KnowledgeBase | None = None,
    output: Path | None = None,
    single: bool = False,
    on_progress: Callable[[TuneProgress], None] = lambda _: None,
    should_stop: Callable[[], bool] = lambda: False,
    budget: Budget | None = None,
) -> Tuned:
    """Find the best model for a data set and write it, with its report, into a folder if one is given.

    Without a knowledge base the runs are kept only as long as the call lasts. The budget counts from the call, or from
    `budget` if the caller's own work counts too.
    """
    settings = settings or TuneSettings()
    budget = budget or Budget(settings.seconds)
    with Pool(settings.n_workers) as pool, nullcontext(kb) if kb else open_kb(":memory:") as base:
        session = TuneSession(dataset, base, settings, pool, budget=budget)
        begun = budget.used
        found = session.run(
            reserve=lambda trials: reserve_for(settings, trials), on_progress=on_progress, should_stop=should_stop
        )
        searched = budget.used - begun
        finished = finish(dataset, found, pool, settings, budget, single=single)
        busy = found.ledger["evaluations"] / settings.n_workers
        optimiser = found.ledger["optimiser"]
        ledger = {
            "metafeatures": begun,
            "evaluations": busy,
            "optimiser": optimiser,
            "idle": max(searched - busy - optimiser, 0.0),
            "refit": finished.refit_seconds,
        }
        ledger["closing"] = max(budget.used - sum(ledger.values()), 0.0)
        data = report_data(
            dataset,
            found,
            finished,
            settings,
            used_seconds=budget.used,
            ledger=ledger,
            experience=None,
            output=output,
        )
        if output is not None:
            write_files(output, dataset, found, finished, settings, data)
        return Tuned(finished, found, data, budget.used)
