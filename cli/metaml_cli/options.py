"""Options that several commands share, those that hold names or numbers, and the help of a command with many."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from typer.core import TyperCommand, TyperOption

if TYPE_CHECKING:
    from metaml_kb.predictions import Form

Command = TypeVar("Command", bound=Callable[..., Any])
CLUSTER, DATA, KNOWLEDGE_BASE = "Cluster", "Data", "Knowledge base"
"""Headings of the help of commands with many options."""
KINDS = {
    "str": "TEXT",
    "list[str]": "TEXT",
    "path": "PATH",
    "list[path]": "PATH",
    "int": "NUMBER",
    "int range": "NUMBER",
    "list[int]": "NUMBER",
    "float": "NUMBER",
    "float range": "NUMBER",
}
"""What the help calls the values of an option, by Typer's names of their types."""
_TYPES = re.compile("<(" + "|".join(map(re.escape, KINDS)) + ")>")
FEW_HEADINGS = 3
"""With so many headings or fewer, options without one come first in the help."""
ALGORITHMS_HELP = "Comma-separated; default: all but additive, distribution, ebm, neural_network and small_tree."
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


class PlainCommand(TyperCommand):
    """A command whose help lists its options under their headings, and says in a word what each takes."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the usage line, arguments in capitals.

        Typer writes an argument as {path}.
        """
        return [
            re.sub(r"\{(\w+)\}", lambda found: found[1].upper(), piece) for piece in super().collect_usage_pieces(ctx)
        ]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the options. With many headings, options without one come last."""
        arguments: list[tuple[str, str]] = []
        plain: list[tuple[str, str]] = []
        headed: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            if (record := parameter.get_help_record(ctx)) is None:
                continue
            names, text = record
            if not isinstance(parameter, TyperOption):
                arguments.append((names.split()[0].upper(), text))
                continue
            line = _TYPES.sub(lambda found: KINDS[found[1]], names), text
            heading = parameter.rich_help_panel
            (headed.setdefault(heading, []) if isinstance(heading, str) else plain).append(line)
        sections = (
            [*headed.items(), ("Other", plain)] if len(headed) > FEW_HEADINGS else [("Options", plain), *headed.items()]
        )
        for title, lines in [("Arguments", arguments), *sections]:
            if lines:
                with formatter.section(title):
                    formatter.write_dl(lines)


class PlainTyper(typer.Typer):
    """A group of commands that all show plain help."""

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Command], Command]:
        """Return a decorator that adds a command."""
        return super().command(name, **{"cls": PlainCommand, **settings})


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
