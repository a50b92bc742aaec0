"""Sellers over HTTP: the document's names in GraphQL, ids in their old and their clean form."""

from __future__ import annotations

from base64 import b64decode
from collections import Counter
from typing import Any

import httpx
import pytest
from tests.systems.conftest import Recorder, served

from keyfold_web import Identity, Missing, NotAuthenticated
from keyfold_web.app import ApiSettings, create_app
from keyfold_web.development import DevelopmentTokens
from keyfold_web.dispatch import Caller, Dispatch

from .conftest import World

PRODUCTS = [{"productId": "mint"}, {"productId": "oat"}]

OPERATIONS = [
    "getMyAccount",
    "getAccountByEmail",
    "getSellerProfile",
    "listMyProfiles",
    "createSellerProfile",
    "updateSellerProfile",
    "deleteSellerProfile",
    "shareProfileDirect",
    "revokeShare",
    "getShare",
    "listSharesByProfile",
    "listSharedProfiles",
    "createProfileInvite",
    "redeemProfileInvite",
    "revokeProfileInvite",
    "listInvitesByProfile",
    "getInviteDetails",
    "createSeason",
    "getSeason",
    "listSeasonsByProfile",
    "updateSeason",
    "deleteSeason",
    "listCatalogUsage",
    "createOrder",
    "getOrder",
    "listOrdersBySeason",
    "listOrdersByProfile",
    "updateOrder",
    "deleteOrder",
    "requestSeasonReport",
    "createCatalog",
    "getCatalog",
    "listMyCatalogs",
    "listPublicCatalogs",
    "updateCatalog",
    "deleteCatalog",
]


@pytest.fixture
def tokens() -> DevelopmentTokens:
    return DevelopmentTokens()


@pytest.fixture
def http(world: World, tokens: DevelopmentTokens) -> httpx.AsyncClient:
    app = create_app([world.service], ApiSettings(development=True, tokens=tokens))
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://localhost/sellers"
    )


def signed_in(tokens: DevelopmentTokens, who: str) -> dict[str, str]:
    return {"authorization": f"Bearer {tokens.issue(who)}"}


def test_the_service_has_the_operations_of_the_document(world: World) -> None:
    assert set(OPERATIONS) <= set(world.service.operations)


async def test_a_season_from_its_start_to_its_report_in_graphql(
    http: httpx.AsyncClient, tokens: DevelopmentTokens
) -> None:
    async def ask(query: str, **variables: Any) -> Any:
        body = {"query": query, "variables": variables}
        answer = await http.post("/graphql", json=body, headers=signed_in(tokens, "olga"))
        assert "errors" not in answer.json(), answer.text
        return answer.json()["data"]

    profile = (
        await ask('mutation { createSellerProfile(sellerName: "Pies") { profileId isOwner } }')
    )["createSellerProfile"]
    assert profile["isOwner"]
    catalog = await ask(
        "mutation ($input: NewCatalogInput!) { createCatalog(input: $input) { catalogId } }",
        input={
            "catalogName": "Pies",
            "products": [{"productId": "p", "productName": "Pie", "price": "3.50"}],
        },
    )
    season = await ask(
        "mutation ($input: NewSeasonInput!) { createSeason(input: $input) { seasonId } }",
        input={
            "profileId": f"PROFILE#{profile['profileId']}",
            "seasonName": "Spring",
            "catalogId": catalog["createCatalog"]["catalogId"],
            "startDate": "2026-03-01",
        },
    )
    season_id = season["createSeason"]["seasonId"]
    line = {"productId": "p", "productName": "Pie", "quantity": 3, "pricePerUnit": "3.50"}
    await ask(
        "mutation ($input: NewOrderInput!) { createOrder(input: $input) { totalAmount } }",
        input={
            "seasonId": season_id,
            "customerName": "Ms. Doe",
            "lineItems": [line],
            "paymentMethod": "CASH",
            "orderDate": "2026-03-02",
        },
    )
    answer = await ask(
        "mutation ($id: String!) { requestSeasonReport(seasonId: $id) { mediaType content } }",
        id=season_id,
    )
    report = answer["requestSeasonReport"]
    assert report["mediaType"] == "text/csv"
    assert ",Pie,3,3.50,10.50,CASH," in b64decode(report["content"]).decode()


