"""Vector indexes and global tables of a design: in files, documents, costs, exports and checks."""

from __future__ import annotations

import sys
from types import ModuleType

import cfnlint
import pytest

from keyfold.design.file import DesignFileError, dumps, loads
from keyfold.design.schema import Replication
from keyfold_engine.engine.replication import Regions
from keyfold.errors import DeclarationError, KeyfoldError
from keyfold.review.check import check
from keyfold_workbench.cost.tally import bill
from keyfold_workbench.cost.workload_file import loads as load_workload
from keyfold.review.docs.content import document
from keyfold.review.docs.markdown import markdown
from keyfold.review.draft.python import declaration
from keyfold_workbench.infra import cdk, cloudformation, iam, script, terraform
from keyfold.runtime import Design
from keyfold.runtime.tables import create_request

NOTES = """\
design: notes
tables:
  main:
    key: [PK, SK]
    vectors:
      by_embedding:
        {attribute: embedding, dimensions: 384, within: ownerId, filters: [stars], numbers: [stars]}
entities:
  Note:
    key: {PK: OWNER#<ownerId>, SK: NOTE#<noteId>}
    attributes: {ownerId: id, noteId: id, stars: number, embedding: list max 384}
patterns:
  Notes of an owner: {query: Note, where: PK = OWNER#<ownerId>, limit: 20, paged: true}
searches:
  Similar notes: {entity: Note, index: by_embedding, given: [ownerId], limit: 10}
"""
WORKLOAD = """\
design: notes
entities:
  Note: {items: 1_000_000, distinct: {ownerId: 1000}}
patterns:
  Similar notes: {rate: 10}
  Notes of an owner: {rate: 0}
writes:
  create Note: {rate: 1}
"""
USERS = """\
design: users
tables:
  main:
    key: [PK, SK]
    replication: {regions: [us-east-1, eu-west-1], home: us-east-1}
entities:
  User:
    key: {PK: USER#<userId>, SK: USER}
    attributes: {userId: id}
patterns:
  User by id:
    get: User
    where: PK = USER#<userId>, SK = USER
"""


@pytest.mark.parametrize("text", [NOTES, USERS], ids=["vectors", "regions"])
def test_a_design_file_is_read_as_it_was_written(text: str) -> None:
    schema = loads(text)
    assert loads(dumps(schema)) == schema
    assert check(schema).findings == ()


def test_a_search_of_no_index_is_refused() -> None:
    with pytest.raises(DesignFileError, match="has no vector index 'by_meaning'"):
        loads(NOTES.replace("index: by_embedding", "index: by_meaning"))


def test_the_table_is_made_with_its_vector_index() -> None:
    request = create_request(loads(NOTES).tables[0], "Notes")
    [index] = request["VectorIndexes"]
    assert index["SearchSchema"] == [
        {"AttributeName": "ownerId", "SearchSchemaElementType": "HASH"},
        {"AttributeName": "stars", "SearchSchemaElementType": "INLINE_FILTER"},
    ]
    types = {one["AttributeName"]: one["AttributeType"] for one in request["AttributeDefinitions"]}
    assert types == {"PK": "S", "SK": "S", "ownerId": "S", "stars": "N"}


def test_the_document_shows_indexes_searches_and_regions() -> None:
    shown = markdown(document(loads(NOTES)), pictures="")
    assert "| **by_embedding** | `embedding` | 384 | cosine | `ownerId` | `stars` |" in shown
    assert "| Similar notes | Note | by_embedding | ownerId | 10 |" in shown
    regions = markdown(document(loads(USERS)), pictures="")
    assert "Regions: us-east-1, eu-west-1; written in us-east-1 only." in regions


def test_vectors_are_priced_by_the_bytes_of_their_entries() -> None:
    schema = loads(NOTES)
    made = bill(schema, load_workload(WORKLOAD, schema))
    lines = {line.name: line for line in made.upkeep}
    # 384 numbers of 4 bytes, and about 200 of the rest.
    entry = 1536 + 200
    seconds = 730 * 3600
    written = lines["writes to by_embedding"].dollars
    assert written == pytest.approx(entry * seconds / 2**30 * 0.52, rel=0.1)
    searched = lines["search Similar notes"].dollars
    assert searched == pytest.approx(1000 * entry * 10 * seconds / 2**30 * 0.002, rel=0.1)
    stored = lines["storage of by_embedding"].dollars
    assert stored == pytest.approx(1e6 * (entry + 100) / 2**30 * 0.25, rel=0.1)
    # A write is billed for four bytes a number too, in write units of a kilobyte.
    assert made.writes[0].write.units == 2


def test_a_search_needs_its_permission() -> None:
    assert "dynamodb:SearchVectors" in iam.render(loads(NOTES))
    assert "index/by_embedding" in iam.render(loads(NOTES))


