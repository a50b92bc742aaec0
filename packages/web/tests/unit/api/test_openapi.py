"""The OpenAPI document, and answers that keep to it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from keyfold_web.development import DevelopmentTokens
from keyfold_web.dispatch import Dispatch
from keyfold_web.rest import rest_app

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


async def test_the_document_describes_every_operation(rest: httpx.AsyncClient) -> None:
    document = (await rest.get("/openapi.json")).json()
    assert document["openapi"].startswith("3.1")
    create = document["paths"]["/clubs"]["post"]
    assert create["summary"] == "Create a club; you own it."
    assert create["requestBody"]["content"]["application/json"]["example"]["title"] == "Chess"
    assert {"201", "401", "403", "409", "412", "415", "422", "429", "503"} <= set(
        create["responses"]
    )
    assert "Allowed for: authenticated." in create["description"]
    posts = document["paths"]["/clubs/{clubId}/posts"]["get"]
    assert [one["name"] for one in posts["parameters"]] == ["clubId", "limit", "cursor"]
    rename = document["paths"]["/clubs/{clubId}/title"]["put"]
    assert "If-Match" in [one["name"] for one in rename["parameters"]]


@pytest.mark.long
def test_no_input_makes_an_operation_fail_or_answer_what_is_not_documented(clubs: Any) -> None:
    tokens = DevelopmentTokens()
    headers = {"authorization": f"Bearer {tokens.issue('olga', 'admin')}"}
    schema = schemathesis.openapi.from_asgi("/openapi.json", rest_app(Dispatch(clubs), tokens))
    statuses: Counter[int] = Counter()
    for found in schema.get_all_operations():
        assert isinstance(found, Ok), found
        operation = found.ok()
        if operation.path == "/failures/{kind}":
            continue
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):

            @settings(
                max_examples=20,
                deadline=None,
                derandomize=True,
                database=None,
                suppress_health_check=list(HealthCheck),
            )
            @given(case=operation.as_strategy(generation_mode=mode))
            def run(case: Any) -> None:
                answer = case.call(headers=headers)
                statuses[answer.status_code] += 1
                case.validate_response(answer, checks=CHECKS)

            run()
    assert {200, 201, 404, 422} <= set(statuses)
