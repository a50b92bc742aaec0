"""Exports are what their tools accept, and describe the tables that the engine makes."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cfnlint
import hcl2
import pytest

from keyfold.cli import main
from keyfold.design.file import loads
from keyfold.design.schema import Schema
from keyfold.design.target import load_schema
from keyfold_engine.engine import Engine
from keyfold_workbench.infra import FORMATS, cloudformation, iam

SYSTEMS = (
    "keyfold_systems.sellers.design:design",
    "keyfold_systems.sellers.current:design",
    "keyfold_systems.inviter.design:design",
    "keyfold_systems.search_room.design:design",
    "keyfold_systems.tamafriends.design:design",
    "keyfold_systems.gg_core.design:design",
)

NOTES = """
design: notes
tables:
  Notes:
    key: {PK: S, SK: N}
    ttl: expires
    indexes:
      by-author: {key: [author], projection: INCLUDE, included: [title]}
      by-title: {key: [PK, title], local: true, projection: KEYS_ONLY}
entities:
  Note:
    key: {PK: <room>, SK: <at>}
    attributes: {room: id, at: number, author: id, title: string}
patterns:
  note: {get: Note, where: "PK = <room>, SK = <at>"}
  notes by author: {query: Note, index: by-author, where: author = <author>}
operations:
  write: {does: [create Note]}
consumers:
  count: {table: Notes, entities: [Note], events: [INSERT]}
"""


@pytest.fixture(params=(*SYSTEMS, "notes"))
def schema(request: pytest.FixtureRequest) -> Schema:
    return loads(NOTES) if request.param == "notes" else load_schema(request.param)


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine.open(":memory:") as opened:
        yield opened


def shape(described: dict[str, Any]) -> dict[str, Any]:
    """What a description says of keys, indexes and the stream."""
    members = ("KeySchema", "StreamSpecification")
    found = {name: described.get(name) for name in members}
    found["types"] = {
        a["AttributeName"]: a["AttributeType"] for a in described["AttributeDefinitions"]
    }
    for member in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        found[member] = {
            index["IndexName"]: (index["KeySchema"], index["Projection"])
            for index in described.get(member, [])
        }
    return found


def tables(engine: Engine) -> dict[str, Any]:
    names = engine.call("ListTables", {})["TableNames"]
    return {
        name: shape(engine.call("DescribeTable", {"TableName": name})["Table"]) for name in names
    }


@pytest.mark.long
@pytest.mark.parametrize("target", ["notes", "keyfold_systems.gg_core.design:design"])
def test_cloudformation_passes_its_linter(target: str) -> None:
    text = cloudformation.render(loads(NOTES) if target == "notes" else load_schema(target))
    found = cfnlint.lint(text, config=cfnlint.ManualArgs(regions=["us-east-1"]))
    assert [str(match) for match in found] == []


def test_terraform_parses(schema: Schema) -> None:
    parsed = hcl2.load(StringIO(FORMATS["terraform"](schema)))
    made = [name for block in parsed["resource"] for name in block]
    assert sum("aws_dynamodb_table" in name for name in made) >= len(schema.tables)


@pytest.mark.skipif(shutil.which("terraform") is None, reason="terraform is not here")
def test_terraform_finds_nothing_to_format(schema: Schema, tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(FORMATS["terraform"](schema), encoding="utf-8")
    asked = ["terraform", "fmt", "-check", "-diff", str(tmp_path)]
    told = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert (told.returncode, told.stdout) == (0, "")


def test_cloudformation_describes_tables_that_the_engine_makes(
    schema: Schema, engine: Engine
) -> None:
    resources = cloudformation.template(schema)["Resources"].values()
    for resource in resources:
        if resource["Type"] != "AWS::DynamoDB::Table":
            continue
        asked = dict(resource["Properties"])
        asked["TableName"] = asked["TableName"]["Fn::Sub"].replace("${Prefix}", "")
        if "StreamSpecification" in asked:
            asked["StreamSpecification"] = {**asked["StreamSpecification"], "StreamEnabled": True}
        expiry = asked.pop("TimeToLiveSpecification", None)
        del asked["PointInTimeRecoverySpecification"]
        engine.call("CreateTable", asked)
        if expiry:
            engine.call(
                "UpdateTimeToLive",
                {"TableName": asked["TableName"], "TimeToLiveSpecification": expiry},
            )
    assert {table.name for table in schema.tables} <= set(tables(engine))


def test_the_cdk_stack_includes_the_template_with_its_code(
    schema: Schema, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run with stand-ins for the kit, which only note what they are given."""
    included: dict[str, Any] = {}

    def include(_: object, __: str, *, template_file: str, parameters: dict[str, str]) -> None:
        included.update(json.loads(Path(template_file).read_text()), given=parameters)

    archive = SimpleNamespace(s3_bucket_name="bucket", s3_object_key="key")
    stack = type("Stack", (), {"__init__": lambda *_, **__: None})
    kit: dict[str, dict[str, Any]] = {
        "aws_cdk": {"Stack": stack},
        "aws_cdk.aws_s3_assets": {"Asset": lambda *_, **__: archive},
        "aws_cdk.cloudformation_include": {"CfnInclude": include},
        "constructs": {"Construct": object},
    }
    for name, held in kit.items():
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(**held))
    made: dict[str, Any] = {}
    exec(compile(FORMATS["cdk"](schema), "stack.py", "exec"), made)
    next(each for name, each in made.items() if name.endswith("Stack") and name != "Stack")(
        None, "stack", parameters={"Prefix": "live-"}
    )
    code = {"CodeBucket": "bucket", "CodeKey": "key"}
    template = cloudformation.template(schema)
    has_code = "CodeKey" in template["Parameters"]
    assert included.pop("given") == {"Prefix": "live-", **(code if has_code else {})}
    assert included == template


