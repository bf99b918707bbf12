"""`metaml.replay` and `replay_ensembles`: what would have been best on recorded runs."""

from collections.abc import Iterable

from metaml.commands.places import Place, opened
from metaml.data.given import names_in, one_or_more
from metaml.laboratory.compare import Study, methods_of, study
from metaml.laboratory.ensembles.study import EnsembleStudy, budgets_named, study_ensembles, ways_named
from metaml.laboratory.load import metafeatures_of, pools_of


def replay(
    *,
    metric: str = "accuracy",
    optimisers: str | Iterable[str] = ("default", "gbqr", "forest", "random"),
    policies: str | Iterable[str] = (),
    algorithms: str | Iterable[str] | None = None,
    datasets: str | Iterable[str] | None = None,
    seeds: int = 3,
    evaluations: int = 100,
    most: int = 500,
    workers: int = 1,
    kb: Place = None,
) -> Study:
    """Return which optimiser would have been best on recorded runs, by look-up: nothing is trained.

    Each of the `optimisers` is simulated `seeds` times, for so many `evaluations`, on every data set with at least 20
    configurations of an algorithm; at most `most` of them are used. Runs are compared by `metric`. `policies` are
    bandits over the algorithms. `algorithms` and `datasets` choose among the runs of the knowledge base `kb`. `workers`
    is the number of simulations at a time.

    In the answer, `regret` has a row for each algorithm and optimiser, in percent of the range of a data set's scores,
    lower is better; differences are to the last optimiser. `curves` has the same by evaluations and by seconds,
    `policies` the gap of each bandit. Raises `BadRequest` for an optimiser that does not exist, or for too few runs.

    >>> replay(optimisers="guessing", kb=":memory:")
    Traceback (most recent call last):
    metaml.errors.BadRequest: There is no optimiser 'guessing'. Choose among: ...
    """
    methods = methods_of(names_in(optimisers))
    with opened(kb) as base:
        pools = pools_of(
            base,
            metric=metric,
            algorithms=None if algorithms is None else names_in(algorithms),
            datasets=None if datasets is None else one_or_more(datasets),
            most=most,
        )
        described = metafeatures_of(base)
    return study(
        pools,
        methods,
        policies=names_in(policies),
        n_seeds=seeds,
        n=evaluations,
        n_workers=workers,
        metafeatures=described,
    )


def replay_ensembles(
    *,
    openings: str | Iterable[str] = ("levels", "families", "ensemble", "random"),
    evaluations: Iterable[int] = (3, 5, 10, 20),
    seconds: Iterable[float] = (),
    rules: str | Iterable[str] = "selected",
    layers: Iterable[int] = (1,),
    metric: str | None = None,
    datasets: str | Iterable[str] = (),
    seeds: int = 3,
    kb: Place = None,
) -> EnsembleStudy:
    """Return which opening makes the better final ensemble, by look-up on runs with kept predictions.

    A search ends after so many `evaluations`, or after so many `seconds` of its runs. `rules` say what the final model
    is made of (selected, best or mean), `layers` (1 or 2) how deep it is. All `openings`, rules, layers and budgets are
    combined; differences are to the first. What is learnt for a data set is learnt without it and its near-duplicates.

    `metric` is by default what a search would use. `datasets` limits on which data sets the openings are judged. Random
    openings are drawn `seeds` times. `kb` is a knowledge base with kept predictions, as `bot(keep_predictions=True)`
    makes it. In the answer, `table` has the differences in per cent of the held-out loss, negative is better, and
    `losses` what each way lost on each data set. Raises `BadRequest` for an opening, a rule or a budget that does not
    exist, or for predictions of fewer than three data sets.

    >>> replay_ensembles(openings="guessing", kb=":memory:")
    Traceback (most recent call last):
    metaml.errors.BadRequest: There is no opening 'guessing'. ...
    """
    ways = ways_named(names_in(openings), names_in(rules), [str(n) for n in layers])
    budgets = budgets_named([str(n) for n in evaluations], [str(n) for n in seconds])
    with opened(kb) as base:
        return study_ensembles(base, ways, budgets, metric=metric, datasets=one_or_more(datasets), n_seeds=seeds)
