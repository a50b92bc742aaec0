"""Values that exist, for the forms on the pages of a development server."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from keyfold_web.parameters import Operation

Examples: TypeAlias = Callable[[Sequence[str], str], Mapping[str, str]]
"""Values of some fields that are stored together, those of the named user first."""


def examples_route(operations: Iterable[Operation], examples: Examples) -> Route:
    """The values for what each operation requires, by the operation's name."""
    asked = {
        one.name: {each.name: each.public for each in one.parameters if each.required}
        for one in operations
    }

    def values(user: str) -> dict[str, dict[str, str]]:
        return {
            operation: {names[name]: value for name, value in examples([*names], user).items()}
            for operation, names in asked.items()
        }

    async def show(request: Request) -> Response:
        user = request.query_params.get("user", "")
        return JSONResponse(await run_in_threadpool(values, user))

    return Route("/docs/examples.json", show)
