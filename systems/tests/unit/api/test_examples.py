"""Example bodies in the documentation of the five systems."""

from __future__ import annotations

import pytest

from keyfold_web import Service
from keyfold_web.openapi import paths_and_schemas
from keyfold_web.target import load_service

SYSTEMS = ["gg_core", "inviter", "search_room", "sellers", "tamafriends"]


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_body_of_every_system_has_an_example_that_is_taken(system: str) -> None:
    service: type[Service] = load_service(f"keyfold_systems.{system}.service")
    paths, _ = paths_and_schemas(service)
    for one in service.operations.values():
        if one.body is not None:
            content = paths[one.path][one.verb.lower()]["requestBody"]["content"]
            one.body.validate_python(content["application/json"]["example"])
