"""The log of a process that serves: one JSON object per line, on stderr."""

from __future__ import annotations

import logging
from typing import Final

from keyfold_engine.tracing import JsonLines
from keyfold_web.problems import problem_for

log: Final = logging.getLogger("keyfold_web")
_NAMES: Final = ("keyfold", "keyfold_engine", "keyfold_web")


def log_json_lines(level: int = logging.INFO, *, replace: bool = False) -> None:
    """Log to stderr as JSON: keyfold's records from this level, those of others from WARNING.

    Where the application has set up the root logger, its handlers stay, unless they are replaced.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=replace)
    for name in _NAMES:
        logging.getLogger(name).setLevel(level)


def log_failure(name: str, error: Exception) -> None:
    """Log an error of which the caller learns only the instance."""
    if problem_for(error).status >= 500:
        log.error("%s failed", name, exc_info=error)
