"""Services whose mutations happen once for a request id."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import ClassVar

import httpx
import pytest

from keyfold import AsyncDb, Design, Entity, Key
from keyfold_web import Arguments, Identity, Service, authenticated, mutation, query, rule
from keyfold_web.development import DevelopmentTokens
from keyfold_web.dispatch import Caller, Dispatch
from keyfold_web.graphql.endpoint import Executor
from keyfold_web.graphql.request import GraphQLRequest
from keyfold_web.rest import rest_app

design = Design("notes")
table = design.table("notes")
MIA, OLGA = Identity.of("mia"), Identity.of("olga")


class Note(Entity, table=table):
    """Something written down."""

    note_id: str
    text: str
    owner_id: str

    key = Key("NOTE#{note_id}", "NOTE")


@rule
async def owner(service: Notes, caller: Identity, arguments: Arguments) -> bool:
    note = await service.db.find(Note.key(note_id=arguments["note_id"]))
    return note is not None and note.owner_id == caller.id


class Notes(Service):
    """Notes of people."""

    design: ClassVar[Design] = design

    def __init__(self, db: AsyncDb) -> None:
        self.db = db
        self.made = 0

    @mutation("/notes", allow=authenticated, status=201)
    async def write(self, text: str, caller: Identity) -> Note:
        """Write a note."""
        self.made += 1
        return await self.db.create(Note(note_id=str(self.made), text=text, owner_id=caller.id))

    @mutation("/notes/{note_id}", method="DELETE", allow=owner)
    async def tear_up(self, note_id: str) -> None:
        """Tear a note up."""
        await self.db.delete(Note.key(note_id=note_id), must_exist=True)

    @mutation("/links", allow=authenticated, remembered=False)
    async def link(self) -> str:
        """A link that is good for a while."""
        self.made += 1
        return str(self.made)

    @query("/notes/{note_id}", allow=owner)
    async def note(self, note_id: str) -> Note:
        """A note."""
        return await self.db.get(Note.key(note_id=note_id))


@pytest.fixture
async def service() -> AsyncIterator[Notes]:
    async with await design.open_async(":memory:", create_tables=True) as db:
        yield Notes(db)


@pytest.fixture
async def rest(service: Notes) -> AsyncIterator[httpx.AsyncClient]:
    tokens = DevelopmentTokens()
    transport = httpx.ASGITransport(rest_app(Dispatch(service), tokens))
    headers = {"authorization": f"Bearer {tokens.issue('mia')}"}
    async with httpx.AsyncClient(
        transport=transport, base_url="http://localhost", headers=headers
    ) as client:
        yield client


async def test_a_repeated_request_gets_the_first_ones_result(
    rest: httpx.AsyncClient, service: Notes
) -> None:
    key = {"idempotency-key": "k"}
    first = await rest.post("/notes", json={"text": "Hi"}, headers=key)
    again = await rest.post("/notes", json={"text": "Hi"}, headers=key)
    assert (first.status_code, first.json()) == (again.status_code, again.json())
    assert service.made == 1
    other = await rest.post("/notes", json={"text": "Hi"})
    assert other.json()["noteId"] != first.json()["noteId"]


async def test_another_payload_under_one_key_is_refused(rest: httpx.AsyncClient) -> None:
    key = {"idempotency-key": "k"}
    await rest.post("/notes", json={"text": "Hi"}, headers=key)
    refused = await rest.post("/notes", json={"text": "Ho"}, headers=key)
    assert refused.status_code == 422
    assert refused.json()["code"] == "REQUEST_REUSED"


async def test_a_deletion_may_be_repeated_though_nothing_is_left_to_own(
    rest: httpx.AsyncClient,
) -> None:
    await rest.post("/notes", json={"text": "Hi"})
    key = {"idempotency-key": "k"}
    assert (await rest.delete("/notes/1", headers=key)).status_code == 204
    assert (await rest.delete("/notes/1", headers=key)).status_code == 204
    assert (await rest.delete("/notes/1")).status_code == 403


async def test_what_was_refused_is_not_remembered(rest: httpx.AsyncClient) -> None:
    key = {"idempotency-key": "k"}
    assert (await rest.delete("/notes/1", headers=key)).status_code == 403
    await rest.post("/notes", json={"text": "Hi"})
    assert (await rest.delete("/notes/1", headers=key)).status_code == 204


async def test_graphql_takes_the_request_id_as_an_argument(service: Notes) -> None:
    executor = Executor(Dispatch(service), introspection=False)
    ask = 'mutation { write(text: "Hi", requestId: "k") { noteId } }'
    answers = [
        (await executor.run(GraphQLRequest(query=ask), Caller(who)))[1] for who in (MIA, MIA, OLGA)
    ]
    assert [one["data"]["write"]["noteId"] for one in answers] == ["1", "1", "2"]


def test_what_reads_or_is_not_remembered_takes_no_request_id() -> None:
    assert {name: one.takes_request_id for name, one in Notes.operations.items()} == {
        "write": True,
        "tearUp": True,
        "link": False,
        "note": False,
    }


async def test_what_is_not_remembered_is_made_again_and_kept_nowhere(
    service: Notes, rest: httpx.AsyncClient
) -> None:
    headers = {"idempotency-key": "k"}
    first, second = [(await rest.post("/links", headers=headers)).json() for _ in range(2)]
    assert first != second
    assert (await service.db.client.call("Scan", {"TableName": "notes"}))["Count"] == 0
