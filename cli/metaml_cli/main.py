"""The `metaml` command: its subcommands. An error is printed as one sentence and sets the exit code."""

import os
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from metaml import __version__
from metaml.errors import MetamlError
from metaml_cli import (
    bot,
    check,
    cluster,
    columns,
    demo,
    describe,
    explain,
    importing,
    insight,
    kb,
    learn,
    predict,
    replay,
    reproduce,
    show,
    suggest,
    tune,
    web,
    why,
)
from metaml_cli.options import PlainTyper
from metaml_kb.errors import KBError

BAD_INPUT, INTERNAL = 2, 1


class OneSentenceGroup(TyperGroup):
    """A command group that prints what to do instead of a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command. Errors of the user exit with 2, internal errors with 1."""
        try:
            return super().invoke(ctx)
        except (MetamlError, KBError) as error:
            typer.echo(f"metaml: {error}", err=True)
            raise typer.Exit(BAD_INPUT) from None
        except (typer.Exit, typer.Abort, KeyboardInterrupt, BrokenPipeError):
            raise
        except Exception as error:
            if _is_interrupt(error):
                raise KeyboardInterrupt from None
            # Errors of the command line parser print themselves.
            if hasattr(error, "show") or os.environ.get("METAML_DEBUG"):
                raise
            message = f"{type(error).__name__}: {error}".split("\n")[0]
            typer.echo(f"metaml: internal error ({message}). Set METAML_DEBUG=1 to see where, and report it.", err=True)
            raise typer.Exit(INTERNAL) from None


def _is_interrupt(error: BaseException | None) -> bool:
    """Return whether Ctrl-C caused an error: a library that is being imported may turn it into an ImportError."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


app = PlainTyper(
    cls=OneSentenceGroup,
    help="AutoML with a memory: every run it has ever made helps the next data set.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(tune.tune)
app.command()(predict.predict)
app.command()(predict.evaluate)
app.command()(explain.explain)
app.command()(check.check)
app.command()(show.pick)
app.command()(bot.bot)
app.command()(describe.describe)
app.command()(columns.columns)
app.command()(learn.learn)
app.command()(suggest.suggest)
app.command()(replay.replay)
app.command()(show.show)
app.command()(why.why)
app.command()(reproduce.reproduce)
app.command()(web.web)
app.command()(demo.demo)
app.command()(cluster.worker)
app.command()(cluster.cluster)
importing.register(kb.app)
insight.register(kb.app)
app.add_typer(kb.app, name="kb")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"metaml {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    del version