def test_a_consumer_comes_with_its_queue_mapping_and_alarms() -> None:
    resources = cloudformation.template(loads(NOTES))["Resources"]
    kinds = [resource["Type"] for resource in resources.values()]
    for kind in ("AWS::SQS::Queue", "AWS::Lambda::Function", "AWS::Lambda::EventSourceMapping"):
        assert kinds.count(kind) == 1
    mapping = resources["NotesConsumerMapping"]["Properties"]
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert "NotesConsumerDeadLetters" in str(mapping["DestinationConfig"])
    assert resources["NotesTable"]["Properties"]["StreamSpecification"]


@pytest.mark.parametrize("target", SYSTEMS)
def test_events_of_processors_have_a_bus_a_rule_and_a_target(target: str) -> None:
    schema = load_schema(target)
    announces = "gg_core" in target
    template = cloudformation.template(schema)
    assert ({"EventBus", "EventTarget"} <= template["Parameters"].keys()) == announces
    assert ("EventRule" in template["Resources"]) == announces
    terraform = FORMATS["terraform"](schema)
    assert ("aws_cloudwatch_event_rule" in terraform) == announces
    assert ("events:PutEvents" in terraform) == announces
    if announces:
        rule = template["Resources"]["EventRule"]["Properties"]
        assert rule["EventPattern"] == {"source": [schema.name]}
        assert rule["Targets"] == [{"Id": "EventTarget", "Arn": {"Ref": "EventTarget"}}]
        for name, resource in template["Resources"].items():
            if resource["Type"] == "AWS::Lambda::Function":
                role = str(template["Resources"][f"{name}Role"])
                assert "events:PutEvents" in role
                assert "EVENT_BUS" in resource["Properties"]["Environment"]["Variables"]


def test_a_table_without_consumers_has_no_function() -> None:
    kinds = {
        resource["Type"]
        for resource in cloudformation.template(load_schema(SYSTEMS[1]))["Resources"].values()
    }
    assert "AWS::Lambda::Function" not in kinds


def test_the_application_may_do_what_the_design_does_and_no_more() -> None:
    statements = iam.policies(loads(NOTES))["application"]["Statement"]
    allowed = {
        (action, resource.rpartition("table/")[2])
        for statement in statements
        for action in statement["Action"]
        for resource in statement["Resource"]
    }
    assert ("dynamodb:Query", "Notes/index/by-author") in allowed
    assert ("dynamodb:PutItem", "Notes") in allowed
    actions = {action for action, _ in allowed}
    assert not actions & {"dynamodb:DeleteItem", "dynamodb:UpdateItem", "dynamodb:Scan"}
    assert not any(re.search(r"\*$", resource) for _, resource in allowed)


def test_the_reader_cannot_write() -> None:
    for target in SYSTEMS:
        statements = iam.policies(load_schema(target))["reader"]["Statement"]
        actions = {action for statement in statements for action in statement["Action"]}
        assert actions <= {"dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:Query"}


def test_the_command_writes_a_file(tmp_path: Path) -> None:
    target = tmp_path / "tables.tf"
    assert main(["export", "terraform", SYSTEMS[0], "-o", str(target)]) == 0
    assert "aws_dynamodb_table" in target.read_text()
