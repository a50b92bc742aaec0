"""The typed client that is written from a service."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Literal

import httpx
import pytest
from mypy import api as mypy
from pydantic import Field

from keyfold_web import Payload, Service, anyone, mutation
from keyfold_web.auth import DevelopmentTokens
from keyfold_web.client import client_source
from keyfold_web.dispatch import Dispatch
from keyfold_web.rest import rest_app


@contextmanager
def written_for(service: type[Service], folder: Path) -> Iterator[ModuleType]:
    path = folder / "written_client.py"
    path.write_text(client_source(service))
    spec = importlib.util.spec_from_file_location("written_client", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["written_client"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["written_client"]


@pytest.fixture
def written(clubs: Service, tmp_path: Path) -> Iterator[ModuleType]:
    with written_for(type(clubs), tmp_path) as module:
        yield module


@pytest.fixture
def client(written: ModuleType, clubs: Service, tokens: DevelopmentTokens) -> Any:
    transport = httpx.ASGITransport(rest_app(Dispatch(clubs), tokens))
    return written.ClubsClient("http://test", token=tokens.issue("olga"), transport=transport)


async def test_a_client_calls_every_kind_of_operation(client: Any, written: ModuleType) -> None:
    async with client:
        club = await client.club("chess")
        assert (club.title, club.mood) == ("Chess", written.Mood.CALM)
        new = written.NewClub(title="Go", mood=written.Mood.LOUD)
        created = await client.create_club(new, request_id="r1")
        assert created == await client.create_club(new, request_id="r1")
        renamed = await client.rename_club("chess", "Chess!", expected_version=3)
        assert renamed.version == 4
        said = await client.say("chess", "Hi")
        page = await client.posts("chess", limit=5)
        rest = await client.posts("chess", limit=5, cursor=page.cursor)
        assert [*page.items, *rest.items][-1] == said
        assert [one.club_id for one in await client.newest_clubs(limit=1, tags=["a", "b"])] == [
            "chess"
        ]
        assert await client.delete_club("chess") is None


async def test_what_the_service_refuses_is_raised_with_its_code(
    client: Any, written: ModuleType
) -> None:
    with pytest.raises(written.Problem) as lost:
        await client.club("a/b#c")
    assert (lost.value.status, lost.value.code) == (404, "NOT_FOUND")
    with pytest.raises(written.Problem) as wrong:
        await client.create_club(written.NewClub(title=""))
    assert [one.path for one in wrong.value.fields] == ["title"]


@pytest.mark.parametrize("part", ["", ".", ".."])
async def test_a_part_that_would_lead_to_another_path_is_refused(client: Any, part: str) -> None:
    with pytest.raises(ValueError, match=rf"^{re.escape(repr(part))} cannot be a part of a path"):
        await client.delete_club(part)


@pytest.mark.parametrize(
    ("status", "kind", "body"),
    [
        (502, "text/html", "<h1>Bad gateway</h1>"),
        (503, "application/json", "not json"),
        (500, "application/json", "[]"),
        (307, "text/plain", ""),
    ],
)
async def test_what_a_proxy_answers_is_a_problem_too(
    written: ModuleType, status: int, kind: str, body: str
) -> None:
    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(status, text=body, headers={"content-type": kind})

    async with written.ClubsClient("http://test", transport=httpx.MockTransport(answer)) as client:
        with pytest.raises(written.Problem) as raised:
            await client.club("chess")
    assert (raised.value.status, raised.value.code) == (status, "UNKNOWN")


@pytest.mark.long
def test_a_written_client_passes_strict_type_checking(clubs: Service, tmp_path: Path) -> None:
    for name, asynchronous in (("one.py", True), ("two.py", False)):
        (tmp_path / name).write_text(client_source(type(clubs), asynchronous=asynchronous))
    found, errors, status = mypy.run(
        ["--strict", "--cache-dir", str(tmp_path / "cache"), str(tmp_path)]
    )
    assert (status, errors) == (0, ""), found


class Dog(Payload):
    kind: Literal["dog"] = "dog"
    barks: bool = True


class Cat(Payload):
    kind: Literal["cat"] = "cat"
    lives: int


class Pets(Service):
    """Pets."""

    @mutation("/pets", allow=anyone)
    async def add_pet(self, pet: Annotated[Dog | Cat, Field(discriminator="kind")]) -> Dog | Cat:
        """Add a pet."""
        return pet


async def test_what_tells_kinds_apart_is_sent_though_it_has_a_default(tmp_path: Path) -> None:
    with written_for(Pets, tmp_path) as written:
        transport = httpx.ASGITransport(rest_app(Dispatch(Pets())))
        async with written.PetsClient("http://test", transport=transport) as client:
            assert await client.add_pet(written.Cat(lives=9)) == written.Cat(lives=9)
            assert await client.add_pet(written.Dog()) == written.Dog()


class Shops(Service):
    """Shops."""

    @mutation("/shops/{shop_id}/close", allow=anyone)
    async def close(self, shop_id: str) -> str:
        """Close a shop."""
        return f"{shop_id} is closed"


async def test_an_operation_called_close_leaves_the_client_its_own(tmp_path: Path) -> None:
    with written_for(Shops, tmp_path) as written:
        transport = httpx.ASGITransport(rest_app(Dispatch(Shops())))
        async with written.ShopsClient("http://test", transport=transport) as client:
            assert await client.close_("corner") == "corner is closed"
        assert client._http.is_closed
