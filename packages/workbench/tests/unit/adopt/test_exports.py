"""Out again: what is exported is read back as it was, and names are never code."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from keyfold_workbench.adopt.exports import FORMATS as MODELS
from keyfold_workbench.adopt.merged_sources import merge
from keyfold_workbench.adopt.sources.detection import read
from keyfold_workbench.adopt.sources.material import Imported
from keyfold.cli import main
from keyfold.design.file import dumps, loads
from keyfold.design.schema import AttributeSchema, EntitySchema, KeyTemplates, Schema, TableSchema
from keyfold.design.shorthand import template
from keyfold.errors import KeyfoldError
from keyfold_workbench.infra import FORMATS as INFRASTRUCTURE
from tests.unit.adopt.public import designs
from tests.unit.adopt.public.made import Public
from tests.unit.adopt.scores import drafted
from tests.unit.adopt.sources.test_models import TASKS, saved
from tests.unit.adopt.sources.test_templates import ORDERS

PUBLIC = designs()
SUFFIX = {"cloudformation": "yaml", "terraform": "tf", "workbench": "json", "electrodb": "json"}


def there_and_back(schema: Schema, format_: str, folder: Path) -> Imported:
    text = {**INFRASTRUCTURE, **MODELS}[format_](schema)
    return read(saved(folder, f"made.{SUFFIX[format_]}", text))


def plain(table: TableSchema) -> TableSchema:
    """What templates say of a table."""
    return replace(table, type_attribute=None)


@pytest.mark.parametrize("format_", ["cloudformation", "terraform"])
@pytest.mark.parametrize("public", PUBLIC, ids=[public.name for public in PUBLIC])
def test_tables_come_back_from_templates(public: Public, format_: str, tmp_path: Path) -> None:
    schema = drafted(public).schema
    found = there_and_back(schema, format_, tmp_path)
    assert found.tables == [plain(table) for table in schema.tables]
    assert found.questions == []


@pytest.mark.parametrize("format_", ["cloudformation", "terraform"])
def test_expiry_streams_and_projections_come_back(format_: str, tmp_path: Path) -> None:
    schema = Schema("orders", (ORDERS,))
    assert there_and_back(schema, format_, tmp_path).tables == [ORDERS]


@pytest.mark.parametrize("public", PUBLIC, ids=[public.name for public in PUBLIC])
def test_entities_come_back_from_workbench(public: Public, tmp_path: Path) -> None:
    schema = drafted(public).schema
    again = loads(merge([there_and_back(schema, "workbench", tmp_path)]).text())
    assert again.name == schema.name
    assert {e.name: str(e.key) for e in again.entities} == {
        e.name: str(e.key) for e in schema.entities
    }
    assert {e.name: {a.name for a in e.attributes} for e in again.entities} == {
        e.name: {a.name for a in e.attributes} for e in schema.entities
    }
    assert [plain(t) for t in again.tables] == [plain(t) for t in schema.tables]


def test_electrodbs_models_come_back(tmp_path: Path) -> None:
    first = merge([read(saved(tmp_path, "task.json", TASKS))], name="TaskApp").schema
    again = merge([there_and_back(first, "electrodb", tmp_path)], name="TaskApp").schema
    assert again.entities == first.entities
    assert again.tables == first.tables


def test_padded_numbers_are_padded_there(tmp_path: Path) -> None:
    issue = EntitySchema(
        "Issue",
        "things",
        KeyTemplates(template("REPO#{repo}"), template("ISSUE#{number:07d}")),
        (AttributeSchema("repo", "repo", "string"), AttributeSchema("number", "number", "number")),
    )
    schema = Schema("repos", (TableSchema("things"),), (issue,))
    made = json.loads(MODELS["electrodb"](schema))
    assert made[0]["attributes"]["number"]["padding"] == {"length": 7, "char": "0"}
    found = there_and_back(schema, "electrodb", tmp_path)
    assert str(found.entities[0].key) == "REPO#{repo} / ISSUE#{number:07d}"


def test_what_electrodb_cannot_say_is_refused() -> None:
    deals = next(each for each in PUBLIC if each.name == "Big Time Deals")
    with pytest.raises(KeyfoldError, match="ElectroDB has no key format '%Y-%m-%d'"):
        MODELS["electrodb"](drafted(deals).schema)


ODD = [
    'quoted "name"',
    "${Prefix}",
    "%{ if true }x%{ endif }",
    "two\nlines",
    "{braces} and }",
    "__import__('os').system('false')",
    '"""); raise SystemExit(1)',
]


@pytest.mark.parametrize("odd", ODD)
def test_odd_names_and_descriptions_are_data_everywhere(odd: str, tmp_path: Path) -> None:
    thing = EntitySchema(
        "Thing",
        "things",
        KeyTemplates(template("T#{id}"), template("T")),
        (AttributeSchema("id", "id", "string"), AttributeSchema(odd, "odd", "string")),
        description=odd,
    )
    schema = Schema(odd, (TableSchema("things"),), (thing,), description=odd)
    for format_ in SUFFIX:
        found = there_and_back(schema, format_, tmp_path)
        assert [table.name for table in found.tables] == ["things"], format_
    workbench = there_and_back(schema, "workbench", tmp_path)
    assert workbench.name == odd
    assert {a.name for e in workbench.entities for a in e.attributes} == {"id", odd}
    electro = there_and_back(schema, "electrodb", tmp_path)
    assert {a.name for a in electro.entities[0].attributes} == {"id", odd, "__edb_v__"}
    assert electro.name == odd


@pytest.mark.parametrize("odd", ['a"b', "${x}", "%{y}", "line\nbreak", "back\\slash"])
def test_odd_attribute_names_come_back_from_templates(odd: str, tmp_path: Path) -> None:
    schema = Schema("odd", (TableSchema("things", partition=odd, type_attribute=None),))
    for format_ in ("cloudformation", "terraform"):
        assert there_and_back(schema, format_, tmp_path).tables == list(schema.tables), format_


def test_the_command_writes_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shop: Any = next(each for each in PUBLIC if each.name == "online shop")
    Path("shop.yaml").write_text(dumps(drafted(shop).schema))
    assert main(["export", "workbench", "shop.yaml", "-o", "shop.json"]) == 0
    assert main(["export", "electrodb", "shop.yaml", "-o", "models.json"]) == 0
    assert main(["import", "shop.json", "-o", "again.yaml"]) == 0
    assert len(json.loads(Path("models.json").read_text())) == 9
