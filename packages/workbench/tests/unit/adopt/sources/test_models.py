"""Entities from other tools' models; the examples are written up after their documentation."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from keyfold_workbench.adopt.merged_sources import merge
from keyfold_workbench.adopt.sources.detection import read
from keyfold_workbench.adopt.sources.material import Imported
from keyfold.cli import main
from keyfold.design.file import load, loads
from keyfold.design.schema import EntitySchema
from keyfold.errors import KeyfoldError
from keyfold_engine.expressions.text import condition_text
from keyfold.review.draft.python import declaration


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


ONETABLE: dict[str, Any] = {
    "version": "0.1.0",
    "format": "onetable:1.1.0",
    "indexes": {
        "primary": {"hash": "pk", "sort": "sk"},
        "gs1": {"hash": "gs1pk", "sort": "gs1sk", "project": ["email"]},
    },
    "models": {
        "Account": {
            "pk": {"type": "string", "value": "account:${name}"},
            "sk": {"type": "string", "value": "account:"},
            "name": {"type": "string", "required": True},
            "balance": {"type": "number"},
            "since": {"type": "date", "required": True},
        },
        "User": {
            "pk": {"type": "string", "value": "account:${accountName}"},
            "sk": {"type": "string", "value": "user:${number:6:0}"},
            "accountName": {"type": "string", "required": True},
            "number": {"type": "number", "required": True},
            "email": {"type": "string", "unique": True, "map": "em"},
            "role": {"type": "string", "enum": ["user", "admin"], "default": "user"},
            "gs1pk": {"type": "string", "value": "user:${email}"},
            "gs1sk": {"type": "string", "value": "user:"},
        },
    },
    "params": {"isoDates": True, "timestamps": True, "typeField": "_type"},
}


def test_onetable(tmp_path: Path) -> None:
    found = read(saved(tmp_path, "schema.json", ONETABLE), table="accounts")
    account, user = found.entities
    assert keys(account) == {"": "account:{name} / account:"}
    assert keys(user) == {
        "": "account:{accountName} / user:{number:06d}",
        "gs1": "user:{email} / user:",
    }
    assert types(account)["since"] == "timestamp iso_ms"
    assert types(account)["created"] == "optional timestamp iso_ms"
    assert user.by_field["email"].name == "em"
    assert user.placements[0].when is not None
    assert found.questions == ["User.email is unique by OneTable's own items (_Unique). Keep them?"]
    assert found.tables[0].indexes[0].included == ("email",)


POKEMON: dict[str, Any] = {
    "entityName": "POKEMON",
    "schema": {
        "type": "item",
        "attributes": {
            "trainerId": {"type": "string", "key": True, "required": "always"},
            "level": {"type": "number", "required": "atLeastOnce"},
            "pokeType": {"type": "string", "enum": ["fire", "water"], "savedAs": "pt"},
            "tags": {"type": "set", "elements": {"type": "string"}, "required": "never"},
            "SK": {"type": "string", "key": True, "required": "always", "hidden": True},
        },
    },
    "timestamps": True,
    "table": {
        "tableName": "poke-table",
        "partitionKey": {"name": "trainerId", "type": "string"},
        "sortKey": {"name": "SK", "type": "string"},
        "indexes": {
            "byLevel": {
                "type": "global",
                "partitionKey": {"name": "pt", "type": "string"},
                "sortKey": {"name": "level", "type": "number"},
            }
        },
        "entityAttributeSavedAs": "_et",
    },
}


def test_toolbox_asks_for_computed_keys(tmp_path: Path) -> None:
    found = read(saved(tmp_path, "pokemon.json", POKEMON))
    pokemon = entities(found)["Pokemon"]
    assert keys(pokemon) == {"": "{trainerId} / {SK}"}
    assert pokemon.by_field["pokeType"].name == "pt"
    assert types(pokemon)["tags"] == "optional string_set"
    assert types(pokemon)["created"] == "timestamp iso_ms"
    assert pokemon.type_name == "POKEMON"
    assert found.questions == [
        "POKEMON: SK is computed by code (computeKey or a link). What is its format?"
    ]
    assert found.tables[0].type_attribute == "_et"


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


ASSISTANT: dict[str, Any] = {
    "tables": [
        {
            "TableName": "Deals",
            "KeySchema": [
                {"AttributeName": "brand", "KeyType": "HASH"},
                {"AttributeName": "deal_id", "KeyType": "RANGE"},
            ],
            "AttributeDefinitions": [
                {"AttributeName": "brand", "AttributeType": "S"},
                {"AttributeName": "deal_id", "AttributeType": "S"},
            ],
            "BillingMode": "PAY_PER_REQUEST",
        }
    ],
    "items": {
        "Deals": [
            {"PutRequest": {"Item": {"brand": {"S": f"b{n % 3}"}, "deal_id": {"S": f"d{n}"},
                                     "price": {"N": f"{n}.5"}}}}
            for n in range(6)
        ]
    },
    "access_patterns": [
        {
            "pattern": "1",
            "description": "Deals of a brand",
            "table": "Deals",
            "dynamodb_operation": "Query",
            "implementation": "aws dynamodb query --table-name Deals "
            "--key-condition-expression '#b = :b' "
            "--expression-attribute-names '{\"#b\": \"brand\"}' "
            "--expression-attribute-values '{\":b\": {\"S\": \"b1\"}}'",
        },
        {"pattern": "2", "description": "Search", "reason": "OpenSearch"},
    ],
}  # fmt: skip


def test_the_assistants_data_model(tmp_path: Path) -> None:
    made = merge([read(saved(tmp_path, "dynamodb_data_model.json", ASSISTANT))])
    assert {e.name: str(e.key) for e in made.schema.entities} == {"Deal": "{brand} / {deal_id}"}
    assert "Pattern 1: Deals of a brand (Query on Deals: brand = b1)" in made.notes
    assert "Pattern 2: Search (not DynamoDB: OpenSearch)" in made.notes


GRAPHQL = """\
type Post @model @auth(rules: [{allow: owner}]) {
  id: ID!
  title: String!
  status: PostStatus
  blogID: ID! @index(name: "byBlog", sortKeyFields: ["createdAt"])
  rating: Float
  tags: [String]
  createdAt: AWSDateTime!
  comments: [Comment] @hasMany(indexName: "byPost", fields: ["id"])
}
type Comment @model {
  postID: ID! @primaryKey(sortKeyFields: ["number"])
  number: Int!
  post: Post @belongsTo
  content: String!
}
enum PostStatus { DRAFT PUBLISHED }
type Location { city: String }
"""


def test_an_amplify_schema(tmp_path: Path) -> None:
    found = read(saved(tmp_path, "schema.graphql", GRAPHQL))
    post, comment = found.entities
    assert keys(post) == {"": "{id}", "byBlog": "{blogID} / {createdAt:iso_ms}"}
    assert types(post) == {
        "id": "id",
        "title": "string",
        "status": "optional string",
        "blogID": "id",
        "rating": "optional decimal",
        "tags": "optional list",
        "createdAt": "timestamp iso_ms",
        "updatedAt": "timestamp iso_ms",
    }
    assert post.by_field["status"].values == ("DRAFT", "PUBLISHED")
    assert keys(comment) == {"": "{postID} / {number}"}
    assert comment.by_field["commentPostId"].refers == "Post"
    assert found.tables[1].sort_type == "N"
    declared(found)


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


def test_dyntastic_models(modules: Path) -> None:
    saved(
        modules,
        "their_products.py",
        """\
