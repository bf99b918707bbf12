"""Options that several commands share, and those that hold comma-separated names or numbers."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from metaml_kb.predictions import Form

KeepPredictions = Annotated[
    bool,
    typer.Option(
        "--keep-predictions",
        help="Store out-of-fold predictions and the target with the runs, at most 500 MB; see metaml kb rerank.",
    ),
]
Float32 = Annotated[bool, typer.Option("--float32", help="Keep predictions as float32 instead of float16.")]
RUN_HELP = "Key of a run, or its beginning, or the number of an evaluation of the last search."
Scheduler = Annotated[
    str | None,
    typer.Option(help="Evaluate on a Dask cluster: tls://HOST:PORT, tcp://127.0.0.1:PORT or FILE.json."),
]
TlsCa = Annotated[
    str | None, typer.Option(help="File with the certificate of the authority that signed the cluster's certificates.")
]
TlsCert = Annotated[str | None, typer.Option(help="File with our own certificate for the cluster.")]
TlsKey = Annotated[str | None, typer.Option(help="File with the key of our certificate.")]
InsecureScheduler = Annotated[
    bool,
    typer.Option(
        "--insecure-scheduler", help="Allow tcp:// to other machines. Anybody who can reach the scheduler can run code."
    ),
]
Ignore = Annotated[list[str] | None, typer.Option(help="Column to leave out; may be repeated.")]

User = Annotated[
    str | None,
    typer.Option(envvar="METAML_USER", help="Name of the person, stored with the session, to filter by later."),
]
Project = Annotated[
    str | None,
    typer.Option(envvar="METAML_PROJECT", help="Name of the project, stored with the session, to filter by later."),
]


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
