"""How quickly the command starts: `metaml --help` against `import typer`, in turns, medians.

python benchmarks/startup.py
"""

import statistics
import subprocess
import sys
import time

COMMANDS = {
    "import typer": [sys.executable, "-c", "import typer"],
    "metaml --help": [sys.executable, "-m", "metaml_cli", "--help"],
    "metaml kb info": [sys.executable, "-m", "metaml_cli", "kb", "info", "--kb", ":memory:"],
}


def main() -> None:
    seconds: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(15):
        for name, command in COMMANDS.items():
            start = time.perf_counter()
            subprocess.run(command, capture_output=True, check=False)
            seconds[name].append(time.perf_counter() - start)
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    for name, value in medians.items():
        print(f"{name:<16}{value * 1e3:8.0f} ms   {value / medians['import typer']:.2f} x import typer")


if __name__ == "__main__":
    main()
