"""Sources with anything in any place: read, or refused in words; never a stumble."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
import yaml
from tests.unit.adopt.sources import test_models as models
from tests.unit.adopt.sources import test_templates as templates
from tests.unit.adopt.sources.test_templates import ORDERS

from keyfold.design.schema import Schema
from keyfold.errors import KeyfoldError
from keyfold_workbench import infra as infrastructure
from keyfold_workbench.adopt.merged_sources import merge
from keyfold_workbench.adopt.sources import (
    cloudformation,
    electrodb,
    terraform,
    workbench,
)
from keyfold_workbench.adopt.sources.material import Imported
from keyfold_workbench.adopt.sources.text_files import read_records

ODD: list[Any] = [None, 0, "", "x", [], {}, [None], {"x": None}, True, "${", ["a", 1], -1.5]
ROUNDS = 150

Reader = Callable[[Any, str], Imported]


def sources() -> dict[str, tuple[Any, Callable[[Any], Any], Reader]]:
    sam = json.loads(json.dumps(read_records(templates.SAM, "t.yaml")))
    serverless = yaml.safe_load(templates.SERVERLESS)
    every: Callable[[Any], Any] = lambda data: True  # noqa: E731
    return {
        "cloudformation": (sam, cloudformation.is_template, cloudformation.read),
        "serverless": (serverless, lambda d: isinstance(d, dict), cloudformation.read_serverless),
        "terraform show": (templates.SHOWN, terraform.is_shown, terraform.read_shown),
        "workbench": (models.workbench(), workbench.is_model, workbench.read),
        "electrodb": (models.TASKS, electrodb.models, electrodb.read),
        "any": ({}, every, lambda data, source: Imported("any", source)),
    }


def places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner: list[tuple[Any, Any]] = []
    if isinstance(data, dict):
        inner = list(data.items())
    elif isinstance(data, list):
        inner = list(enumerate(data))
    return [path, *(p for key, value in inner for p in places(value, (*path, key)))]


def broken(data: Any, random: Random) -> Any:
    """The same with one or two places changed, or taken out."""
    made = copy.deepcopy(data)
    for _ in range(random.choice([1, 1, 2])):
        path = random.choice(places(made)[1:] or [()])
        if not path:
            return random.choice(ODD)
        owner = made
        for step in path[:-1]:
            owner = owner[step]
        if isinstance(owner, dict) and random.random() < 0.3:
            del owner[path[-1]]
        else:
            owner[path[-1]] = copy.deepcopy(random.choice(ODD))
    return made


@pytest.mark.parametrize("kind", list(sources()))
def test_a_broken_source_is_read_or_refused(kind: str) -> None:
    data, is_kind, read = sources()[kind]
    random = Random(11)
    for _ in range(ROUNDS):
        made = broken(data, random)
        if not is_kind(made):
            continue
        try:
            merge([read(made, "source.json")]).text()
        except KeyfoldError:
            pass
        except Exception as error:
            pytest.fail(f"{type(error).__name__}: {error}\n{json.dumps(made)}")


def test_aliases_of_a_small_template_are_not_expanded_without_limit() -> None:
    lines = ["Resources:", "  a0: &a0 x"]
    lines += [f"  a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    with pytest.raises(KeyfoldError, match=r"t\.yaml:\d+:\d+: its aliases repeat more than"):
        read_records("\n".join(lines), "t.yaml")


@pytest.mark.parametrize(
    ("good", "told"),
    [
        ("StreamViewType: NEW_IMAGE", "the table orders-dev has the stream"),
        ("ProjectionType: INCLUDE", "ProjectionType cannot be"),
    ],
)
def test_a_template_with_a_program_in_place_of_a_value_is_refused(good: str, told: str) -> None:
    hostile = "NEW_IMAGE if not __import__('os').system('true') else None"
    text = infrastructure.FORMATS["cloudformation"](Schema("orders", (ORDERS,)))
    assert good in text
    made = read_records(
        text.replace(good, f"{good.partition(':')[0]}: {json.dumps(hostile)}"), "t.yaml"
    )
    with pytest.raises(KeyfoldError, match=told):
        merge([cloudformation.read(made, "t.yaml")])
