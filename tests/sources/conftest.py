"""Fixtures of the sources."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
from openml_fixtures import cache, client, home, server, task_source

__all__ = ["cache", "client", "home", "server", "task_source"]
