"""Every system, served: no input makes it fail, and what it answers is what it documents."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx
import orjson
import pytest
import schemathesis
from graphql import get_introspection_query
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from pydantic.alias_generators import to_snake
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from keyfold import AsyncDb
from keyfold_demo.systems import System, find_systems
from keyfold_web import ANONYMOUS, Identity, Service
from keyfold_web.app import ApiSettings, create_app
from keyfold_web.development import DevelopmentTokens
from keyfold_web.dispatch import Caller, Dispatch
from keyfold_web.graphql.endpoint import Executor
from keyfold_web.graphql.request import GraphQLRequest
from keyfold_web.openapi import openapi_document
from keyfold_web.rest import rest_app

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
SYSTEMS = find_systems()


@pytest.fixture(params=SYSTEMS, ids=[one.name for one in SYSTEMS])
def system(request: pytest.FixtureRequest) -> System:
    chosen: System | str = request.param
    return next(one for one in SYSTEMS if chosen in (one, one.name))


@pytest.fixture
def db(system: System) -> Iterator[AsyncDb]:
    with asyncio.Runner() as runner:
        opened = runner.run(system.design.open_async(":memory:"))
        yield opened
        runner.run(opened.close())


@pytest.fixture
def service(system: System, db: AsyncDb) -> Service:
    return system.serve(db)


def stored_values(system: System, db: AsyncDb) -> dict[str, list[str]]:
    """Texts in the tables by attribute, so that some requests name things that exist."""
    found: dict[str, set[str]] = defaultdict(set)

    async def collect() -> None:
        for name in system.design.tables:
            answer = await db.client.call("Scan", {"TableName": name, "Limit": 500})
            for item in answer["Items"]:
                for attribute, value in item.items():
                    if "S" in value:
                        # Callers know an id without the prefix that its key has.
                        found[attribute] |= {value["S"], value["S"].rpartition("#")[2]}

    asyncio.run(collect())
    return {name: sorted(values)[:20] for name, values in found.items()}


def test_no_input_makes_an_operation_fail_or_answer_what_is_not_documented(
    system: System, db: AsyncDb, service: Service
) -> None:
    asyncio.run(system.fill(db))
    known = stored_values(system, db)
    tokens = DevelopmentTokens()
    app = rest_app(Dispatch(service), tokens)
    callers = [
        {"authorization": f"Bearer {tokens.issue(one.id, *one.groups)}"}
        for one in [*system.users[:3], Identity.of("root", "admin")]
    ]
    statuses: Counter[int] = Counter()
    for found in schemathesis.openapi.from_asgi("/openapi.json", app).get_all_operations():
        assert isinstance(found, Ok), found
        operation = found.ok()
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):

            @settings(
                max_examples=5,
                deadline=None,
                derandomize=True,
                database=None,
                suppress_health_check=list(HealthCheck),
            )
            @given(case=operation.as_strategy(generation_mode=mode), data=st.data())
            def run(case: Any, data: st.DataObject) -> None:
                for name in case.path_parameters or {}:
                    if name in known:
                        given = data.draw(st.sampled_from(known[name]))
                        case.path_parameters[name] = quote(given, safe="")
                answer = case.call(headers=data.draw(st.sampled_from(callers)))
                statuses[answer.status_code] += 1
                case.validate_response(answer, checks=CHECKS)

            run()
    assert any(status < 300 for status in statuses)


async def test_nobody_is_let_in_without_a_token_unless_the_rule_says_anyone(
    service: Service,
) -> None:
    for operation in service.operations.values():
        if not operation.allow.anonymous:
            assert not await operation.allow.allows(service, ANONYMOUS, {})


async def test_graphql_offers_every_operation(service: Service) -> None:
    executor = Executor(Dispatch(service), introspection=True)
    request = GraphQLRequest(query=get_introspection_query())
    status, body = await executor.run(request, Caller(ANONYMOUS))
    assert status == 200
    roots = [
        one for one in body["data"]["__schema"]["types"] if one["name"] in ("Query", "Mutation")
    ]
    assert {field["name"] for root in roots for field in root["fields"]} == set(service.operations)


@pytest.mark.parametrize(
    ("system", "operation", "field"),
    [
        ("inviter", "saveUser", "name"),
        ("inviter", "createHangout", "title"),
        ("search_room", "createRoom", "name"),
        ("search_room", "say", "text"),
        ("tamafriends", "createProfile", "displayName"),
        ("tamafriends", "comment", "text"),
        ("gg_core", "createGoal", "title"),
        ("gg_core", "sendMessage", "text"),
        ("sellers", "createSellerProfile", "sellerName"),
        ("sellers", "createOrder", "customerName"),
    ],
    indirect=["system"],
)
def test_blanks_are_no_text(service: Service, operation: str, field: str) -> None:
    asked = service.operations[operation]
    document = openapi_document(type(service))
    example = document["paths"][asked.path][asked.verb.lower()]["requestBody"]["content"][
        "application/json"
    ]["example"]
    padded = example | {field: f" {example[field]}  "}
    body = asked.body
    assert body is not None
    taken = body.validate_json(orjson.dumps(padded), strict=True)
    assert getattr(taken, to_snake(field)) == example[field]
    with pytest.raises(ValidationError, match=field):
        body.validate_json(orjson.dumps(example | {field: "  "}), strict=True)


def test_the_example_of_every_body_is_taken(service: Service) -> None:
    document = openapi_document(type(service))
    shown = {
        operation["operationId"]: operation["requestBody"]["content"]["application/json"]["example"]
        for verbs in document["paths"].values()
        for operation in verbs.values()
        if "requestBody" in operation
    }
    assert shown
    for name, example in shown.items():
        body = service.operations[name].body
        assert body is not None
        body.validate_json(orjson.dumps(example), strict=True)


async def test_the_index_leads_to_the_design_document(system: System, service: Service) -> None:
    transport = httpx.ASGITransport(create_app([service], ApiSettings(open_pages=True)))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        link = f"{service.name}/design"
        assert f'href="{link}"' in (await client.get("/")).text
        document = await client.get(f"/{link}")
        assert document.status_code == 200
        assert all(table in document.text for table in system.design.tables)
