"""Operations as an AWS Lambda function."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from graphql import GraphQLEnumType

from keyfold.errors import KeyfoldError
from keyfold_web import Service, anyone, query
from keyfold_web.development import DevelopmentTokens
from keyfold_web.graphql import build_schema
from keyfold_web.lambdas import AppSyncError, LambdaHandler

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


def balancer(method: str, path: str, *, many: bool, query: Any = None, **headers: str) -> Event:
    """An event of an application load balancer: its query string is percent-encoded still."""
    event: Event = {
        "requestContext": {"elb": {"targetGroupArn": "arn:aws:elasticloadbalancing:x"}},
        "httpMethod": method,
        "path": f"/prod{path}",
        "body": "",
        "isBase64Encoded": False,
    }
    given = {"x-forwarded-for": "6.6.6.6, 10.0.0.1", **headers}
    if many:
        event["multiValueHeaders"] = {name: [text] for name, text in given.items()}
        event["multiValueQueryStringParameters"] = {k: [v] for k, v in (query or {}).items()}
    else:
        event["headers"], event["queryStringParameters"] = given, query or {}
    return event


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


def test_an_appsync_event_resolves_a_field(clubs: Service, handler: LambdaHandler) -> None:
    club = handler(appsync("club", {"clubId": "chess"}, who=None))
    assert (club["clubId"], club["createdAt"]) == ("chess", "2026-01-01T00:00:00Z")
    moods = build_schema(type(clubs)).type_map["Mood"]
    assert isinstance(moods, GraphQLEnumType)
    assert club["mood"] in moods.values
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


@pytest.mark.parametrize("many", [False, True])
def test_a_load_balancer_is_answered_in_its_own_shape(
    handler: LambdaHandler, tokens: DevelopmentTokens, many: bool
) -> None:
    bearer = f"Bearer {tokens.issue('mia')}"
    posts = balancer(
        "GET", "/clubs/chess/posts", many=many, query={"limit": "%32"}, authorization=bearer
    )
    answer = handler(posts)
    assert (answer["statusCode"], answer["statusDescription"]) == (200, "200 OK")
    page = json.loads(answer["body"])
    assert [post["postId"] for post in page["items"]] == ["p0", "p1"]
    headers = answer["multiValueHeaders"] if many else answer["headers"]
    kind = headers["content-type"]
    assert kind == (["application/json"] if many else "application/json")
    assert ("headers" in answer, "multiValueHeaders" in answer) == (not many, many)


def test_a_query_string_of_single_values_counts(handler: LambdaHandler) -> None:
    event = rest_api("GET", "/clubs/chess/posts", {"sub": "mia"})
    del event["multiValueQueryStringParameters"]
    event["queryStringParameters"] = {"limit": "1"}
    assert len(json.loads(handler(event)["body"])["items"]) == 1


def test_head_is_a_get_without_its_body(handler: LambdaHandler) -> None:
    answer = handler(http_api("HEAD", "/clubs/chess"))
    assert (answer["statusCode"], answer["headers"]["etag"], answer["body"]) == (200, '"3"', "")


def test_a_wrong_method_hears_which_are_right(handler: LambdaHandler) -> None:
    answer = handler(http_api("PATCH", "/clubs/chess"))
    assert answer["headers"]["allow"] == "DELETE, GET, HEAD"


def test_answers_have_the_id_that_the_log_has(handler: LambdaHandler) -> None:
    class Context:
        aws_request_id = "8f7b5a0e-1111-2222-3333-444455556666"

    for path in ("/clubs/chess", "/nowhere"):
        answer = handler(http_api("GET", path), Context())
        assert answer["headers"]["x-request-id"] == Context.aws_request_id


@pytest.mark.parametrize(
    "event",
    [
        http_api("POST", "/clubs", body={"title": "Go"}, authorizer={"lambda": {"sub": "mia"}}),
        {
            **rest_api("POST", "/clubs"),
            "multiValueQueryStringParameters": None,
            "headers": {"content-type": "application/json"},
            "body": '{"title": "Go"}',
            "requestContext": {"authorizer": {"principalId": "mia", "integrationLatency": 3}},
        },
    ],
)
def test_a_lambda_authorizer_says_who_is_calling(handler: LambdaHandler, event: Event) -> None:
    answer = handler(event)
    assert (answer["statusCode"], json.loads(answer["body"])["ownerId"]) == (201, "mia")


def test_an_authorizer_that_names_nobody_leaves_it_to_the_token(
    handler: LambdaHandler, tokens: DevelopmentTokens
) -> None:
    iam: dict[str, Any] = {"authorizer": {"iam": {"userArn": "arn:aws:iam::1:user/x"}}}
    headers = {"authorization": f"Bearer {tokens.issue('olga')}"}
    answer = handler(http_api("DELETE", "/clubs/chess", headers=headers, **iam))
    assert answer["statusCode"] == 204


def test_the_admin_group_has_the_name_that_it_was_given(clubs: Service) -> None:
    async def opened() -> Service:
        return clubs

    handler = LambdaHandler(type(clubs), opened, admin_group="staff", prefix="/prod")
    verdicts = {
        group: handler(
            http_api(
                "GET",
                "/failures/NotFound",
                authorizer={"jwt": {"claims": {"sub": "root", "cognito:groups": f"[{group}]"}}},
            )
        )["statusCode"]
        for group in ("admin", "staff")
    }
    assert verdicts == {"admin": 403, "staff": 404}


def test_graphql_is_answered_beside_rest(handler: LambdaHandler) -> None:
    asked = {"query": '{ posts(clubId: "chess", first: 1) { nodes { author { displayName } } } }'}
    answer = handler(http_api("POST", "/graphql", body=asked, **jwt_claims("mia")))
    assert json.loads(answer["body"])["data"]["posts"]["nodes"] == [
        {"author": {"displayName": "Olga"}}
    ]
    assert handler(http_api("GET", "/graphql"))["headers"]["allow"] == "POST"
    wrong = handler(http_api("POST", "/graphql", body={"query": "{"}))
    assert wrong["statusCode"] == 400


@pytest.mark.parametrize(
    "event",
    [
        {},
        None,
        [],
        {"Records": [{"eventSource": "aws:dynamodb"}]},
        {"source": "aws.events", "detail-type": "Scheduled Event"},
    ],
)
def test_an_event_of_another_kind_does_not_count_as_handled(
    handler: LambdaHandler, event: Any
) -> None:
    with pytest.raises(KeyfoldError, match=r"neither an HTTP request.*stream_handler"):
        handler(event)


@pytest.mark.parametrize(
    ("body", "encoded", "said"), [('{"title": "\ud800"}', False, "JSON"), ("*", True, "base64")]
)
def test_a_body_that_cannot_be_read_is_a_problem(
    handler: LambdaHandler, body: str, encoded: bool, said: str
) -> None:
    event = http_api("POST", "/clubs", **jwt_claims("mia"))
    answer = handler(event | {"body": body, "isBase64Encoded": encoded})
    assert answer["statusCode"] == 422
    assert said in json.loads(answer["body"])["detail"]


def test_a_segment_may_have_several_placeholders() -> None:
    class Ranges(Service):
        """Ranges."""

        @query("/from/{start}-{end}", allow=anyone)
        async def numbers(self, start: int, end: int) -> list[int]:
            """Numbers."""
            return list(range(start, end))

    async def opened() -> Service:
        return Ranges()

    handler = LambdaHandler(Ranges, opened, prefix="/prod")
    assert handler(http_api("GET", "/from/1-4"))["body"] == "[1,2,3]"


@pytest.mark.parametrize(
    "event",
    [
        http_api("GET", "/clubs/%FF"),
        http_api("GET", "/clubs/newest", "tags=%FF"),
        balancer("GET", "/clubs/newest", many=True, query={"tags": "%FF"}),
    ],
)
async def test_a_path_or_query_that_is_not_utf_8_is_refused(
    handler: LambdaHandler, event: Event
) -> None:
    answer = await handler.answer(event)
    assert answer["statusCode"] == 422
    assert "is not UTF-8 text" in answer["body"]
