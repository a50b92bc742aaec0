"""Operations are found by their paths before Starlette's stack is walked.

Mounts, routers and their middleware take longer than many an operation. What is not found here
goes the long way, which would find the same and answers all the rest.
"""

from __future__ import annotations

import re
from collections import defaultdict

from starlette.types import ASGIApp, Receive, Scope, Send

Segments = tuple[str | None, ...]
Names = tuple[tuple[int, str], ...]

_PLACEHOLDER = re.compile(r"\{\w+\}")


class Paths:
    """Applications by verb and path; of several that fit, the first one added is found."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], list[tuple[Segments, Names, ASGIApp | None]]]
        self._known = defaultdict(list)

    def add(self, verb: str, path: str, app: ASGIApp) -> None:
        """A path has placeholders in braces; one with more in a segment goes the long way.

        So does what would be found after it: which of the two fits, the router knows.
        """
        parts = path.split("/")
        mixed = any("{" in one and not _PLACEHOLDER.fullmatch(one) for one in parts)
        names = tuple((at, one[1:-1]) for at, one in enumerate(parts) if one.startswith("{"))
        segments = tuple(None if "{" in one else one for one in parts)
        entry = (segments, (), None) if mixed else (segments, names, app)
        self._known[verb, len(parts)].append(entry)

    def find(self, verb: str, path: str) -> tuple[ASGIApp, dict[str, str]] | None:
        """The application for a path, with what its placeholders stand for."""
        parts = path.split("/")
        for segments, names, app in self._known.get((verb, len(parts)), ()):
            if all(
                part == wanted if wanted is not None else part
                for part, wanted in zip(parts, segments, strict=True)
            ):
                return None if app is None else (app, {name: parts[at] for at, name in names})
        return None


class Shortcut:
    """Middleware that hands a request to the application its path belongs to."""

    def __init__(self, app: ASGIApp, paths: Paths) -> None:
        self._app, self._paths = app, paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not scope.get("root_path"):
            found = self._paths.find(scope["method"], scope["path"])
            if found is not None:
                app, scope["path_params"] = found
                await app(scope, receive, send)
                return
        await self._app(scope, receive, send)
