"""Entities from other tools' models; the examples are written up after their documentation."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from keyfold.cli import main
from keyfold.design.file import load, loads
from keyfold.design.schema import EntitySchema
from keyfold.errors import KeyfoldError
from keyfold.review.draft.python import declaration
from keyfold_engine.expressions.text import condition_text
from keyfold_workbench.adopt.merged_sources import merge
from keyfold_workbench.adopt.sources.detection import read
from keyfold_workbench.adopt.sources.material import Imported


def saved(folder: Path, name: str, data: Any) -> str:
    path = folder / name
    path.write_text(data if isinstance(data, str) else json.dumps(data, indent=1), encoding="utf-8")
    return str(path)


def entities(found: Imported) -> dict[str, EntitySchema]:
    return {entity.name: entity for entity in found.entities}


def keys(entity: EntitySchema) -> dict[str, str]:
    return {"": str(entity.key), **{p.index: str(p.key) for p in entity.placements}}


def types(entity: EntitySchema) -> dict[str, str]:
    return {
        a.field: f"{'optional ' * a.optional}{a.type} {a.stored}".strip() for a in entity.attributes
    }


def declared(found: Imported) -> str:
    """The Python of what was imported: it can be declared."""
    text, _ = declaration(loads(merge([found]).text()))
    compile(text, "made.py", "exec")
    return text


TASKS: dict[str, Any] = {
    "model": {"entity": "Task", "version": "1", "service": "TaskApp"},
    "table": "electro",
    "attributes": {
        "taskId": {"type": "string", "required": True},
        "project": {"type": "string", "required": True},
        "employeeId": {"type": "string", "required": True, "field": "emp"},
        "status": {"type": ["open", "closed"], "default": "open"},
        "points": {"type": "number"},
        "tags": {"type": "set", "items": "string"},
        "dueOn": {"type": "string"},
    },
    "indexes": {
        "task": {
            "pk": {"field": "pk", "composite": ["taskId"]},
            "sk": {"field": "sk", "composite": ["project"]},
        },
        "assigned": {
            "index": "gsi1pk-gsi1sk-index",
            "collection": "assignments",
            "pk": {"field": "gsi1pk", "composite": ["employeeId"]},
            "sk": {"field": "gsi1sk", "composite": ["status", "taskId"]},
        },
        "due": {
            "index": "gsi2pk-gsi2sk-index",
            "type": "clustered",
            "collection": ["board", "late"],
            "pk": {"field": "gsi2pk", "template": "PROJECT#${project}", "casing": "none"},
            "sk": {"field": "gsi2sk", "composite": ["dueOn"]},
        },
    },
}


def test_electrodb_keys_are_those_that_electrodb_writes(tmp_path: Path) -> None:
    found = read(saved(tmp_path, "task.json", TASKS))
    task = entities(found)["Task"]
    assert keys(task) == {
        "": "$taskapp#taskid_{taskId:lowercase} / $task_1#project_{project:lowercase}",
        "gsi1pk-gsi1sk-index": "$taskapp#employeeid_{employeeId:lowercase} / "
        "$assignments#task_1#status_{status:lowercase}#taskid_{taskId:lowercase}",
        "gsi2pk-gsi2sk-index": "PROJECT#{project} / $board#late#dueon_{dueOn:lowercase}#task_1",
    }
    assert types(task)["points"] == "optional decimal"
    assert task.by_field["employeeId"].name == "emp"
    assert task.by_field["status"].values == ("open", "closed")
    due = task.placement("gsi2pk-gsi2sk-index")[0]
    assert due.when is not None
    assert condition_text(due.when) == "attribute_exists(dueOn)"
    assert found.tables[0].type_attribute == "__edb_e__"
    assert "class Task(Entity" in declared(found)


def test_an_electrodb_service_is_all_its_entities(tmp_path: Path) -> None:
    task = {name: value for name, value in TASKS.items() if name != "table"}
    note = {**task, "model": {**TASKS["model"], "entity": "note"}}
    found = read(saved(tmp_path, "app.json", {"entities": {"a": task, "b": note}}), table="mine")
    assert [e.name for e in found.entities] == ["Task", "Note"]
    assert [t.name for t in found.tables] == ["mine"]


def workbench() -> dict[str, Any]:
    def row(**values: str) -> dict[str, Any]:
        return {name: {"S": value} for name, value in values.items()}

    players = [
        row(PK=f"player{n}", SK=f"#METADATA#player{n}", Email=f"{n}@x.org") for n in range(4)
    ]
    items = [row(PK=f"player{n}", SK=f"ITEMS#i{n}", ItemId=f"i{n}") for n in range(4)]
    return {
        "ModelName": "Game",
        "ModelMetadata": {"Version": "3.0", "AWSService": "Amazon DynamoDB"},
        "DataModel": [
            {
                "TableName": "Players",
                "KeyAttributes": {
                    "PartitionKey": {"AttributeName": "PK", "AttributeType": "S"},
                    "SortKey": {"AttributeName": "SK", "AttributeType": "S"},
                },
                "NonKeyAttributes": [{"AttributeName": "Email", "AttributeType": "S"}],
                "TableFacets": [
                    {"FacetName": "Player", "TableData": players},
                    {"FacetName": "GameItems", "TableData": items},
                    {"FacetName": "Friends", "TableData": []},
                ],
                "GlobalSecondaryIndexes": [
                    {
                        "IndexName": "ByEmail",
                        "KeyAttributes": {
                            "PartitionKey": {"AttributeName": "Email", "AttributeType": "S"}
                        },
                        "Projection": {"ProjectionType": "ALL"},
                    }
                ],
                "BillingMode": "PAY_PER_REQUEST",
            }
        ],
    }


def test_workbench_facets_and_their_sample_data(tmp_path: Path) -> None:
    found = read(saved(tmp_path, "game.json", workbench()))
    made = merge([found])
    assert {e.name: str(e.key) for e in made.schema.entities} == {
        "Player": "{PartitionId} / #METADATA#{PartitionId}",
        "GameItems": "{PartitionId} / ITEMS#{ItemId}",
    }
    assert keys(made.schema.by_entity["Player"])["ByEmail"] == "{Email}"
    assert "The facet Friends of Players has no sample data" in " ".join(made.questions)


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith("their_"):
            del sys.modules[name]


PYNAMODB = """\
from pynamodb.attributes import *
from pynamodb.indexes import AllProjection, GlobalSecondaryIndex, LocalSecondaryIndex
from pynamodb.indexes import IncludeProjection, KeysOnlyProjection
from pynamodb.models import Model

