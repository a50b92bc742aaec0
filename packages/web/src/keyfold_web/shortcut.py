"""Finds operations by path without walking Starlette's stack.

Mounts, routers and their middleware take longer than many operations. Whatever is not found here
takes the regular route, with the same result.
"""

from __future__ import annotations

import re
from collections import defaultdict

from starlette.types import ASGIApp, Receive, Scope, Send

Segments = tuple[str | None, ...]
Names = tuple[tuple[int, str], ...]

_PLACEHOLDER = re.compile(r"\{\w+\}")


class Paths:
    """Applications by verb and path; the first match in order of addition is used."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], list[tuple[Segments, Names, ASGIApp | None]]]
        self._known = defaultdict(list)

    def add(self, verb: str, path: str, app: ASGIApp) -> None:
        """Add a path with placeholders in braces; one with a mixed segment takes the regular route.

        So do paths added after it that could match as well: the router decides between them.
        """
        parts = path.split("/")
        mixed = any("{" in one and not _PLACEHOLDER.fullmatch(one) for one in parts)
        names = tuple((at, one[1:-1]) for at, one in enumerate(parts) if one.startswith("{"))
        segments = tuple(None if "{" in one else one for one in parts)
        entry = (segments, (), None) if mixed else (segments, names, app)
        self._known[verb, len(parts)].append(entry)

    def find(self, verb: str, path: str) -> tuple[ASGIApp, dict[str, str]] | None:
        """The application for a path, with its placeholders' values."""
        parts = path.split("/")
        for segments, names, app in self._known.get((verb, len(parts)), ()):
            if all(
                part == wanted if wanted is not None else part
                for part, wanted in zip(parts, segments, strict=True)
            ):
                return None if app is None else (app, {name: parts[at] for at, name in names})
        return None


class Shortcut:
    """Middleware that passes a request to the application of its path."""

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
