"""The typed client that is written from a service."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest
from mypy import api as mypy

from keyfold.serve import Service
from keyfold.serve.auth import DevelopmentTokens
from keyfold.serve.client import client_source
from keyfold.serve.dispatch import Dispatch
from keyfold.serve.rest import rest_app


@pytest.fixture
def written(clubs: Service, tmp_path: Path) -> Iterator[ModuleType]:
    path = tmp_path / "clubs_client.py"
    path.write_text(client_source(type(clubs)))
    spec = importlib.util.spec_from_file_location("clubs_client", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["clubs_client"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["clubs_client"]


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


def test_a_written_client_passes_strict_type_checking(clubs: Service, tmp_path: Path) -> None:
    for name, asynchronous in (("one.py", True), ("two.py", False)):
        (tmp_path / name).write_text(client_source(type(clubs), asynchronous=asynchronous))
    found, errors, status = mypy.run(
        ["--strict", "--cache-dir", str(tmp_path / "cache"), str(tmp_path)]
    )
    assert (status, errors) == (0, ""), found