async def test_a_list_leads_to_catalogs_and_seasons_by_one_request_each(
    world: World, client: Recorder
) -> None:
    profile = await world.profile()
    seasons = [
        await world.season(profile, (await world.catalog()).catalog_id, name)
        for name in ("Spring", "Summer")
    ]
    for season in seasons:
        await world.order(season.season_id)
    query = """query ($id: String!) {
        listSeasonsByProfile(profileId: $id) { nodes { catalog { catalogName } } }
        listOrdersByProfile(profileId: $id) {
          nodes { season { seasonName catalog { products { productId } } } }
        }
    }"""
    async with served(world.service) as web:
        client.requests.clear()
        body = {"query": query, "variables": {"id": profile}}
        found = (await web["olga"].post("/graphql", json=body)).json()
    assert found["data"] == {
        "listSeasonsByProfile": {"nodes": [{"catalog": {"catalogName": "Cookies"}}] * 2},
        "listOrdersByProfile": {
            "nodes": [
                {"season": {"seasonName": name, "catalog": {"products": PRODUCTS}}}
                for name in ("Spring", "Summer")
            ]
        },
    }
    asked = Counter(operation for operation, _ in client.requests)
    assert asked == {"Query": 2, "BatchGetItem": 2 + 3}


async def test_ids_are_taken_with_and_without_their_prefix(
    http: httpx.AsyncClient, tokens: DevelopmentTokens
) -> None:
    olga = signed_in(tokens, "olga")
    made = await http.post("/profiles", json={"sellerName": "Pies"}, headers=olga)
    profile_id = made.json()["profileId"]
    for form in (profile_id, f"PROFILE%23{profile_id}"):
        found = await http.get(f"/profiles/{form}", headers=olga)
        assert (found.status_code, found.json()["profileId"]) == (200, profile_id)
    refused = await http.get(f"/profiles/{profile_id}", headers=signed_in(tokens, "mia"))
    assert refused.status_code == 403


@pytest.mark.parametrize(
    ("id", "said"),
    [("x" * 65, "has more than 64 characters"), ("PROFILE%23", "must not be empty")],
)
async def test_an_id_that_is_none_is_refused_in_words(
    http: httpx.AsyncClient, tokens: DevelopmentTokens, id: str, said: str
) -> None:
    answer = await http.get(f"/profiles/{id}", headers=signed_in(tokens, "olga"))
    assert (answer.status_code, answer.json()["detail"]) == (422, f"profileId: {said}")


@pytest.mark.parametrize("id", ["x#olga", "ACCOUNT#olga"])
async def test_an_id_with_a_prefix_makes_no_account_of_somebody_else(world: World, id: str) -> None:
    caller = Caller(Identity.from_claims({"sub": id, "email": "other@example.org"}))
    mine = world.service.operations["getMyAccount"]
    with pytest.raises(NotAuthenticated):
        await Dispatch(world.service).call(mine, dict, caller, "rest")
    with pytest.raises(Missing):
        await world.service.get_my_account(Identity.of("olga"))


async def test_a_first_sign_in_makes_the_account(world: World) -> None:
    claims = {"sub": "ada", "email": "Ada@example.org", "name": "Ada"}
    for _ in "ab":
        await world.service.welcome(Identity.from_claims(claims))
    made = await world.service.get_my_account(Identity.of("ada"))
    assert (made.email, made.given_name) == ("ada@example.org", "Ada")
    await world.service.welcome(Identity.of("bob"))
    with pytest.raises(Missing):
        await world.service.get_my_account(Identity.of("bob"))
