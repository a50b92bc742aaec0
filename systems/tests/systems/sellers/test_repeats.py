"""Every mutation of Sellers, sent twice over HTTP."""

from __future__ import annotations

from typing import Any

from tests.systems.conftest import Recorder, served
from tests.systems.repeats import Step, check_repeats

from keyfold_systems.sellers.service import Sellers

from .conftest import World

PIE = {"productId": "pie", "productName": "Pie", "price": "3.50"}
CATALOG = {"catalogName": "Pies", "products": [PIE]}
SEASON = {"profileId": "{profileId}", "seasonName": "Spring", "startDate": "2030-03-01"}
ORDER = {
    "seasonId": "{seasonId}",
    "customerName": "Ms. Doe",
    "lineItems": [{"productId": "pie", "quantity": 2}],
    "paymentMethod": "CASH",
    "orderDate": "2030-03-02",
}
SHARE = {"profileId": "{profileId}", "targetAccountId": "mia", "permissions": ["READ"]}
INVITE = {"profileId": "{profileId}", "permissions": ["READ"]}


def step(operation: str, who: str, sent: str, body: Any = None, other: Any = None) -> Step:
    """A step like "POST /orders → orderId"."""
    request, _, keep = sent.partition(" → ")
    method, _, path = request.partition(" ")
    if body is None:
        other = path.rpartition("/")[0] + "/none" if other is None else other
    return Step(operation, who, method, path, body, other, keep)


STEPS = [
    step("createMyAccount", "olga", "POST /accounts", {"email": "o@x.org"}, {"email": "p@x.org"}),
    step("createMyAccount", "mia", "POST /accounts", {"email": "m@x.org"}, {"email": "n@x.org"}),
    step("updateMyAccount", "olga", "PATCH /accounts/me", {"givenName": "O"}, {"givenName": "P"}),
    step(
        "createSellerProfile",
        "olga",
        "POST /profiles → profileId",
        {"sellerName": "Pies"},
        {"sellerName": "Cakes"},
    ),
    step(
        "updateSellerProfile",
        "olga",
        "PUT /profiles/{profileId}",
        {"sellerName": "Cakes"},
        {"sellerName": "Tarts"},
    ),
    step(
        "createCatalog",
        "olga",
        "POST /catalogs → catalogId",
        CATALOG,
        {**CATALOG, "catalogName": "Cakes"},
    ),
    step(
        "updateCatalog",
        "olga",
        "PATCH /catalogs/{catalogId}",
        {"isPublicStr": "true"},
        {"isPublicStr": "false"},
    ),
    step(
        "createSeason",
        "olga",
        "POST /seasons → seasonId",
        {**SEASON, "catalogId": "{catalogId}"},
        {**SEASON, "catalogId": "none"},
    ),
    step(
        "updateSeason",
        "olga",
        "PATCH /seasons/{seasonId}",
        {"seasonName": "Summer"},
        {"seasonName": "Autumn"},
    ),
    step(
        "createOrder", "olga", "POST /orders → orderId", ORDER, {**ORDER, "paymentMethod": "OTHER"}
    ),
    step("updateOrder", "olga", "PATCH /orders/{orderId}", {"notes": "x"}, {"notes": "y"}),
    step(
        "requestSeasonReport",
        "olga",
        "POST /seasons/{seasonId}/report",
        other="/seasons/none/report",
    ),
    step("shareProfileDirect", "olga", "POST /shares", SHARE, {**SHARE, "permissions": ["WRITE"]}),
    step("revokeShare", "olga", "DELETE /profiles/{profileId}/shares/mia"),
    *(
        step(
            "createProfileInvite",
            "olga",
            "POST /invites → inviteCode",
            INVITE,
            {**INVITE, "permissions": ["WRITE"]},
        )
        for _ in "ab"
    ),
    step(
        "redeemProfileInvite",
        "mia",
        "POST /invites/{inviteCode}/redeem",
        other="/invites/none/redeem",
    ),
    step("revokeProfileInvite", "olga", "DELETE /invites/{inviteCode}"),
    step("deleteOrder", "olga", "DELETE /orders/{orderId}"),
    step("deleteSeason", "olga", "DELETE /seasons/{seasonId}"),
    step("deleteCatalog", "olga", "DELETE /catalogs/{catalogId}"),
    step("deleteSellerProfile", "olga", "DELETE /profiles/{profileId}"),
]


class _AllTables(Recorder):
    """The items of every table of the system."""

    def __init__(self, world: World, recorder: Recorder) -> None:
        super().__init__(recorder, "")
        self._tables = world.service.design.tables

    async def items(self) -> list[dict[str, Any]]:
        found = []
        for table in self._tables:
            answer = await self.call("Scan", {"TableName": table})
            found += [{"PK": {"S": table}, **item} for item in answer["Items"]]
        return sorted(found, key=str)


def test_every_mutation_is_repeated() -> None:
    mutations = {name for name, one in Sellers.operations.items() if one.kind == "mutation"}
    assert {one.operation for one in STEPS} == mutations


async def test_a_repeated_request_has_one_effect_and_one_answer(
    world: World, client: Recorder
) -> None:
    async with served(world.service) as web:
        await check_repeats(web, _AllTables(world, client), STEPS)


async def test_what_was_done_is_forgotten_after_a_day(world: World, client: Recorder) -> None:
    begun = int(world.db.context.clock.now())
    async with served(world.service) as web:
        key = {"idempotency-key": "k"}
        await web["olga"].post("/accounts", json={"email": "olga@x.org"}, headers=key)
    answer = await client.call("Scan", {"TableName": "SellersInvites"})
    (done,) = answer["Items"]
    ended = int(world.db.context.clock.now())
    assert begun <= int(done["expiresAt"]["N"]) - 24 * 3600 <= ended
