"""The interface of every backend: one call, one close."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, runtime_checkable


class Client(Protocol):
    """A backend with DynamoDB's API. Errors are those of `keyfold_engine.errors`."""

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]: ...

    def close(self) -> None: ...


class AsyncClient(Protocol):
    """`Client` for an event loop."""

    async def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]: ...

    async def close(self) -> None: ...


@runtime_checkable
class Notifying(Protocol):
    """A backend in this process that announces its commits."""

    def on_commit(self, tell: Callable[[], None]) -> Callable[[], None]:
        """Call `tell` after each commit; calling the result ends that."""
        ...
