"""The program `metaml`, also started by `python -m metaml_cli`. Ctrl-C ends it without a traceback at any time."""

import signal


def main() -> None:
    """Run the command line. While libraries are imported, and after the command, Ctrl-C ends the process at once."""
    # A background job of a shell script ignores Ctrl-C. Keep it so.
    is_usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_usual:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from metaml_cli.main import app

    if is_usual:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        app()
    finally:
        if is_usual:
            signal.signal(signal.SIGINT, signal.SIG_DFL)


if __name__ == "__main__":
    main()