class ViewIndex(LocalSecondaryIndex):
    class Meta:
        index_name = "viewIdx"
        projection = KeysOnlyProjection()
    forum_name = UnicodeAttribute(hash_key=True)
    views = NumberAttribute(range_key=True)

class ByPoster(GlobalSecondaryIndex):
    class Meta:
        index_name = "poster"
        projection = IncludeProjection(["views"])
    last_post_by = UnicodeAttribute(hash_key=True, attr_name="lpb")

class Thread(Model):
    "A thread of a forum."
    class Meta:
        table_name = "Thread"
    forum_name = UnicodeAttribute(hash_key=True)
    subject = UnicodeAttribute(range_key=True)
    views = NumberAttribute(default=0)
    last_post_by = UnicodeAttribute(null=True, attr_name="lpb")
    last_post = UTCDateTimeAttribute()
    tags = UnicodeSetAttribute(null=True)
    extra = MapAttribute(null=True)
    expires = TTLAttribute(null=True)
    version = VersionAttribute()
    view_index = ViewIndex()
    by_poster = ByPoster()
"""


def test_pynamodb_models(modules: Path) -> None:
    saved(modules, "their_forum.py", PYNAMODB)
    found = read("their_forum")
    thread = entities(found)["Thread"]
    assert keys(thread) == {
        "": "{forum_name} / {subject}",
        "viewIdx": "{forum_name} / {views}",
        "poster": "{last_post_by}",
    }
    assert types(thread) == {
        "forum_name": "string",
        "subject": "string",
        "views": "decimal",
        "last_post_by": "optional string",
        "last_post": "timestamp iso_offset",
        "tags": "optional string_set",
        "extra": "optional map",
        "expires": "optional timestamp epoch",
        "version": "number",
    }
    assert thread.version == "version"
    table = found.tables[0]
    assert (table.ttl, table.type_attribute) == ("expires", None)
    assert [(i.local, i.projection, i.included) for i in table.indexes] == [
        (False, "INCLUDE", ("views",)),
        (True, "KEYS_ONLY", ()),
    ]
    assert 'Annotated[Timestamp, Stored("iso_offset")]' in declared(found)


# Several sources


def test_a_template_gives_the_table_a_model_the_entities(tmp_path: Path) -> None:
    template = """\
