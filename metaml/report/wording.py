"""Numbers and findings in words, the same in the report, in best.json and in the terminal."""

import math
from collections import Counter

from metaml.budget import in_words
from metaml.evaluation.scoring import display
from metaml.evaluation.scoring import metric as find_metric
from metaml.report.data import ReportData, TrialRow

STATUS_WORDS = {
    "ok": "complete",
    "partial": "stopped early",
    "timeout": "out of time",
    "memory": "out of memory",
    "crashed": "crashed",
    "failed": "failed",
}
ORIGIN_WORDS = {
    "default": "default settings",
    "warm start": "experience",
    "surrogate": "model of this search",
    "random": "chance",
    "repeat": "other folds",
    "grid": "a grid",
    "imported": "imported",
}
CONSTANT = "constant"


def number(value: float, digits: int = 4) -> str:
    """Return a number with as many digits as are worth reading; a dash when there is none.

    >>> number(0.98765), number(-3.2), number(54321.4), number(0.0000123), number(float("nan"))
    ('0.9877', '−3.2000', '54,321', '1.23e−05', '–')
    """
    if not math.isfinite(value):
        return "–"
    size = abs(value)
    if size >= 1e9 or 0 < size < 10.0**-digits:
        text = f"{value:.3g}"
    else:
        text = f"{value:,.{max(0, digits - int(math.log10(size))) if size >= 1 else digits}f}"
    return text.replace("-", "−")


def rounded(value: float, digits: int = 3) -> str:
    """Return a number with its leading digits only.

    >>> rounded(87.765), rounded(25.0), rounded(0.012345), rounded(123456.7), rounded(float("nan"))
    ('87.8', '25', '0.0123', '123,457', '–')
    """
    if not math.isfinite(value):
        return "–"
    return (f"{value:,.0f}" if 10.0**digits <= abs(value) < 1e9 else f"{value:.{digits}g}").replace("-", "−")


def fixed(value: float, places: int) -> str:
    """Return a number with this many decimals; zero has no sign.

    >>> fixed(-0.0004, 3), fixed(-1234.56, 1)
    ('0.000', '−1,234.6')
    """
    return f"{round(value, places) + 0.0:,.{places}f}".replace("-", "−")


def decimals(largest: float, digits: int = 3) -> int:
    """Return how many decimals show the leading digits of a column's largest number.

    >>> decimals(18.7), decimals(0.0361), decimals(4000.0)
    (1, 4, 0)
    """
    if not largest > 0:
        return digits
    return min(9, max(0, digits - 1 - math.floor(math.log10(largest))))


def share(value: float) -> str:
    """Return a share as a percentage; shares near 0 or 1 get one more digit.

    >>> share(0.256), share(0.0042), share(0.0002)
    ('26%', '0.4%', '<0.1%')
    >>> share(0.9962), share(0.99998), share(1.0)
    ('99.6%', '>99.9%', '100%')
    """
    if not math.isfinite(value):
        return "–"
    if 0.9995 <= value < 1 - 1e-9:
        return ">99.9%"
    if 0 < value < 0.0005:
        return "<0.1%"
    is_extreme = 0.0005 <= abs(value) < 0.0095 or 0.9905 <= value < 0.9995
    return f"{100 * value:.{1 if is_extreme else 0}f}%"


def duration(seconds: float) -> str:
    """Return a duration in words, also a very short one.

    >>> duration(0.034), duration(75.0)
    ('0.03 s', '1 min 15 s')
    """
    return f"{seconds:.2f} s" if 0 <= seconds < 1 else in_words(seconds)


