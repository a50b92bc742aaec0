"""AppSync's direct resolvers: one field in an event, or a batch of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import to_jsonable_python

from keyfold_web.arguments import from_values
from keyfold_web.auth import Tokens, authenticate
from keyfold_web.dispatch import Caller, Dispatch
from keyfold_web.identity import Identity
from keyfold_web.log import log_failure
from keyfold_web.parameters import RelatedField
from keyfold_web.problems import Missing, NotAuthenticated, Problem, problem_for

Event = Mapping[str, Any]


class AppSyncError(Exception):
    """An error for AppSync, which shows the subclass's name as the error's type."""


class Resolver:
    """Resolves fields with a service's operations and related fields."""

    def __init__(self, dispatch: Dispatch, tokens: Tokens | None, admin_group: str) -> None:
        self._dispatch, self._tokens, self._admin_group = dispatch, tokens, admin_group
        related = dispatch.service.related
        self._related = {(one.parent.__name__, one.name): one for one in related}

    async def one(self, event: Event) -> Any:
        """The value of a field; raises errors in AppSync's form."""
        try:
            return await self._field(event)
        except Exception as error:
            problem = problem_for(error)
            # AppSync shows the class's name as errorType.
            raise type(problem.code, (AppSyncError,), {})(problem.detail) from None

    async def batch(self, events: list[Event]) -> list[dict[str, Any]]:
        """Each event's value or error, in order."""
        info = events[0]["info"]
        related = self._related.get((info["parentTypeName"], info["fieldName"]))
        if related is None:
            return [await self._one_of_batch(event) for event in events]
        return await self._related_batch(related, events)

    async def _field(self, event: Event) -> Any:
        operation = self._dispatch.service.operations.get(event["info"]["fieldName"])
        if operation is None:
            raise Missing("Operation not found.")
        caller = Caller(await self._identity(event))
        values = dict(event.get("arguments") or {})
        result = await self._dispatch.call(
            operation, lambda: from_values(operation, values), caller, "lambda"
        )
        if operation.result is type(None):
            return True
        try:
            if operation.item is not None:
                return _connection(_plain(operation.items_answer, result.items), result.cursor)
            return _plain(operation.answer, result)
        except Exception as error:
            log_failure(operation.name, error)
            raise

    async def _one_of_batch(self, event: Event) -> dict[str, Any]:
        try:
            return {"data": await self._field(event)}
        except Exception as error:
            return _batch_error(problem_for(error))

    async def _related_batch(
        self, related: RelatedField, events: list[Event]
    ) -> list[dict[str, Any]]:
        parents = TypeAdapter(list[related.parent])  # type: ignore[name-defined]
        try:
            given: dict[str, Any] = {}
            if related.takes_caller:
                given["caller"] = await self._identity(events[0])
            found = await related.function(
                self._dispatch.service,
                parents.validate_python([event["source"] for event in events]),
                **given,
            )
        except Exception as error:
            log_failure(f"{related.parent.__name__}.{related.name}", error)
            return [_batch_error(problem_for(error))] * len(events)
        return [{"data": to_jsonable_python(one, by_alias=True)} for one in found]

    async def _identity(self, event: Event) -> Identity:
        identity = event.get("identity") or {}
        claims = identity.get("claims") or identity.get("resolverContext")
        if claims and claims.get("sub"):
            return Identity.from_claims(claims, admin_group=self._admin_group)
        if identity:
            raise NotAuthenticated("This kind of identity is not supported.")
        headers = (event.get("request") or {}).get("headers") or {}
        return await authenticate(self._tokens, headers.get("authorization"))


def _plain(adapter: TypeAdapter[Any], value: Any) -> Any:
    return adapter.dump_python(value, mode="json", by_alias=True, warnings="error")


def _connection(nodes: list[Any], cursor: str | None) -> dict[str, Any]:
    last = len(nodes) - 1
    return {
        "nodes": nodes,
        "edges": [
            {"node": node, "cursor": cursor if place == last else None}
            for place, node in enumerate(nodes)
        ],
        "pageInfo": {"endCursor": cursor, "hasNextPage": cursor is not None},
    }


def _batch_error(problem: Problem) -> dict[str, Any]:
    return {"data": None, "errorType": problem.code, "errorMessage": problem.detail}