from datetime import datetime
from decimal import Decimal
from enum import Enum
from dyntastic import Dyntastic

class Size(Enum):
    small = "S"
    large = "L"

class Product(Dyntastic):
    __table_name__ = "products"
    __hash_key__ = "product_id"
    product_id: str
    price: Decimal
    size: Size | None = None
    added: datetime
""",
    )
    found = read("their_products:Product")
    product = entities(found)["Product"]
    assert keys(product) == {"": "{product_id}"}
    assert types(product) == {
        "product_id": "string",
        "price": "decimal",
        "size": "optional string",
        "added": "string",
    }
    assert any("Product.added is a datetime" in question for question in found.questions)


def test_pydynox_models_with_templates(modules: Path) -> None:
    saved(
        modules,
        "their_users.py",
        """\
from pydynox import Model, ModelConfig
from pydynox.attributes import NumberAttribute, StringAttribute, TTLAttribute
from pydynox.indexes import GlobalSecondaryIndex

class Order(Model):
    model_config = ModelConfig(table="shop")
    pk = StringAttribute(partition_key=True, template="USER#{user_id}")
    sk = StringAttribute(sort_key=True, template="ORDER#{order_id}")
    user_id = StringAttribute()
    order_id = StringAttribute()
    total = NumberAttribute(required=True, alias="t")
    expires = TTLAttribute()
    by_order = GlobalSecondaryIndex(index_name="inverted", partition_key="sk", sort_key="pk")
""",
    )
    found = read("their_users")
    order = entities(found)["Order"]
    assert keys(order) == {
        "": "USER#{user_id} / ORDER#{order_id}",
        "inverted": "ORDER#{order_id} / USER#{user_id}",
    }
    assert order.by_field["total"].name == "t"
    assert "pk" not in order.by_field
    declared(found)


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


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("type A @model {\n  id ID!\n}\n", "s.graphql:2: Syntax Error"),
        ("type A { id: ID! }\n", "s.graphql:1: no type has @model"),
        (
            'type A @model {\n  b: ID! @index(name: "x", sortKeyFields: ["c"])\n}\n',
            "s.graphql:1: A: the index x has the key c, which is not a field",
        ),
    ],
)
def test_a_wrong_graphql_schema_is_named_with_its_line(
    tmp_path: Path, text: str, told: str
) -> None:
    with pytest.raises(KeyfoldError) as refused:
        read(saved(tmp_path, "s.graphql", text))
    assert told in str(refused.value)


def test_a_module_without_models_is_refused(modules: Path) -> None:
    saved(modules, "their_nothing.py", "x = 1\n")
    with pytest.raises(KeyfoldError, match="no model of pynamodb, dyntastic, pydynox"):
        read("their_nothing")
    with pytest.raises(KeyfoldError, match="has no class 'Y'"):
        read("their_nothing:Y")
    with pytest.raises(KeyfoldError, match="unknown module 'their_gone'"):
        read("their_gone")
