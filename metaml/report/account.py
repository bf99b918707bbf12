"""The close of a report: what experience contributed, where the time went, how to use the model, and versions."""

from collections import Counter
from collections.abc import Sequence

from metaml.report.data import ExperienceFacts, ReportData, TrialRow
from metaml.report.markup import Html, joined, shortened, tag
from metaml.report.search_section import complete_of
from metaml.report.tables import Bar, TableColumn, bars, facts, figure, paragraph, table, track
from metaml.report.wording import STATUS_WORDS, counted, duration, listed, score_text, share
from metaml.report.worth import worth_text

MOST_SIMILAR = 10
LEAST_REST = 0.005
"""A remainder of the wall time below this share is rounding, and is not worth a row."""
DRIFTING = {
    "MajorityClassPercentage": "the share of the largest class",
    "PercentageOfMissingValues": "the share of missing values",
}
LEAST_DRIFT = 1.0
"""A change of fewer percentage points is not worth a sentence."""

LEDGER_WORDS = {
    "read": "reading and repairing the data",
    "metafeatures": "describing the data set",
    "memory": "asking the knowledge base",
    "evaluations": "evaluating configurations",
    "optimiser": "choosing configurations",
    "idle": "waiting",
    "killed": "evaluations that were cut off",
    "repeats": "evaluating the best again on other folds",
    "second layer": "building and checking the second layer",
    "ensemble": "choosing the ensemble",
    "thresholds": "tuning thresholds",
    "refit": "fitting the final model",
    "report": "writing this report",
    "start and closing": "starting, reading, ensemble, files",
}


def experience(data: ReportData) -> Html:
    """Return what the knowledge base knew, what of it was used, and whether the guard switched it off."""
    known = data.experience
    if known is None:
        alone = "No knowledge base took part: every choice rests on this session alone."
        return paragraph(data.absent.get("experience", alone))
    if not known.n_runs:
        empty = "The knowledge base was empty. The runs of this session are its first: the next one starts better."
        return paragraph(known.text or empty)
    said = [
        f"{counted(known.n_runs, 'run')} on {counted(known.n_datasets, 'other data set')} were known beforehand.",
        _warm_starts(data, known),
        _guard(known),
        worth_text(known),
        known.text,
    ]
    parts: list[object] = [paragraph(" ".join(sentence for sentence in said if sentence))]
    if known.similar:
        farthest = max(distance for _, distance in known.similar[:MOST_SIMILAR]) or 1.0
        items = [
            Bar(name, 1 - 0.85 * distance / farthest, f"distance {distance:.2f}")
            for name, distance in known.similar[:MOST_SIMILAR]
        ]
        parts.append(figure("The most similar data sets", bars(items, label="Similar data sets")))
    return joined(*parts)


def _warm_starts(data: ReportData, known: ExperienceFacts) -> str:
    """Return what the evaluations say about the configurations that experience proposed before the search began.

    Every sentence is made from the evaluations of the session, never from what was planned.
    """
    warm = [trial for trial in data.trials if trial.origin == "warm start"]
    if not warm:
        missed = ""
        if known.inherited_from:
            missed = (
                f" What did best on {listed(list(known.inherited_from))}, which has the same columns, was not tried."
            )
        return f"No configuration that did well there was evaluated.{missed}"
    said = [
        f"{counted(len(warm), 'configuration')} that did well there {_was(len(warm))} evaluated{_when(warm, data)}."
    ]
    if known.n_inherited:
        which = "It" if len(warm) == 1 else f"{known.n_inherited} of them" if known.n_inherited > 1 else "One of them"
        said.append(f"{which} did best on {listed(list(known.inherited_from))}, which has the same columns.")
        said.append(_drift(known))
    finished = [trial for trial in complete_of(data.trials) if trial.origin == "warm start"]
    if not finished:
        counts = Counter(STATUS_WORDS.get(trial.status, trial.status) for trial in warm)
        ends = listed([f"{n} {words}" for words, n in counts.items()])
        which = "It gave no score" if len(warm) == 1 else "None of them gave a score"
        return " ".join([*said, f"{which}: {ends}."])
    best = max(finished, key=lambda trial: trial.score)
    reached = score_text(data.metric, best.score)
    which = "It" if len(warm) == 1 else "The best of them"
    defaults = [trial.score for trial in complete_of(data.trials) if trial.origin == "default"]
    if not defaults:
        return " ".join([*said, f"{which} reached {reached}."])
    verdict = "better than" if best.score > max(defaults) else "no better than"
    plain = score_text(data.metric, max(defaults))
    return " ".join([*said, f"{which} reached {reached}, {verdict} the best default ({plain})."])


