"""`metaml worker` and `metaml cluster`: machines that evaluate for `metaml tune` and `metaml bot`."""

from typing import TYPE_CHECKING, Annotated

import typer

from metaml_cli.options import InsecureScheduler, TlsCa, TlsCert, TlsKey
from metaml_cli.render import counted, say

if TYPE_CHECKING:
    from metaml.cluster import SchedulerAddress

DEFAULT_PORT = 8786


def worker(
    scheduler: Annotated[
        str, typer.Option(help="The Dask scheduler to work for: tls://HOST:PORT, tcp://127.0.0.1:PORT or FILE.json.")
    ],
    slots: Annotated[int | None, typer.Option(min=1, help="Evaluations at a time; default: all cores.")] = None,
    tls_ca: TlsCa = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    insecure_scheduler: InsecureScheduler = False,
) -> None:
    """Evaluate on this machine for searches and bots elsewhere.

    It starts a `dask worker`, which connects again if the scheduler restarts. Ctrl-C ends it; other workers then repeat
    its unfinished evaluations.

    Example: metaml worker --scheduler tcp://127.0.0.1:8786 --slots 2
    """
    import psutil

    from metaml.cluster.supervisor import Supervisor, worker_command

    address = address_of(scheduler, tls_ca, tls_cert, tls_key, insecure_scheduler)
    n_slots = slots or psutil.cpu_count() or 1
    say(f"Working for {scheduler}, {counted(n_slots, 'evaluation')} at a time. Ctrl-C ends it.")
    Supervisor([worker_command(address, n_slots=n_slots)], on_note=say).run()


def cluster(
    workers: Annotated[int | None, typer.Option(min=1, help="Worker processes; default: one per core.")] = None,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port of the scheduler.")] = DEFAULT_PORT,
) -> None:
    """Start a scheduler and workers here, to try out a cluster.

    Only this machine can reach the scheduler. Ctrl-C ends the scheduler and the workers.

    Example: metaml cluster --workers 4
    """
    import psutil

    from metaml.cluster.supervisor import Supervisor, check_port, scheduler_command, worker_command

    url = f"tcp://127.0.0.1:{port}"
    address = address_of(url, None, None, None, False)
    check_port(port)
    n_workers = workers or psutil.cpu_count() or 1
    commands = [scheduler_command(port), worker_command(address, n_slots=1, n_workers=n_workers)]
    Supervisor(commands, on_note=say).run(
        lambda: say(
            f"A scheduler is starting at {url} with {counted(n_workers, 'worker')}. Ctrl-C ends them.\n"
            f"Use it from another terminal: metaml tune DATA.csv --scheduler {url}"
        )
    )


def address_of(
    scheduler: str | None, tls_ca: str | None, tls_cert: str | None, tls_key: str | None, is_insecure: bool
) -> "SchedulerAddress":
    """Return the scheduler's address from the options. Raises `BadRequest` if it is not allowed, or Dask is missing."""
    from metaml.cluster.address import scheduler_address
    from metaml.cluster.choice import check_installed

    check_installed()
    return scheduler_address(
        scheduler or "", tls_ca=tls_ca, tls_cert=tls_cert, tls_key=tls_key, is_insecure=is_insecure
    )
