"""Operations as an AWS Lambda function."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from keyfold.serve import Service
from keyfold.serve.auth import DevelopmentTokens
from keyfold.serve.lambdas import AppSyncError, LambdaHandler

Event = dict[str, Any]


@pytest.fixture
def handler(clubs: Service, tokens: DevelopmentTokens) -> LambdaHandler:
    async def opened() -> Service:
        return clubs

    return LambdaHandler(type(clubs), opened, tokens=tokens, prefix="/prod")


def http_api(method: str, path: str, query: str = "", body: Any = None, **more: Any) -> Event:
    """An event of an HTTP API, payload version 2.0."""
    return {
        "version": "2.0",
        "rawPath": f"/prod{path}",
        "rawQueryString": query,
        "headers": {"Content-Type": "application/json", **more.pop("headers", {})},
        "requestContext": {"http": {"method": method, "sourceIp": "10.0.0.1"}, **more},
        "body": None if body is None else json.dumps(body),
        "isBase64Encoded": False,
    }


def rest_api(method: str, path: str, claims: dict[str, Any] | None = None) -> Event:
    """An event of a REST API with a Cognito authorizer."""
    return {
        "httpMethod": method,
        "path": f"/prod{path}",
        "multiValueQueryStringParameters": {"limit": ["2"]},
        "headers": None,
        "requestContext": {
            "identity": {"sourceIp": "10.0.0.1"},
            "authorizer": {"claims": claims} if claims else None,
        },
        "body": None,
    }


def appsync(field: str, arguments: Event, who: str | None = "mia", **more: Any) -> Event:
    identity = {"sub": who, "claims": {"sub": who, "cognito:groups": None}} if who else None
    info = {"fieldName": field, "parentTypeName": more.pop("parent", "Query")}
    return {"info": info, "arguments": arguments, "identity": identity, **more}


def jwt_claims(who: str) -> dict[str, Any]:
    return {"authorizer": {"jwt": {"claims": {"sub": who, "cognito:groups": "[members]"}}}}


def test_an_http_api_event_runs_the_operation(handler: LambdaHandler) -> None:
    answer = handler(http_api("POST", "/clubs", body={"title": "Go"}, **jwt_claims("mia")))
    assert answer["statusCode"] == 201
    assert json.loads(answer["body"])["ownerId"] == "mia"
    event = http_api("GET", "/clubs/chess")
    answer = handler(event)
    assert (answer["statusCode"], answer["headers"]["etag"]) == (200, '"3"')


def test_a_rest_api_event_runs_the_operation(handler: LambdaHandler) -> None:
    answer = handler(rest_api("GET", "/clubs/chess/posts", {"sub": "mia"}))
    page = json.loads(answer["body"])
    assert [post["postId"] for post in page["items"]] == ["p0", "p1"]
    assert page["next"].startswith("/prod/clubs/chess/posts?limit=2&cursor=")


def test_a_bearer_token_counts_where_the_gateway_verified_nobody(
    handler: LambdaHandler, tokens: DevelopmentTokens
) -> None:
    headers = {"authorization": f"Bearer {tokens.issue('olga')}"}
    answer = handler(http_api("DELETE", "/clubs/chess", headers=headers))
    assert answer["statusCode"] == 204
    assert handler(http_api("DELETE", "/clubs/chess"))["statusCode"] == 401


def test_a_body_may_come_in_base64(handler: LambdaHandler) -> None:
    event = http_api("POST", "/clubs", **jwt_claims("mia"))
    event["body"] = base64.b64encode(b'{"title": "Go"}').decode()
    event["isBase64Encoded"] = True
    assert handler(event)["statusCode"] == 201


@pytest.mark.parametrize(
    ("event", "status"),
    [
        (http_api("GET", "/nowhere"), 404),
        (http_api("PATCH", "/clubs/chess"), 405),
        (http_api("GET", "/clubs/chess%2Fposts"), 404),
        (http_api("POST", "/clubs", body={"title": ""}, **jwt_claims("mia")), 422),
        (http_api("POST", "/clubs", body="x" * 2_000_000, **jwt_claims("mia")), 413),
    ],
)
def test_errors_are_problems(handler: LambdaHandler, event: Event, status: int) -> None:
    answer = handler(event)
    assert answer["statusCode"] == status
    assert answer["headers"]["content-type"] == "application/problem+json"


def test_an_appsync_event_resolves_a_field(handler: LambdaHandler) -> None:
    club = handler(appsync("club", {"clubId": "chess"}, who=None))
    assert (club["clubId"], club["createdAt"]) == ("chess", "2026-01-01T00:00:00Z")
    page = handler(appsync("posts", {"clubId": "chess", "first": 2, "after": None}))
    assert [node["postId"] for node in page["nodes"]] == ["p0", "p1"]
    assert page["pageInfo"]["hasNextPage"]
    again = handler(appsync("posts", {"clubId": "chess", "after": page["pageInfo"]["endCursor"]}))
    assert [node["postId"] for node in again["nodes"]] == ["p2", "p3", "p4"]
    created = handler(appsync("createClub", {"input": {"title": "Go"}, "requestId": "r"}))
    assert created["ownerId"] == "mia"
    assert handler(appsync("deleteClub", {"clubId": "chess"}, who="olga")) is True


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        (appsync("club", {"clubId": "go"}), "NOT_FOUND"),
        (appsync("deleteClub", {"clubId": "chess"}), "NOT_ALLOWED"),
        (appsync("createClub", {"input": {"title": "Go"}}, who=None), "NOT_AUTHENTICATED"),
        (appsync("createClub", {"input": {"title": ""}}), "INVALID"),
        (appsync("nothing", {}), "NOT_FOUND"),
    ],
)
def test_appsync_sees_the_code_as_the_type_of_the_error(
    handler: LambdaHandler, event: Event, kind: str
) -> None:
    with pytest.raises(AppSyncError) as raised:
        handler(event)
    assert type(raised.value).__name__ == kind


def test_a_batch_of_appsync_events_loads_related_fields_at_once(
    handler: LambdaHandler, store: Any
) -> None:
    nodes = handler(appsync("posts", {"clubId": "chess"}))["nodes"]
    batch = [appsync("author", {}, parent="Post", source=node) for node in nodes]
    authors = [one["data"]["displayName"] for one in handler(batch)]
    assert authors == ["Olga", "Mia", "Olga", "Mia", "Olga"]
    assert len(store.author_loads) == 1


def test_a_batch_answers_each_event_by_itself(handler: LambdaHandler) -> None:
    batch = [appsync("club", {"clubId": "chess"}), appsync("club", {"clubId": "go"})]
    good, bad = handler(batch)
    assert good["data"]["title"] == "Chess"
    assert (bad["data"], bad["errorType"]) == (None, "NOT_FOUND")