Resources:
  App:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: production-app
      BillingMode: PAY_PER_REQUEST
      KeySchema: [{AttributeName: pk, KeyType: HASH}, {AttributeName: sk, KeyType: RANGE}]
      AttributeDefinitions:
        - {AttributeName: pk, AttributeType: S}
        - {AttributeName: sk, AttributeType: S}
        - {AttributeName: gsi1pk, AttributeType: S}
        - {AttributeName: gsi1sk, AttributeType: S}
      GlobalSecondaryIndexes:
        - IndexName: gsi1pk-gsi1sk-index
          KeySchema:
            - {AttributeName: gsi1pk, KeyType: HASH}
            - {AttributeName: gsi1sk, KeyType: RANGE}
          Projection: {ProjectionType: ALL}
      TimeToLiveSpecification: {AttributeName: expires, Enabled: true}
"""
    made = tmp_path / "design.yaml"
    sources = [saved(tmp_path, "t.yaml", template), saved(tmp_path, "task.json", TASKS)]
    assert main(["import", *sources, "--name", "tasks", "-o", str(made)]) == 0
    design = load(made)
    assert [t.name for t in design.tables] == ["production-app"]
    assert (design.tables[0].ttl, design.tables[0].type_attribute) == ("expires", "__edb_e__")
    assert [p.index for p in design.entities[0].placements] == ["gsi1pk-gsi1sk-index"]
    text = made.read_text()
    assert "is assumed to be the table production-app." in text
    assert "# ? Task is placed on gsi2pk-gsi2sk-index, which production-app does not have" in text
    python = tmp_path / "design.py"
    assert main(["new", str(made), "--output", str(python)]) == 0
    compile(python.read_text(), "design.py", "exec")


def test_a_table_without_entities_asks_for_them(tmp_path: Path) -> None:
    data = workbench()
    data["DataModel"][0]["TableFacets"] = []
    made = merge([read(saved(tmp_path, "game.json", data))])
    assert made.questions == [
        "What is in Players? Add a model, or items: keyfold inspect Players --sample-file FILE "
        "makes a source of them."
    ]


def test_sources_that_disagree_are_refused(tmp_path: Path) -> None:
    one = read(saved(tmp_path, "task.json", TASKS))
    with pytest.raises(KeyfoldError, match="two sources declare Task; leave one of them out"):
        merge([one, one])
    other = read(saved(tmp_path, "game.json", workbench()))
    other.tables[0] = type(other.tables[0])("electro", "id", None)
    with pytest.raises(KeyfoldError, match="two sources disagree on the key of electro"):
        merge([one, other])


@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        ("task.json", {"indexes": {}}, "Task has no primary index"),
        ("task.json", {"attributes": []}, "expected attributes of Task, found a list"),
        ("task.json", {"attributes": {}}, "names 'taskId', which is not among the attributes"),
    ],
)
def test_a_model_that_says_too_little_is_refused(
    tmp_path: Path, name: str, change: dict[str, Any], told: str
) -> None:
    with pytest.raises(KeyfoldError, match=told):
        read(saved(tmp_path, name, {**TASKS, **change}))


def test_a_module_without_models_is_refused(modules: Path) -> None:
    saved(modules, "their_nothing.py", "x = 1\n")
    with pytest.raises(KeyfoldError, match="no model of PynamoDB"):
        read("their_nothing")
    with pytest.raises(KeyfoldError, match="has no class 'Y'"):
        read("their_nothing:Y")
    with pytest.raises(KeyfoldError, match="unknown module 'their_gone'"):
        read("their_gone")
