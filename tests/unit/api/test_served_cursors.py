"""Cursors over REST: one caller's, and one 400 for whatever is wrong with them."""

from __future__ import annotations

import httpx

from keyfold import AsyncDb, Design, Entity, Key, Page, Query
from keyfold.api import PageRequest, Service, authenticated, query
from keyfold.api.auth import DevelopmentTokens
from keyfold.api.dispatch import Dispatch
from keyfold.api.rest import rest_app

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

    def __init__(self, db: AsyncDb) -> None:
        self.db = db

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