def _drift(known: ExperienceFacts) -> str:
    """Return how the table changed since its newest earlier version; nothing if it is as large and as balanced."""
    said = []
    then, now = known.drift.get("NumberOfInstances", (0.0, 0.0))
    if then != now:
        said.append(f"it has {now:,.0f} rows instead of {then:,.0f}")
    for name, words in DRIFTING.items():
        then, now = known.drift.get(name, (0.0, 0.0))
        if abs(now - then) >= LEAST_DRIFT:
            said.append(f"{words} went from {then:.0f} to {now:.0f} %")
    return f"Since then, {listed(said)}." if said else ""


def _was(n: int) -> str:
    return "was" if n == 1 else "were"


def _when(warm: Sequence[TrialRow], data: ReportData) -> str:
    """Return when the warm starts were evaluated: before the search made a choice of its own, or not."""
    chosen = [trial.number for trial in data.trials if trial.origin not in ("default", "warm start")]
    last = max(trial.number for trial in warm)
    if chosen and last > min(chosen):
        return f", the last as number {last}"
    return " before the search made choices of its own" if chosen else ""


def _guard(known: ExperienceFacts) -> str:
    if not known.is_judged:
        return ""
    if not known.guard_off:
        return "Experience agreed with what was measured, so the guard left it on to the end."
    misled = listed(list(known.guard_off))
    return f"The guard switched experience off for {misled}, because it did not agree with what was measured here."


def ledger(data: ReportData) -> Html | None:
    """Return where the seconds went; seconds without a purpose have their own row, so that it adds up."""
    rows = ledger_rows(data)
    if not rows:
        return None
    whole = max(data.session.used_seconds, 1e-9)
    shown = [[words, duration(seconds), share(seconds / whole), track(seconds / whole)] for words, seconds in rows]
    total = sum(seconds for _, seconds in rows)
    shown.append([tag("b", "wall time"), tag("b", duration(total)), tag("b", share(total / whole)), ""])
    workers = ""
    if data.session.n_workers > 1:
        workers = f" {data.session.n_workers} workers ran side by side; what they did is divided by their number."
    columns = [
        TableColumn("Purpose"),
        TableColumn("Time", "number"),
        TableColumn("Share", "number"),
        TableColumn("", "length"),
    ]
    return joined(table(columns, shown), paragraph(f"It adds up to the wall time.{workers}", class_="note"))


def ledger_rows(data: ReportData) -> list[tuple[str, float]]:
    """Return the purposes and their seconds, and the rest of the wall time if it is large enough to show."""
    rows = [(LEDGER_WORDS.get(name, name), seconds) for name, seconds in data.ledger.items() if seconds > 0]
    if not rows:
        return []
    rest = data.session.used_seconds - sum(seconds for _, seconds in rows)
    if abs(rest) > LEAST_REST * data.session.used_seconds:
        rows.append(("not accounted for" if rest > 0 else "counted twice", rest))
    return rows


def usage(data: ReportData) -> Html | None:
    """Return how to predict with the model that was saved."""
    if data.final is None:
        return None
    folder = data.session.output or "DIR"
    predict = f"metaml predict {_quoted(folder)} new.csv -o predictions.csv"
    commands = [("Predict new rows", predict)]
    if data.dataset.task != "regression":
        commands.append(("With a probability for each class", f"{predict} --proba"))
    commands.append(("A summary in the terminal", f"metaml show {_quoted(folder)}"))
    blocks = [
        joined(tag("p", title, class_="command-title"), tag("pre", tag("code", line))) for title, line in commands
    ]
    said = (
        "The new file needs the columns of the training file, in any order; the target may be missing. The knowledge "
        "base is not needed."
    )
    return joined(paragraph(said), *blocks)


def _quoted(path: str) -> str:
    import shlex

    return shlex.quote(path)


def versions(data: ReportData) -> Html:
    """Return what is needed to make the same search again."""
    session = data.session
    named = joined("Session ", tag("code", shortened(session.session, 40)), ", ") if session.session else None
    begun = f", started {session.started}" if session.started else ""
    said = paragraph(named, f"seed {session.seed}, {counted(session.n_workers, 'worker')}{begun}.")
    return joined(said, facts({name: shortened(version, 30) for name, version in session.versions.items()}))
