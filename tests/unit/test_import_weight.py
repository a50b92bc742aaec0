"""`import keyfold` stays light."""

from __future__ import annotations

import subprocess
import sys

from tests.parts import PARTS

HEAVY = {
    "fastapi",
    "starlette",
    "strawberry",
    "uvicorn",
    "botocore",
    "boto3",
    "yaml",
    "jwt",
    "httpx",
}


def test_importing_keyfold_loads_no_web_and_no_aws_package() -> None:
    script = "import keyfold, sys; print(*{name.partition('.')[0] for name in sys.modules})"
    answer = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert not HEAVY & set(answer.stdout.split())


# What a server needs for few requests only, and costs each start.
RARE = {
    "email",
    "http.client",
    "urllib.request",
    "pydantic",
    "numpy",
    "calendar",
    "pkgutil",
    "random",
    "shutil",
    "tempfile",
    "encodings.idna",
    "hashlib",
    "ipaddress",
    "pathlib",
    "urllib.parse",
    "keyfold_engine.clients.address",
    "keyfold_engine.features.policies.decision",
    "keyfold_engine.features.partiql.parser",
    "keyfold_engine.engine.shapes.tables",
    "keyfold_engine.features.vectors.partition",
    "keyfold_engine.engine.write",
    "keyfold.settings",
    "keyfold_engine.wire.sigv4",
}


SERVER = "import keyfold_engine.commands.serve, keyfold_engine.wire.workers"


def test_a_server_starts_without_what_few_requests_need() -> None:
    assert not RARE & _loaded_after(SERVER)


def test_a_server_starts_with_a_known_number_of_modules() -> None:
    """Each is a part of the time to its first answer: raise the number knowingly."""
    loaded = _loaded_after(SERVER)
    assert len(_ours(loaded)) <= 85
    assert len(loaded) <= 256


def test_services_are_served_by_starlette_and_graphql_core_alone() -> None:
    script = "import keyfold_web.app, sys; print(*{name.partition('.')[0] for name in sys.modules})"
    answer = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    loaded = set(answer.stdout.split())
    assert {"starlette", "graphql"} <= loaded
    assert not {"fastapi", "strawberry"} & loaded


def _loaded_after(script: str) -> set[str]:
    """The modules that a program has loaded."""
    told = f"{script}; import sys; print(*sys.modules)"
    answer = subprocess.run(
        [sys.executable, "-c", told], capture_output=True, text=True, check=True
    )
    return set(answer.stdout.split())


def _ours(modules: set[str]) -> set[str]:
    return {name for name in modules if name.partition(".")[0] in PARTS}


def test_a_design_without_structures_loads_no_part_that_keeps_them() -> None:
    loaded = _ours(_loaded_after("from keyfold import Design, Entity, Key"))
    assert not [name for name in loaded if name.startswith("keyfold.maintain")]


def test_a_design_loads_a_known_number_of_modules() -> None:
    """More of them are a slower start of every program: raise the number knowingly."""
    assert len(_ours(_loaded_after("from keyfold import Design, Entity, Key"))) <= 128
    assert len(_ours(_loaded_after("from keyfold import Counter, Design, Entity, Key"))) <= 162
