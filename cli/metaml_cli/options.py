"""Options that several commands share, those that hold names or numbers, and the help of a command with many."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperOption

if TYPE_CHECKING:
    from metaml_kb.predictions import Form

CLUSTER, DATA, KNOWLEDGE_BASE = "Cluster", "Data", "Knowledge base"
"""Headings of the help of commands with many options."""
RUN_HELP = "Key of a run, or its beginning, or the number of an evaluation of the last search."


def under(heading: str) -> Callable[..., Any]:
    """Return a function that makes options which the help shows under a heading."""

    def option(*names: str, **settings: Any) -> Any:
        return typer.Option(*names, rich_help_panel=heading, **settings)

    return option


_kb = under(KNOWLEDGE_BASE)
KeepPredictions = Annotated[
    bool,
    _kb(
        "--keep-predictions",
        help="Store out-of-fold predictions and the target with the runs, at most 500 MB; see metaml kb rerank.",
    ),
]
Float32 = Annotated[bool, _kb("--float32", help="Keep predictions as float32 instead of float16.")]
User = Annotated[
    str | None,
    _kb(envvar="METAML_USER", help="Name of the person, stored with the session, to filter by later."),
]
Project = Annotated[
    str | None,
    _kb(envvar="METAML_PROJECT", help="Name of the project, stored with the session, to filter by later."),
]

_cluster = under(CLUSTER)
Scheduler = Annotated[
    str | None,
    _cluster(help="Evaluate on a Dask cluster: tls://HOST:PORT, tcp://127.0.0.1:PORT or FILE.json."),
]
TlsCa = Annotated[
    str | None, _cluster(help="File with the certificate of the authority that signed the cluster's certificates.")
]
TlsCert = Annotated[str | None, _cluster(help="File with our own certificate for the cluster.")]
TlsKey = Annotated[str | None, _cluster(help="File with the key of our certificate.")]
InsecureScheduler = Annotated[
    bool,
    _cluster(
        "--insecure-scheduler", help="Allow tcp:// to other machines. Anybody who can reach the scheduler can run code."
    ),
]
Ignore = Annotated[list[str] | None, under(DATA)(help="Column to leave out; may be repeated.")]


class SectionedCommand(TyperCommand):
    """A command whose help lists its options under their headings, in the order of the first option of each."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the options of each heading; those without one come last."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": []}
        without = []
        for parameter in self.get_params(ctx):
            if (record := parameter.get_help_record(ctx)) is None:
                continue
            if not isinstance(parameter, TyperOption):
                sections["Arguments"].append(record)
            elif isinstance(heading := parameter.rich_help_panel, str):
                sections.setdefault(heading, []).append(record)
            else:
                without.append(record)
        for heading, records in [*sections.items(), ("Other", without)]:
            with formatter.section(heading):
                formatter.write_dl(records)


def names_in(text: str) -> tuple[str, ...]:
    """Return the names in a comma-separated option.

    >>> names_in("svm, mlp,")
    ('svm', 'mlp')
    """
    return tuple(name.strip() for name in text.split(",") if name.strip())


def numbers(text: str | None) -> list[int]:
    """Return the OpenML numbers in a comma-separated option."""
    from metaml.errors import BadRequest

    words = names_in(text or "")
    for word in words:
        if not word.isdigit():
            raise BadRequest(f"{word!r} is not an OpenML number. Write them as 31,37.")
    return [int(word) for word in words]


def shares(text: str) -> list[float]:
    """Return the numbers in a comma-separated option."""
    from metaml.errors import BadRequest

    try:
        return [float(word) for word in names_in(text)]
    except ValueError:
        raise BadRequest(f"{text!r} are not numbers. Write them as .05,.5,.95.") from None


def prediction_form(is_kept: bool, is_float32: bool) -> "Form | None":
    """Return the number format of stored predictions, or None if they are not stored."""
    if not is_kept:
        return None
    return "float32" if is_float32 else "float16"
