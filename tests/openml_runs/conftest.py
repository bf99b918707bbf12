"""Fixtures: the loopback OpenML of the sources' tests."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "sources"))
from openml_fixtures import cache, client, home, server, task_source

__all__ = ["cache", "client", "home", "server", "task_source"]
