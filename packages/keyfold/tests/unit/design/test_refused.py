"""Declarations that cannot work are refused when they are made, with place and suggestion."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from keyfold.design.target import load_design
from keyfold.errors import DeclarationError

HEAD = """
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Annotated, Literal
from pydantic import BaseModel
from keyfold import (
    AtMost,
    Counter,
    Created,
    Design,
    Entity,
    Get,
    Id,
    Index,
    Key,
    Name,
    On,
    Pointer,
    Timestamp,
    Ttl,
    Unique,
    Version,
    get,
)
from keyfold.structures import Cascade, Edge, Sharded
design = Design("d")
table = design.table("Items", indexes=[Index("GSI1", "GSI1PK", "GSI1SK")], ttl="ttl")
"""
TABLES = {
    "design.table('a b')": "cannot be the name of a table",
    "design.table('U', sort_type='X')": "SK of U has the type 'X'",
    "design.table('U', stream='NEW')": "stream 'NEW'. Streams are: NEW_AND_OLD_IMAGES",
    "design.table('U', naming='kebab')": "'kebab'. Use",
    "design.table('U', partition='PK', sort='PK')": "PK as partition and as sort key",
    "design.table('U', ttl='SK')": "expires items by SK, which is part of its key",
    "design.table('U', indexes=['GSI1'])": "'GSI1' is not an index of U",
    "design.table('U', indexes=[Index('G', 'a')])": "'G' cannot be the name of an index",
    "design.table('U', indexes=[Index('GSI1', 'a', projection=('t',))])": "projection ('t',)",
    "design.table('U', indexes=[Index('GSI1', 'a', projection='INCLUDE')])": "go together",
    "design.table('U', indexes=[Index('GSI1', 'a', included=('t',))])": "go together",
    "design.table('U', indexes=[Index('LSI1', 'a', 'b', local=True)])": "table's partition key PK",
    "design.table('U', indexes=[Index('GSI1', 'a', 'SK', sort_type='N')])": "SK is of type S and",
    "design.table('U', indexes=[Index(f'GSI{n}', f'k{n}') for n in range(21)])": "takes 20",
}
ENTITIES = {
    "class A(Entity, tabel=table): ...": "has unknown options: tabel",
    "class A(Entity, table=table):\n  ref: str\n  key = Key('A#{ref}')": "ref hides ref of Entity",
    "class A(Entity, table='Items'):\n  a: Id": "table='Items', which is not a table",
    "class A(Entity, table=table):\n  a: Id | None = None\n  key = Key('A#{a}', 'A')": (
        "K2 .*primary key uses a, which may be missing"
    ),
    "class A(Entity, table=table):\n  a: Id\n  key = Key('A#{a}', 'A')\n  b = Key('B#{a}', 'B')": (
        "K2 .*two primary keys, key and b"
    ),
    "class A(Entity, table=table):\n  a: Id\n  key = Key('', 'A')": "cannot be a key template",
    "class A(Entity, table=table):\n  a: Id\n  key = Key('A#{a:012d}', 'A')": (
        "K8 .*a is of kind string.*It is for fields of kind integer"
    ),
    "class A(Entity, table=table):\n  a: date\n  key = Key('A#{a:iso}', 'A')": "of kind timestamp",
    "class A(Entity, table=table):\n  a: Id\n  n: Annotated[int, Name('PK')]\n"
    "  key = Key('A#{a}', 'A')": "n is stored as 'PK', which holds the key 'A#{a}'",
    "class A(Entity, table=table):\n  a: Annotated[Id, Name('PK')]\n  key = Key('A#{a}', 'A')": (
        "a is stored as 'PK', which holds the key"
    ),
}
FIELDS = {
    "str | None = 'x'": "None is stored as a missing attribute",
    "Annotated[int, Version] = 0": "Version has no parentheses",
    "Annotated[str, Created()] = ''": "Created is on a field of kind string",
    "Annotated[int, AtMost(3)] = 0": "AtMost is on a field of kind integer",
    "Annotated[Timestamp | None, Ttl(1, after='creatd')] = None": "Ttl counts from 'creatd'",
    "Enum('E', {'A': 1.5})": "mixes text and number members",
    "Enum('E', {'A': 1, 'B': 'b'})": "mixes text and number members",
    "'Later'": "'Later' is not known where the entity is declared",
    "Annotated[int, Sharded('a', 4)] = 0": "A is not an Edge",
    "Annotated[str, Counter('A')] = ''": "cannot hold a sum of integer values",
    "Annotated[int, Counter('A', sums='a')] = 0": "cannot hold a sum of string values",
    "Annotated[int, Counter('A', via={'a': 'b'}, sync='later')] = 0\n  b: str = ''": (
        "has sync='later'"
    ),
    "Annotated[int, Counter('B')] = 0": "has no entity 'B'",
}
CANONICAL = """
class A(Entity, table=table):
    a: Id
    name: str = ""
    note: str | None = None
    groups: set[str] = set()
    key = Key("A#{a}", "A")
