"""What the knowledge base keeps of data sets, fold plans, machines and evaluations: where science becomes records."""

import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from metaml.data import Dataset
from metaml.evaluation import FoldPlan, Job, Outcome
from metaml.evaluation.environment import environment
from metaml.metafeatures import describe
from metaml.splits.fold_plan import Strategy, plan_from
from metaml_kb import DatasetRecord, EnvironmentRecord, FoldPlanRecord, KnowledgeBase, ProposalRecord, Run

if TYPE_CHECKING:
    from metaml.search.optimizer import Proposal

MOST_COLUMNS, MOST_REPAIRS = 200, 50
STOPPED_EARLY = "stopped early: "
"""What the `error` of a run begins with if its learner ran out of time and gave what it had."""
LOOK = "low fidelity: "
"""What the `error` of a run begins with that was a look at fewer rows, folds or trees."""


def store_dataset(
    kb: KnowledgeBase,
    dataset: Dataset,
    origin: str,
    *,
    details: Mapping[str, Any] | None = None,
    seconds: float = 1.0,
) -> None:
    """Store a data set unless it is known, and with it the metafeatures that can be computed in these seconds."""
    if kb.add_dataset(dataset_record(dataset, origin, details or {})):
        store_metafeatures(kb, dataset, seconds=seconds)


def store_metafeatures(kb: KnowledgeBase, dataset: Dataset, *, seconds: float) -> None:
    """Describe a data set that is stored, in these seconds, and store what was found."""
    facts = describe(dataset, seconds=seconds)
    kb.add_metafeatures(
        dataset.fingerprint,
        facts.values,
        reasons=facts.reasons,
        seconds=facts.seconds,
        n_rows=facts.n_rows_used,
    )


def dataset_record(dataset: Dataset, origin: str, details: Mapping[str, Any]) -> DatasetRecord:
    """Return what the knowledge base keeps of a data set: no rows."""
    return DatasetRecord(
        fingerprint=dataset.fingerprint,
        name=dataset.name,
        task=dataset.task,
        target=dataset.target,
        n_rows=len(dataset.y),
        n_columns=dataset.X.shape[1],
        n_classes=None if dataset.labels is None else len(dataset.labels),
        source=origin,
        details={
            **details,
            **({"roles": said} if (said := dataset.roles.options.as_json()) else {}),
            "columns": {column.name: column.kind for column in dataset.columns[:MOST_COLUMNS]},
            "repairs": [
                f"{repair.column or 'table'}: {repair.what} ({repair.why})" for repair in dataset.repairs[:MOST_REPAIRS]
            ],
        },
    )


def fold_plan_record(plan: FoldPlan) -> FoldPlanRecord:
    """Return what the knowledge base keeps of a fold plan: all of it."""
    packed = zlib.compress(plan.content, 9)
    return FoldPlanRecord(plan.hash, plan.strategy, plan.n_folds, plan.seed, plan.max_rows, packed)


def kept_plan(kept: FoldPlanRecord, n_rows: int) -> FoldPlan | None:
    """Return the fold plan as it was kept; None if it was not, or is damaged."""
    if kept.assignment is None or kept.n_folds is None:
        return None
    strategy = cast(Strategy, kept.strategy)
    try:
        content = zlib.decompress(kept.assignment)
        return plan_from(content, n_rows, strategy, kept.n_folds, kept.seed or 0, kept.max_rows)
    except (zlib.error, ValueError):
        return None


def environment_record(facts: Mapping[str, Any] | None = None) -> EnvironmentRecord:
    """Return where this process works, or the machine of these `facts`: versions, host, and its reference seconds."""
    facts = environment() if facts is None else facts
    return EnvironmentRecord(
        versions={"python": facts["python"], **facts["libraries"]},
        host=facts["host"],
        platform=facts["platform"],
        processor=facts["cpu"],
        reference_seconds=facts["reference_seconds"],
    )


def proposal_record(proposal: "Proposal", details: Mapping[str, Any]) -> ProposalRecord:
    """Return who proposed a configuration and what was predicted, as the knowledge base keeps it."""
    return ProposalRecord(
        proposer=proposal.proposer,
        predicted_score=proposal.score,
        predicted_std=proposal.std,
        predicted_seconds=proposal.seconds,
        acquisition=proposal.value,
        details=details,
    )


def run_of(
    job: Job,
    outcome: Outcome,
    *,
    session: str,
    environment: str,
    origin: str,
    probability: float | None = None,
    proposal: ProposalRecord | None = None,
    share: float = 1.0,
) -> Run:
    """Return the run that a job and its outcome make.

    If a fit ran out of its time, the scores are not those of the configuration but of that time on this machine. Such
    a run is stored as `partial`, even with all folds: experience learns from complete runs only, and the identity of
    the complete run stays free. So is a look at a `share` of an evaluation: its scores compare only with such looks.
    """
    status, error = outcome.status, outcome.error
    if outcome.stopped_early and status in ("ok", "partial"):
        status, error = "partial", f"{STOPPED_EARLY}a fit may take {job.fit_seconds:.3g} s"
    elif share < 1.0 and status == "ok":
        status, error = "partial", f"{LOOK}{share:.3g} of an evaluation"
    return Run(
        dataset=job.dataset,
        algorithm=job.algorithm,
        config=job.config,
        scores=outcome.scores,
        fold_plan=job.plan.hash,
        seed=job.seed,
        status=status,
        # An evaluation that was stopped took at least the time that it ran.
        fit_seconds=outcome.fit_seconds or outcome.seconds,
        predict_seconds=outcome.predict_seconds,
        peak_megabytes=outcome.peak_megabytes,
        model_bytes=outcome.model_bytes,
        row_seconds=outcome.row_seconds,
        n_columns_read=outcome.n_columns_read,
        error=error,
        origin=origin,
        probability=probability,
        session=session,
        environment=environment,
        proposal=proposal,
    )


def stopped_early(run: Run) -> bool:
    """Return whether a learner ran out of time in this run, so that its scores say little of the configuration.

    >>> stopped_early(Run(dataset="iris", algorithm="svm", config={}, status="partial", error="stopped early: a fit"))
    True
    """
    return run.status == "partial" and (run.error or "").startswith(STOPPED_EARLY)
