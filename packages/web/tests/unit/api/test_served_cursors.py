"""Pages over REST and on Lambda: cursors, their secret, and items that cannot be read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import httpx
import orjson
import pytest

from keyfold import Design, Entity, Key, Page, Query
from keyfold.errors import KeyfoldError
from keyfold.runtime.cursor import VARIABLE
from keyfold_web import PageRequest, Service, authenticated, query
from keyfold_web.development import DevelopmentTokens
from keyfold_web.dispatch import Dispatch, OperationMetrics
from keyfold_web.lambdas import LambdaHandler
from keyfold_web.metrics import MetricRegistry
from keyfold_web.process import ApiOptions
from keyfold_web.rest import rest_app

design = Design("lists")
table = design.table("lists")


class Entry(Entity, table=table):
    list_id: str
    number: int
    key = Key("LIST#{list_id}", "ENTRY#{number:04d}")


@design.pattern(requests=1)
def entries_of(list_id: str, limit: int = 2) -> Query[Entry]:
    return Entry.key.query(list_id=list_id).limit(limit)


class Lists(Service):
    """Lists."""

    design: ClassVar[Design] = design

    @query("/lists/{list_id}", allow=authenticated)
    async def entries(self, list_id: str, page: PageRequest) -> Page[Entry]:
        """A list."""
        return await entries_of.after(page.cursor)(self.db, list_id, limit=page.limit)


async def test_a_cursor_is_one_callers_and_every_wrong_one_gets_the_same_400() -> None:
    tokens = DevelopmentTokens()
    async with await design.open_async(":memory:") as db:
        await db.put_many([Entry(list_id=one, number=n) for one in "ab" for n in range(5)])
        transport = httpx.ASGITransport(rest_app(Dispatch(Lists(db)), tokens))
        async with httpx.AsyncClient(transport=transport, base_url="http://lists") as web:

            async def page(who: str, path: str, cursor: str = "") -> httpx.Response:
                headers = {"authorization": f"Bearer {tokens.issue(who)}"}
                asked = {"limit": "2", **({"cursor": cursor} if cursor else {})}
                return await web.get(path, params=asked, headers=headers)

            first = (await page("mia", "/lists/a")).json()["cursor"]
            following = (await page("mia", "/lists/a", first)).json()
            assert [entry["number"] for entry in following["items"]] == [2, 3]
            wrong = [
                await page("olga", "/lists/a", first),
                await page("mia", "/lists/b", first),
                await page("mia", "/lists/a", first[:-2]),
                await page("mia", "/lists/a", "é" + first),
                await page("mia", "/lists/a", "AAAA"),
            ]
            for answer in wrong:
                assert (answer.status_code, answer.json()["code"]) == (400, "CURSOR_REFUSED")
            assert len({answer.json()["detail"] for answer in wrong}) == 1


@pytest.mark.parametrize("backend", ["dynamodb://eu-west-1", "http://127.0.0.1:1"])
def test_nothing_is_served_beyond_development_without_a_secret_that_all_share(
    backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    target = f"{__name__}:Lists"
    options = ApiOptions(targets=[target], backend=backend, issuer="https://i", audience="a")
    with pytest.raises(KeyfoldError, match=f"Set {VARIABLE} or --cursor-secret-file"):
        options.check()
    with pytest.raises(KeyfoldError, match=f"Set {VARIABLE} or cursor_secret="):
        LambdaHandler(Lists, backend)
    LambdaHandler(Lists, backend, cursor_secret="0123456789abcdef")
    replace(options, cursor_secret="0123456789abcdef").check()
    monkeypatch.setenv(VARIABLE, "0123456789abcdef")
    LambdaHandler(Lists, backend)
    options.check()


def test_containers_open_each_others_cursors(tmp_path: Path) -> None:
    path, secret = str(tmp_path / "lists.db"), "0123456789abcdef"
    with design.open(path) as db:
        db.put_many([Entry(list_id="a", number=n) for n in range(5)])

    def asked(cursor: str = "") -> Any:
        # A container of its own each time.
        handler = LambdaHandler(Lists, path, cursor_secret=secret)
        event = {
            "version": "2.0",
            "rawPath": "/lists/a",
            "rawQueryString": f"limit=2&cursor={cursor}" if cursor else "limit=2",
            "headers": {},
            "requestContext": {
                "http": {"method": "GET", "path": "/lists/a", "sourceIp": "127.0.0.1"},
                "authorizer": {"jwt": {"claims": {"sub": "mia"}}},
            },
        }
        try:
            return orjson.loads(handler(event)["body"])
        finally:
            assert handler._dispatch is not None
            handler._loop.run_until_complete(handler._dispatch.service.db.close())
            handler._loop.close()

    first = asked()
    assert [entry["number"] for entry in asked(first["cursor"])["items"]] == [2, 3]


async def test_a_served_page_says_logs_and_counts_an_item_that_cannot_be_read(
    caplog: pytest.LogCaptureFixture,
) -> None:
    registry, tokens = MetricRegistry(), DevelopmentTokens()
    async with await design.open_async(":memory:", on_undecodable="log") as db:
        await db.put_many([Entry(list_id="a", number=n) for n in range(3)])
        broken = {**Entry.__spec__.encode(Entry(list_id="a", number=1)), "number": {"S": "x"}}
        await db.client.call("PutItem", {"TableName": "lists", "Item": broken})
        dispatch = Dispatch(Lists(db), metrics=OperationMetrics(registry))
        transport = httpx.ASGITransport(rest_app(dispatch, tokens))
        async with httpx.AsyncClient(transport=transport, base_url="http://lists") as web:
            headers = {"authorization": f"Bearer {tokens.issue('mia')}"}
            answer = await web.get("/lists/a", params={"limit": "3"}, headers=headers)
            await db.delete(Entry.key(list_id="a", number=1))
            whole = await web.get("/lists/a", params={"limit": "3"}, headers=headers)
    assert answer.status_code == 200
    assert answer.headers["keyfold-left-out"] == "1"
    assert "keyfold-left-out" not in whole.headers
    assert [entry["number"] for entry in answer.json()["items"]] == [0, 2]
    assert "LIST#a" in caplog.text
    assert "number" in caplog.text
    [line] = [one for one in registry.text().splitlines() if one.startswith("keyfold_undecodable")]
    assert line.endswith(" 1")
