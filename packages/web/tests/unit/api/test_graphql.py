"""Operations over GraphQL."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import httpx
import pytest
from graphql import execute, get_introspection_query, parse
from graphql.execution import Executor
from starlette.applications import Starlette

from keyfold_engine.clock import ManualClock
from keyfold_web import ANONYMOUS, Identity
from keyfold_web.development import DevelopmentTokens
from keyfold_web.dispatch import Caller, Dispatch
from keyfold_web.graphql import build_schema, graphql_routes
from keyfold_web.graphql.endpoint import KEPT_CHARACTERS
from keyfold_web.graphql.endpoint import Executor as RequestExecutor
from keyfold_web.graphql.execution import PlainFieldsFirst
from keyfold_web.graphql.request import GraphQLRequest
from keyfold_web.graphql.schema import GraphQLContext
from keyfold_web.ratelimit import RateLimit

Ask = Callable[..., Coroutine[Any, Any, dict[str, Any]]]


@pytest.fixture
async def http(clubs: Any, tokens: DevelopmentTokens) -> AsyncIterator[httpx.AsyncClient]:
    app = Starlette(routes=graphql_routes(Dispatch(clubs), tokens, introspection=True))
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        yield client


@pytest.fixture
def ask(http: httpx.AsyncClient, people: dict[str, dict[str, str]]) -> Ask:
    async def ask(query: str, who: str = "mia", **variables: Any) -> dict[str, Any]:
        body = {"query": query, "variables": variables}
        answer: dict[str, Any] = (
            await http.post("/graphql", json=body, headers=people[who])
        ).json()
        return answer

    return ask


def codes(answer: dict[str, Any]) -> list[str]:
    return [error["extensions"]["code"] for error in answer["errors"]]


async def test_a_query_gives_the_asked_fields_in_camel_case(ask: Ask) -> None:
    answer = await ask('{ club(clubId: "chess") { clubId createdAt mood version } }')
    assert answer == {
        "data": {
            "club": {
                "clubId": "chess",
                "createdAt": "2026-01-01T00:00:00Z",
                "mood": "calm",
                "version": 3,
            }
        }
    }


async def test_pages_are_connections(ask: Ask) -> None:
    query = """query ($after: String) {
      posts(clubId: "chess", first: 2, after: $after) {
        nodes { postId } edges { cursor node { postId } } pageInfo { endCursor hasNextPage }
      }
    }"""
    seen, after = [], None
    while True:
        page = (await ask(query, after=after))["data"]["posts"]
        seen += [node["postId"] for node in page["nodes"]]
        assert [edge["node"] for edge in page["edges"]] == page["nodes"]
        assert page["edges"][-1]["cursor"] == page["pageInfo"]["endCursor"]
        if not page["pageInfo"]["hasNextPage"]:
            break
        after = page["pageInfo"]["endCursor"]
    assert seen == ["p0", "p1", "p2", "p3", "p4"]


async def test_related_fields_of_a_page_are_loaded_at_once(ask: Ask, store: Any) -> None:
    answer = await ask('{ posts(clubId: "chess") { nodes { author { displayName } } } }')
    names = [node["author"]["displayName"] for node in answer["data"]["posts"]["nodes"]]
    assert names == ["Olga", "Mia", "Olga", "Mia", "Olga"]
    assert store.author_loads == [["olga", "mia", "olga", "mia", "olga"]]


async def test_numbers_beyond_32_bits_come_through(ask: Ask) -> None:
    answer = await ask('{ posts(clubId: "chess", first: 1) { nodes { millis } } }')
    assert answer["data"]["posts"]["nodes"] == [{"millis": 1_700_000_000_000}]


async def test_a_mutation_takes_an_input_object_and_a_request_id(ask: Ask) -> None:
    query = """mutation ($input: NewClubInput!) {
      createClub(input: $input, requestId: "r1") { clubId title mood ownerId }
    }"""
    given = {"title": "Go", "mood": "loud", "tags": ["a"]}
    first = await ask(query, input=given)
    assert first["data"]["createClub"] == {
        "clubId": "c1",
        "title": "Go",
        "mood": "loud",
        "ownerId": "mia",
    }
    assert await ask(query, input=given) == first


async def test_null_for_what_cannot_be_null_means_left_out(ask: Ask) -> None:
    query = """query ($first: Int, $limit: Long) {
      posts(clubId: "chess", first: $first, after: null) { nodes { postId } }
      newestClubs(limit: $limit, tags: null) { title }
    }"""
    answer = await ask(query, first=None, limit=None)
    assert len(answer["data"]["posts"]["nodes"]) == 5
    made = await ask('mutation { createClub(input: {title: "Go", mood: null}) { mood } }')
    assert made["data"]["createClub"] == {"mood": "calm"}


async def test_a_mutation_without_a_result_answers_true(ask: Ask) -> None:
    answer = await ask('mutation { deleteClub(clubId: "chess") }', who="olga")
    assert answer == {"data": {"deleteClub": True}}


async def test_errors_have_the_codes_of_rest(ask: Ask) -> None:
    rename = 'mutation { renameClub(clubId: "chess", title: "X", expectedVersion: 2) { title } }'
    assert codes(await ask(rename, who="olga")) == ["VERSION_CONFLICT"]
    assert codes(await ask(rename, who="anonymous")) == ["NOT_AUTHENTICATED"]
    assert codes(await ask(rename)) == ["NOT_ALLOWED"]
    assert codes(await ask('{ club(clubId: "go") { title } }')) == ["NOT_FOUND"]
    for kind in ("unforeseen", "Undecodable", "Throttled"):
        answer = await ask(f'{{ fail(kind: "{kind}") {{ title }} }}', who="root")
        assert "SECRET" not in str(answer)


async def test_wrong_input_names_the_field(ask: Ask) -> None:
    answer = await ask('mutation { createClub(input: {title: ""}) { title } }')
    assert codes(answer) == ["INVALID"]
    assert [one["path"] for one in answer["errors"][0]["extensions"]["errors"]] == ["input.title"]


async def test_other_fields_are_answered_when_one_fails(ask: Ask) -> None:
    answer = await ask('{ a: newestClubs { title } club(clubId: "go") { title } }')
    assert answer["data"] == {"a": [{"title": "Chess"}], "club": None}
    assert codes(answer) == ["NOT_FOUND"]


async def test_what_a_mutation_made_is_told_though_the_next_one_fails(ask: Ask) -> None:
    answer = await ask(
        'mutation { a: createClub(input: {title: "Go"}) { clubId } b: deleteClub(clubId: "chess") }'
    )
    assert answer["data"] == {"a": {"clubId": "c1"}, "b": None}
    assert codes(answer) == ["NOT_ALLOWED"]


@pytest.mark.parametrize(("given", "named"), [("first: 0", "first"), ('after: "x"', None)])
async def test_a_wrong_page_is_named_as_it_was_asked_for(
    ask: Ask, given: str, named: str | None
) -> None:
    answer = await ask(f'{{ posts(clubId: "chess", {given}) {{ nodes {{ text }} }} }}')
    fields = answer["errors"][0]["extensions"].get("errors", [])
    assert [one["path"] for one in fields] == ([named] if named else [])
    assert codes(answer) == ["INVALID" if named else "CURSOR_REFUSED"]


def nested(depth: int) -> str:
    return "{ posts(clubId: 1) " + "{ nodes " * depth + "{ postId }" + "}" * depth + "}"


BAD = {
    "syntax": "{ club(",
    "unknown field": "{ club(clubId: 1) { secret } }",
    "empty": "",
    "over-long": "{ __typename " + "#" * 30_000 + "\n}",
    "over-many tokens": "{ " + "__typename " * 3_000 + "}",
    "over-deep": nested(50),
    "many operations": "{ "
    + " ".join(f'a{n}: club(clubId: "chess") {{ title }}' for n in range(120))
    + "}",
    "costly pages": "{ "
    + " ".join(
        f'a{n}: posts(clubId: "chess", first: 200) {{ nodes {{ text }} }}' for n in range(60)
    )
    + "}",
    "costly pages by default": "query ($n: Int = 200) { "
    + " ".join(
        f'a{n}: posts(clubId: "chess", first: $n) {{ nodes {{ text kind postId }} }}'
        for n in range(14)
    )
    + "}",
    "many introspections": "{ "
    + " ".join(f"a{n}: __schema {{ types {{ name }} }}" for n in range(50))
    + "}",
    "deep introspection": "{ __schema { types { fields { type { fields { type { fields { type "
    "{ fields { name } } } } } } } } } }",
    "fragments in a circle": "{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }",
    "fragments that double": "{ ...A0 } "
    + " ".join(f"fragment A{n} on Query {{ ...A{n + 1} ...A{n + 1} }}" for n in range(60))
    + ' fragment A60 on Query { club(clubId: "chess") { title } }',
    "two operations, none named": "query A { __typename } query B { __typename }",
    "subscription": "subscription { club }",
    "wrong variable": "query ($a: Int!) { posts(clubId: 1, first: $a) { nodes { text } } }",
}


@pytest.mark.parametrize("query", BAD.values(), ids=BAD.keys())
async def test_a_query_that_asks_too_much_or_nonsense_is_refused_before_it_runs(
    http: httpx.AsyncClient, people: dict[str, dict[str, str]], query: str
) -> None:
    answer = await http.post("/graphql", json={"query": query}, headers=people["mia"])
    assert answer.status_code == 400
    assert "data" not in answer.json()
    assert codes(answer.json())[0] in ("BAD_QUERY", "QUERY_TOO_COMPLEX", "NO_OPERATION")


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"query": 5}', b'[{"query": "{a}"}]'])
async def test_a_body_that_is_no_request_is_refused(http: httpx.AsyncClient, body: bytes) -> None:
    answer = await http.post("/graphql", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 422


async def test_a_whole_number_with_a_point_costs_what_it_asks_for(ask: Ask) -> None:
    pages = " ".join(
        f'a{n}: posts(clubId: "chess", first: $n) {{ nodes {{ text kind postId }} }}'
        for n in range(30)
    )
    answer = await ask("query ($n: Int) { " + pages + "}", n=100.0)
    assert codes(answer) == ["QUERY_TOO_COMPLEX"]


async def test_reading_documents_counts_and_few_of_them_are_kept(clubs: Any) -> None:
    limit = RateLimit(1, 30, clock=ManualClock())
    executor = RequestExecutor(Dispatch(clubs, limit=limit), introspection=False)
    nobody, other = Caller(ANONYMOUS, "1.2.3.4"), Caller(ANONYMOUS, "5.6.7.8")
    seen = []
    for number in range(60):
        query = "{ __typename " + f"#{number}" + "x" * 15_000 + "\n}"
        status, answer = await executor.run(GraphQLRequest(query=query), nobody)
        seen.append(codes(answer)[0] if status == 400 else "OK")
    assert seen[:30] == ["OK"] * 30
    assert "OK" not in seen[30:]
    assert sum(map(len, executor._documents)) <= KEPT_CHARACTERS
    # Others, and documents that are known, are not affected.
    for caller in (other, nobody):
        status, _ = await executor.run(GraphQLRequest(query="{ __typename }"), caller)
        assert status == 200


async def test_a_bad_token_is_refused(http: httpx.AsyncClient) -> None:
    headers = {"authorization": "Bearer x.y.z"}
    answer = await http.post("/graphql", json={"query": "{ __typename }"}, headers=headers)
    assert (answer.status_code, codes(answer.json())) == (401, ["BAD_TOKEN"])


async def test_tools_can_introspect_in_development_only(clubs: Any, ask: Ask) -> None:
    query = get_introspection_query()
    assert "__schema" in (await ask(query))["data"]
    closed = Starlette(routes=graphql_routes(Dispatch(clubs)))
    transport = httpx.ASGITransport(closed)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        assert (await client.post("/graphql", json={"query": query})).status_code == 400


async def test_the_schema_is_there_to_read_and_for_appsync(http: httpx.AsyncClient) -> None:
    schema = (await http.get("/graphql/schema")).text
    assert "createdAt: DateTime!" in schema
    assert "scalar Long" in schema
    appsync = (await http.get("/graphql/schema?for=appsync")).text
    assert "createdAt: AWSDateTime!" in appsync
    assert "millis: Float!" in appsync
    assert "scalar" not in appsync


SAME = {
    "plain": '{ club(clubId: "chess") { clubId mood createdAt version again: title } }',
    "typename": '{ club(clubId: "chess") { __typename title } }',
    "fragments": '{ club(clubId: "chess") { ...F ... on Club { mood } } } '
    "fragment F on Club { title title }",
    "type names": '{ posts(clubId: "chess") { __typename nodes { postId __typename } } }',
    "directives": '{ club(clubId: "chess") { title @skip(if: true) mood @include(if: true) } }',
    "related": '{ posts(clubId: "chess") { nodes { postId author { userId } } edges { cursor } } }',
    "broken": '{ club(clubId: "broken") { clubId ownerId createdAt } }',
    "broken in a list": "{ newestClubs { clubId ownerId } }",
}


@pytest.mark.parametrize("query", SAME.values(), ids=SAME.keys())
async def test_the_short_way_answers_what_the_long_way_does(
    clubs: Any, store: Any, query: str
) -> None:
    store.clubs["broken"] = type(store.clubs["chess"]).model_construct(
        club_id="broken", title="X", owner_id=None, mood=None, created_at=None, version=0
    )
    schema = build_schema(type(clubs))

    async def answer(executor: type[Executor[Any]]) -> Any:
        context = GraphQLContext(Dispatch(clubs), Caller(Identity.of("mia")))
        made: Any = execute(schema, parse(query), context_value=context, executor_class=executor)
        return (await made).formatted

    assert await answer(PlainFieldsFirst) == await answer(Executor)


async def test_a_repeated_document_heeds_its_variables_and_directives_each_time(
    http: httpx.AsyncClient,
) -> None:
    query = (
        "query($id: String!, $short: Boolean!)"
        " { club(clubId: $id) { clubId title @skip(if: $short) } }"
    )

    async def fields(**variables: object) -> object:
        sent = {"query": query, "variables": variables}
        return (await http.post("/graphql", json=sent)).json()["data"]["club"]

    whole = {"clubId": "chess", "title": "Chess"}
    assert await fields(id="chess", short=False) == whole
    assert await fields(id="chess", short=True) == {"clubId": "chess"}
    assert await fields(id="chess", short=False) == whole
