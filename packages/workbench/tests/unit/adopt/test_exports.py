"""Out again: what is exported is read back as it was, and names are never code."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.adopt.public import designs
from tests.unit.adopt.public.made import Public
from tests.unit.adopt.scores import drafted
from tests.unit.adopt.sources.test_models import saved
from tests.unit.adopt.sources.test_templates import ORDERS

from keyfold.design.schema import AttributeSchema, EntitySchema, KeyTemplates, Schema, TableSchema
from keyfold.design.template import template
from keyfold_workbench.adopt.sources.detection import read
from keyfold_workbench.adopt.sources.material import Imported
from keyfold_workbench.infra import FORMATS as INFRASTRUCTURE

PUBLIC = designs()
SUFFIX = {"cloudformation": "yaml", "terraform": "tf"}


def there_and_back(schema: Schema, format_: str, folder: Path) -> Imported:
    text = INFRASTRUCTURE[format_](schema)
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


@pytest.mark.parametrize("odd", ['a"b', "${x}", "%{y}", "line\nbreak", "back\\slash"])
def test_odd_attribute_names_come_back_from_templates(odd: str, tmp_path: Path) -> None:
    schema = Schema("odd", (TableSchema("things", partition=odd, type_attribute=None),))
    for format_ in ("cloudformation", "terraform"):
        assert there_and_back(schema, format_, tmp_path).tables == list(schema.tables), format_
