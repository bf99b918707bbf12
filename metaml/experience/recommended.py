"""The configurations that did best on data sets like this one, from lessons that are there already."""

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from metaml.algorithms import ALGORITHMS
from metaml.data import Dataset
from metaml.data.given import one_or_more
from metaml.experience.lesson_files import LessonRequest, portfolio_at_hand, shipped_portfolio
from metaml.experience.load_history import check_left_out, to_leave_out
from metaml.metafeatures import describe
from metaml.metalearning.initial_design import InitialDesign
from metaml.spaces.config import Config
from metaml.starter import open_with_starter, would_be_shipped
from metaml_kb import KnowledgeBase

DESCRIBE_SECONDS = 0.5
SHIPPED = "The experience that comes with metaml"


def recommended(
    kb: str | Path | KnowledgeBase | None,
    dataset: Dataset,
    request: LessonRequest,
    n: int,
    *,
    exclude_datasets: str | Iterable[str] = (),
    is_wanted: Callable[[Config], bool] = lambda _: True,
) -> tuple[list[Config], str]:
    """Return up to `n` configurations of the one algorithm of a request, the most promising first, and who knows them.

    There are none if the knowledge base knows too little. Only lessons that are stored already are asked: learning new
    ones takes longer than anybody wants to wait here. Where there is no knowledge base yet, what comes with metaml
    answers: to make one takes seconds.
    """
    left_out = one_or_more(exclude_datasets)
    if not left_out and not isinstance(kb, KnowledgeBase) and would_be_shipped(kb):
        portfolio, who = shipped_portfolio(request), SHIPPED
    else:
        with nullcontext(kb) if isinstance(kb, KnowledgeBase) else open_with_starter(kb) as base:
            if left_out:
                check_left_out(base, left_out)
                request = replace(request, left_out=to_leave_out(base, left_out))
            portfolio, who = portfolio_at_hand(base, request), base.name
    if portfolio is None:
        return [], who
    space = ALGORITHMS[request.algorithms[0]].space(dataset.task)
    design = InitialDesign(
        portfolio,
        describe(dataset, seconds=DESCRIBE_SECONDS).values,
        algorithms=request.algorithms,
        is_valid=lambda _, config: space.is_valid(config) and is_wanted(config),
        n_rows=len(dataset.y),
    )
    return [suggestion.config for suggestion in design.first(n, is_filled=n > 1)], who