"""
OTHERS = {
    "class P(Pointer[A], table=table, each='name'):\n  g: Id\n  a: Id\n"
    "  key = Key('{g}', 'P#{a}')": "each='name' is of kind string, which cannot list targets",
    "class P(Pointer[A], table=table, each='groups'):\n  g: Id\n  a: Id\n  name: int\n"
    "  key = Key('{g}', 'P#{a}')": "name is of kind integer, and in A, .* of kind string",
    "class P(Pointer[A], table=table, each='groups'):\n  g: Id\n  a: Id\n  note: str\n"
    "  key = Key('{g}', 'P#{a}')": "note is of kind string, and in A, .* of kind string, or miss",
    "class B(Entity, table=table):\n  b: Id\n  key = Key('B#{b}', 'B')\n  one = Unique()": (
        "Unique has no fields"
    ),
    "@design.on\ndef heard(old, new, delivery): ...": "which is not an entity with a table",
    "@design.on(A)\ndef heard(new): ...": r"Write def heard\(old, new, delivery\)",
    "@design.pattern()\ndef one(a: str) -> Get[A]:\n  return get(A.key(a=a.lower()))": (
        "reads the value of its parameter 'a'"
    ),
}


@pytest.fixture
def declare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    def declared(text: str) -> None:
        (tmp_path / "refused_design.py").write_text(f"{HEAD}{text}\n")
        monkeypatch.delitem(sys.modules, "refused_design", raising=False)
        load_design("refused_design:design").schema  # noqa: B018

    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return declared


def refused(declare: object, text: str, words: str) -> None:
    assert callable(declare)
    with pytest.raises(DeclarationError) as caught:
        declare(text)
    message = str(caught.value)
    assert words in message or re.search(words, message), message
    assert re.search(r"refused_design\.py:\d+", message), message


@pytest.mark.parametrize("text", TABLES)
def test_a_table_that_dynamodb_would_not_take_is_refused(declare: object, text: str) -> None:
    refused(declare, text, TABLES[text])


@pytest.mark.parametrize("text", ENTITIES)
def test_an_entity_that_cannot_be_stored_is_refused(declare: object, text: str) -> None:
    refused(declare, text, ENTITIES[text])


@pytest.mark.parametrize("kind", FIELDS)
def test_a_field_that_would_not_do_what_it_says_is_refused(declare: object, kind: str) -> None:
    text = f"class A(Entity, table=table):\n  a: Id\n  x: {kind}\n  key = Key('A#{{a}}', 'A')"
    refused(declare, text, FIELDS[kind])


@pytest.mark.parametrize("text", OTHERS)
def test_what_does_not_fit_its_entity_is_refused(declare: object, text: str) -> None:
    refused(declare, f"{CANONICAL}{text}", OTHERS[text])
