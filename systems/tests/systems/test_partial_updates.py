"""What is left out of a change stays; null clears what may be empty and is refused elsewhere.

For every field of every change of every system, over REST and GraphQL.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import httpx
import pytest
from graphql import GraphQLNonNull
from tests.systems.access import Matrix, Scene, Setting

from keyfold_web import Identity
from keyfold_web.app import ApiSettings, create_app
from keyfold_web.development import DevelopmentTokens
from keyfold_web.graphql.schema import build_schema
from keyfold_web.parameters import Operation, takes_none

SETTINGS = {
    "gg_core": "living",
    "inviter": "scene",
    "search_room": "scene",
    "sellers": "selling",
    "tamafriends": "posted",
}
"""What sets the scene in each system's `test_access`."""

SET: dict[str, Any] = {
    "bio": "Hello",
    "context": {"city": "Oslo"},
    "customerPhone": "1",
    "description": "Long",
    "dueAt": "2091-05-01T10:00:00Z",
    "endDate": "2091-05-01",
    "endTimestamp": "2101-05-01T10:00:00Z",
    "language": "de",
    "link": "https://example.org/1",
    "location": "Oslo",
    "notes": "By the door",
    "pet": {"name": "Mochi"},
    "picture": "https://example.org/1.png",
    "place": "Here",
    "price": 900,
    "rooms": 2.5,
    "surface": 40,
    "tags": ["a"],
}
"""Something to clear, by the name of its field."""
CLEAR: tuple[Any, ...] = (None, "", [], {})
LANGUAGE = "en"
STAMPS = {"version", "updatedAt"}


@dataclass(frozen=True)
class Change:
    """An operation that changes some fields of a thing, and somebody who may."""

    system: str
    setting: Setting
    operation: Operation
    caller: Identity

    @property
    def fields(self) -> dict[str, bool]:
        """Whether null clears it, for every field that may be left out."""
        model: Any = self.operation.body_type
        fields = [one for one in model.model_fields.values() if not one.is_required()]
        return {one.alias: takes_none(one.annotation) for one in fields}


def changes() -> list[Change]:
    found = []
    for system, setting in SETTINGS.items():
        access = import_module(f"tests.systems.{system}.test_access")
        matrix: Matrix = access.MATRIX
        operations = import_module(f"keyfold_systems.{system}.service").service(None).operations
        for one in operations.values():
            if one.verb == "PATCH":
                (who, *_) = [who for who, cell in matrix.rows[one.name].items() if cell == "yes"]
                found.append(Change(system, getattr(access, setting), one, matrix.callers[who]))
    return [one for one in found if one.fields]


class Sender:
    """Sends changes of the thing in a scene."""

    def __init__(self, change: Change, scene: Scene, http: httpx.AsyncClient) -> None:
        self._operation, self._scene, self._http = change.operation, scene, http

    async def state(self, **fields: Any) -> dict[str, Any]:
        """The thing after a change over REST, or as it is."""
        answer = await self._rest(fields)
        assert answer.status_code == 200, answer.text
        return {name: one for name, one in answer.json().items() if name not in STAMPS}

    async def refused(self, surface: str, /, **fields: Any) -> list[str]:
        """The fields that a change is refused for."""
        if surface == "rest":
            return [one["path"] for one in (await self._rest(fields)).json().get("errors", [])]
        answer = await self._graphql(fields)
        errors = answer.get("errors", [])
        return [
            field["path"].rpartition(".")[2]
            for one in errors
            for field in one["extensions"]["errors"]
        ]

    async def _rest(self, fields: dict[str, Any]) -> httpx.Response:
        path = self._operation.path.format(**self._scene.there)
        return await self._http.patch(path, json=fields)

    async def _graphql(self, fields: dict[str, Any]) -> Any:
        name, there = self._operation.name, self._scene.there
        mutations = build_schema(type(self._scene.service)).mutation_type
        assert mutations is not None
        arguments = mutations.fields[name].args
        values = {one: there[one] for one in arguments if one in there} | {"input": fields}
        needed = {one: kind.type for one, kind in arguments.items() if one in values}
        assert all(isinstance(one, GraphQLNonNull) for one in needed.values())
        declared = ", ".join(f"${one}: {kind}" for one, kind in needed.items())
        passed = ", ".join(f"{one}: ${one}" for one in needed)
        query = f"mutation ({declared}) {{ {name}({passed}) {{ __typename }} }}"
        body = {"query": query, "variables": values}
        return (await self._http.post("/graphql", json=body)).json()


@asynccontextmanager
async def sending(change: Change) -> AsyncIterator[Sender]:
    tokens = DevelopmentTokens()
    token = tokens.issue(change.caller.id, *change.caller.groups)
    async with change.setting() as scene:
        app = create_app([scene.service], ApiSettings(tokens=tokens))
        base = f"http://localhost/{scene.service.name}"
        headers = {"authorization": f"Bearer {token}"}
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url=base, headers=headers) as http:
            yield Sender(change, scene, http)


CHANGES = changes()


def test_every_system_has_changes() -> None:
    assert {one.system for one in CHANGES} == set(SETTINGS)


@pytest.mark.parametrize("surface", ["rest", "graphql"])
@pytest.mark.parametrize("change", CHANGES, ids=lambda one: f"{one.system}-{one.operation.name}")
async def test_a_field_is_kept_cleared_or_refused(change: Change, surface: str) -> None:
    async with sending(change) as sender:
        for field, clears in change.fields.items():
            if not clears:
                before = await sender.state()
                assert await sender.refused(surface, **{field: None}) == [field]
                assert await sender.state() == before
                continue
            value = SET.get(f"{change.system} {field}", SET[field])
            before = await sender.state(**{field: value})
            assert before[field] not in (*CLEAR, LANGUAGE)
            assert await sender.refused(surface) == []
            assert await sender.state() == before
            assert await sender.refused(surface, **{field: None}) == []
            after = await sender.state()
            assert after[field] in (LANGUAGE,) if field == "language" else CLEAR
            assert after == before | {field: after[field]}