def counted(n: int, noun: str) -> str:
    """Return a number with thousands separators and its noun, plural unless the number is 1.

    >>> counted(1, "row"), counted(12000, "row")
    ('1 row', '12,000 rows')
    """
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def listed(words: list[str]) -> str:
    """Return words as a list in a sentence.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def score_text(metric: str, score: float) -> str:
    """Return a score as people know it: a loss is positive.

    >>> score_text("neg_log_loss", -0.31)
    '0.3100'
    """
    return number(display(metric, score)[1])


def metric_label(metric: str) -> str:
    """Return the name of a metric in prose."""
    return find_metric(metric).label


def basis(data: ReportData) -> str:
    """Return a suffix for the name of the metric that says which score is shown; empty for the plain one."""
    return " after thresholds" if data.is_after_thresholds else ""


def direction(metric: str) -> str:
    """Return which way is better, as shown."""
    return "lower is better" if find_metric(metric).is_loss else "higher is better"


def error_of(metric: str, score: float) -> float:
    """Return what is left to gain: the loss, or the distance to 1; infinite if there is no best score."""
    return find_metric(metric).highest - score


def best_default(data: ReportData) -> tuple[str, float] | None:
    """Return the strongest baseline that is a real learner, or None."""
    real = {name: score for name, score in data.baselines.items() if name != CONSTANT and math.isfinite(score)}
    return max(real.items(), key=lambda item: item[1]) if real else None


def complete(data: ReportData) -> list[TrialRow]:
    """Return the complete evaluations, best first; equal scores in the order of evaluation."""
    found = [trial for trial in data.trials if trial.status == "ok" and math.isfinite(trial.score)]
    return sorted(found, key=lambda trial: (-trial.score, trial.number))


def model_words(data: ReportData) -> str:
    """Return what the model is, as the subject of a sentence."""
    final = data.final
    if final is None:
        return "No model"
    if final.kind == "fallback":
        return "A simple fallback model"
    if final.kind == "ensemble":
        n = len(final.members)
        layers = " in two layers" if final.n_layers > 1 else ""
        return f"A weighted ensemble of {counted(n, 'model')}{layers}" if n else "An ensemble"
    return f"A single {final.members[0].algorithm} model" if final.members else "A single model"


def validated(data: ReportData) -> str:
    """Return how scores were measured."""
    return "held-out" if data.session.n_folds == 1 else "cross-validated"


def error_text(error: float | None) -> str:
    """Return a standard error as it follows a number; empty if it is not known.

    >>> error_text(0.01234), error_text(None)
    (' ± 0.012', '')
    """
    return f" ± {rounded(error, 2)}" if error is not None and math.isfinite(error) else ""


def score_error(data: ReportData) -> str:
    """Return the standard error of the model's score as it follows the score.

    Of folds in time it is how far one more of them may be from their mean: a later time is another time.
    """
    known = data.evidence
    if known is None:
        return ""
    return error_text(known.error if known.later_error is None else known.later_error)


def is_gain_clear(data: ReportData) -> bool:
    """Return whether the gain over the best default exceeds both standard errors: its own and that of the score.

    Its own is unknown if the default was not judged on the folds of the model. It may also be small beside the
    spread of the score, and then new rows may not show the gain.
    """
    best, final = best_default(data), data.final
    if best is None or final is None:
        return False
    known = () if data.evidence is None else (data.evidence.gain_error, data.evidence.error)
    errors = [error for error in known if error is not None and math.isfinite(error)]
    return final.score - best[1] > max(errors, default=0.0)


def comparison(data: ReportData) -> str:
    """Return in a sentence how the model compares with the best default; empty where there is nothing to compare."""
    best, final = best_default(data), data.final
    if best is None or final is None or not math.isfinite(final.score):
        return ""
    name, score = best
    reached = f"The best default, {name.removeprefix('default ')}, reached {score_text(data.metric, score)}"
    gain = final.score - score
    if gain <= 1e-12 * max(1.0, abs(score)):
        return f"{reached}: {'nothing better was found' if gain > -1e-9 else 'the model is not better than that'}."
    if not is_gain_clear(data):
        return f"{reached}; the difference is within the standard error."
    before, after = error_of(data.metric, score), error_of(data.metric, final.score)
    if not 0 < before < math.inf:
        return f"{reached}."
    cut = share((before - after) / before)
    label = metric_label(data.metric)
    if find_metric(data.metric).is_loss:
        return f"{reached}; the {label} is {cut} lower."
    return f"{reached}; the distance to a perfect {label} is {cut} smaller."


def effort(data: ReportData) -> str:
    """Return in a sentence what was tried and how long it took."""
    n = len(data.trials)
    budget = data.session.budget_seconds
    used = duration(data.session.used_seconds)
    within = f"in {used}" if budget is None else f"in {used} of a budget of {duration(budget)}"
    if not n:
        return f"No evaluation finished {within}."
    counts = Counter(trial.status for trial in data.trials)
    parts = [f"{counts[status]:,} {words}" for status, words in STATUS_WORDS.items() if counts[status]]
    n_algorithms = len({trial.algorithm for trial in data.trials})
    across = f"{counted(n, 'evaluation')} of {counted(n_algorithms, 'algorithm')}"
    told = f" {data.advice}" if data.advice else ""
    return f"{across} {within}: {listed(parts)}.{told}"


def directions_sentence(data: ReportData) -> str:
    """Return with which columns the prediction may only rise or fall; empty if it may do both with all of them."""
    dataset = data.dataset
    ways = [("rises", list(dataset.increasing)), ("falls", list(dataset.decreasing))]
    said = listed([f"only {verb} with {listed(names)}" for verb, names in ways if names] or [""])
    if not said:
        return ""
    what = f"probability of {dataset.rising_class!r}" if dataset.rising_class else "prediction"
    return f"As asked for, the {what} {said}. Every member of the model keeps to that, and so does their weighted mean."