STRONG = USERS.replace(
    "{regions: [us-east-1, eu-west-1], home: us-east-1}",
    "{regions: [us-east-1, us-east-2, us-west-2], conflict: refused}",
)
PROVISIONED = USERS.replace("key: [PK, SK]", "key: [PK, SK]\n    billing: PROVISIONED")


@pytest.mark.parametrize(
    ("form", "text"),
    [
        *((form, NOTES) for form in (cdk, cloudformation, terraform)),
        *((form, PROVISIONED) for form in (cdk, cloudformation, terraform)),
        (cdk, STRONG),
        (terraform, STRONG),
    ],
)
def test_what_a_form_cannot_say_is_refused(form: ModuleType, text: str) -> None:
    with pytest.raises(KeyfoldError, match="use export boto3"):
        form.render(loads(text))


@pytest.mark.parametrize(
    ("text", "regions"),
    [(USERS, ["us-east-1", "eu-west-1"]), (STRONG, ["us-east-1", "us-east-2", "us-west-2"])],
    ids=["last writer", "refused"],
)
def test_cloudformation_makes_a_global_table(text: str, regions: list[str]) -> None:
    schema = loads(text)
    table = cloudformation.template(schema)["Resources"]["MainTable"]
    assert table["Type"] == "AWS::DynamoDB::GlobalTable"
    assert [replica["Region"] for replica in table["Properties"]["Replicas"]] == regions
    assert table["Properties"]["StreamSpecification"]["StreamViewType"] == "NEW_AND_OLD_IMAGES"
    strong = table["Properties"].get("MultiRegionConsistency")
    assert strong == ("STRONG" if text == STRONG else None)
    config = cfnlint.ManualArgs(regions=["us-east-1"])
    found = cfnlint.lint(cloudformation.render(schema), config=config)
    assert [str(match) for match in found] == []


def test_terraform_and_the_cdk_name_the_other_regions() -> None:
    table = terraform.render(loads(USERS)).partition('resource "aws_dynamodb_table" "main"')[2]
    assert 'region_name            = "eu-west-1"' in table.partition("\nresource")[0]
    assert 'stream_view_type            = "NEW_AND_OLD_IMAGES"' in table
    assert "replication_regions=['eu-west-1']," in cdk.render(loads(USERS))


def test_the_script_makes_the_replicas() -> None:
    made: dict[str, object] = {"__name__": "made"}
    exec(script.render(loads(USERS)), made)
    assert made["REPLICAS"] == {
        "main": [{"TableName": "main", "ReplicaUpdates": [{"Create": {"RegionName": "eu-west-1"}}]}]
    }


@pytest.mark.parametrize(
    ("replication", "message"),
    [
        (Replication(("us-east-1",)), "is in the regions us-east-1"),
        (Replication(("us-east-1", "eu-west-1"), conflict="refused"), "refuses conflicts in 2"),
        (Replication(("us-east-1", "eu-west-1"), home="eu-west-2"), "has the home eu-west-2"),
    ],
    ids=["one", "strong", "home"],
)
def test_wrong_regions_are_refused(replication: Replication, message: str) -> None:
    with pytest.raises(DeclarationError, match=message):
        Design("wrong").table("Wrong", replication=replication)


@pytest.mark.parametrize("conflict", ["last_writer", "refused"])
def test_the_replicas_of_a_design_are_made(conflict: str) -> None:
    names = ("us-east-1", "eu-west-1", "eu-west-2")
    if conflict == "refused":
        names = ("us-east-1", "us-east-2", "us-west-2")
    design = Design("users")
    design.table("Users", replication=Replication(names, conflict=conflict))  # type: ignore[arg-type]
    with Regions() as regions:
        db = design.open(regions.engine("us-east-1"))
        for _ in range(2):
            db.create_tables(replicas=True)
        for name in names:
            table = regions.engine(name).call("DescribeTable", {"TableName": "Users"})["Table"]
            assert {replica["RegionName"] for replica in table["Replicas"]} >= set(names) - {name}


@pytest.mark.parametrize("text", [NOTES, USERS], ids=["vectors", "regions"])
def test_a_design_file_becomes_python_with_its_vectors_and_regions(text: str) -> None:
    schema = loads(text)
    made, unserved = declaration(schema)
    module = ModuleType("declared")
    sys.modules["declared"] = module
    exec(compile(made, "declared.py", "exec"), module.__dict__)
    again = module.design.schema
    assert unserved == []
    assert again.tables[0].replication == schema.tables[0].replication
    assert [(one.name, one.dimensions, one.within) for one in again.tables[0].vectors] == [
        (one.name, one.dimensions, one.within) for one in schema.tables[0].vectors
    ]
    assert [(one.entity, one.index, one.limit) for one in again.searches] == [
        (one.entity, one.index, one.limit) for one in schema.searches
    ]
