"""What a suspension does to somebody, in whichever system."""

from __future__ import annotations

from typing import Any

from keyfold_web import Service
from tests.systems.conftest import served

ASKED = 'mutation ($id: String!) { suspendUser(userId: $id, hours: 2, reason: "Spam") { until } }'


async def check_suspension(
    service: Service, who: str, write: tuple[str, str, Any], read: str
) -> None:
    """Who is suspended reads and does not write, hears why and until when, and writes again."""
    path, body = f"/users/{who}/suspension", {"hours": 2, "reason": "Spam"}
    async with served(service) as web:
        them, mo = web[who], web["mo:moderator"]
        assert (await them.put(path, json=body)).status_code == 403
        method, place, sent = write
        assert (await them.request(method, place, json=sent)).is_success
        asked = (await mo.post("/graphql", json={"query": ASKED, "variables": {"id": who}})).json()
        until = asked["data"]["suspendUser"]["until"]
        nobody = await mo.put("/users/nobody/suspension", json=body)
        assert (nobody.status_code, nobody.json()["detail"]) == (
            404,
            'User "nobody" does not exist.',
        )
        refused = await them.request(method, place, json=sent)
        assert (refused.status_code, refused.json()["code"]) == (403, "SUSPENDED")
        assert refused.json()["detail"] == f"You may not write until {until}: Spam"
        assert (await them.get(read)).status_code == 200
        found = (await them.get(path)).json()
        assert (found["until"], found["reason"]) == (until, "Spam")
        assert (await them.post(f"/users/{who}/notifications/read", json={})).is_success
        data = (await them.get(f"/people/{who}/data")).json()["items"]
        assert [one["item"]["reason"] for one in data if one["kind"] == "suspension"] == ["Spam"]
        for status in (204, 404):
            ended = await mo.delete(f"{path}?reason=Over")
            assert ended.status_code == status
        assert (await them.request(method, place, json=sent)).is_success
        trail = [one["action"] for one in (await mo.get("/audit")).json()["items"]]
        assert trail == ["restore", "suspend"]
