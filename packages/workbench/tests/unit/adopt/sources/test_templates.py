"""Tables from infrastructure: CloudFormation, SAM, CDK, Terraform, Serverless Framework, endpoints.

The examples are written up after public projects, in the tools' own forms.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.adopt.public.made import table

from keyfold.cli import main
from keyfold.design.schema import Index, TableSchema
from keyfold.errors import KeyfoldError
from keyfold_engine.clients import connect
from keyfold_workbench.adopt.sources.detection import read

SAM = """\
AWSTemplateFormatVersion: '2010-09-09'
Transform: AWS::Serverless-2016-10-31
Parameters:
  Stage: {Type: String, Default: dev}
Resources:
  OrdersTable:
    Type: AWS::DynamoDB::Table
    DeletionPolicy: Retain
    Properties:
      TableName: !Sub "orders-${Stage}"
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions:
        - {AttributeName: PK, AttributeType: S}
        - {AttributeName: SK, AttributeType: S}
        - AttributeName: dueAt
          AttributeType: N
      KeySchema:
        - {AttributeName: SK, KeyType: RANGE}
        - {AttributeName: PK, KeyType: HASH}
      GlobalSecondaryIndexes:
        - IndexName: Due
          KeySchema: [{AttributeName: SK, KeyType: HASH}, {AttributeName: dueAt, KeyType: RANGE}]
          Projection: {ProjectionType: INCLUDE, NonKeyAttributes: [title]}
      StreamSpecification: {StreamViewType: NEW_IMAGE}
      TimeToLiveSpecification: {AttributeName: expires, Enabled: true}
      Tags: [{Key: stack, Value: !Ref AWS::StackName}]
  Sessions:
    Type: AWS::Serverless::SimpleTable
    Properties:
      PrimaryKey: {Name: token, Type: String}
  Function:
    Type: AWS::Serverless::Function
    Properties:
      Environment: {Variables: {TABLE: !GetAtt OrdersTable.Arn, X: !If [A, !Ref B, !Ref C]}}
"""

ORDERS = TableSchema(
    "orders-dev",
    indexes=(
        Index("Due", "SK", "dueAt", sort_type="N", projection="INCLUDE", included=("title",)),
    ),
    ttl="expires",
    stream="NEW_IMAGE",
    type_attribute=None,
)


def saved(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_sam_template_with_short_tags(tmp_path: Path) -> None:
    found = read(saved(tmp_path, "template.yaml", SAM))
    assert found.tables == [
        ORDERS,
        TableSchema("Sessions", partition="token", sort=None, type_attribute=None),
    ]
    assert found.questions == []


def test_a_name_that_nobody_knows_is_asked_for(tmp_path: Path) -> None:
    text = SAM.replace('!Sub "orders-${Stage}"', '!Sub "${AWS::StackName}-orders"')
    found = read(saved(tmp_path, "template.yaml", text))
    assert found.tables[0].name == "OrdersTable"
    assert found.questions == [
        "What is the table OrdersTable called? The template computes it: "
        "{'Fn::Sub': '${AWS::StackName}-orders'}."
    ]


def test_cdk_output_is_every_template_with_tables(tmp_path: Path) -> None:
    stack = {
        "Resources": {
            "Music5A": {
                "Type": "AWS::DynamoDB::Table",
                "Properties": {
                    "KeySchema": [{"AttributeName": "Artist", "KeyType": "HASH"}],
                    "AttributeDefinitions": [{"AttributeName": "Artist", "AttributeType": "S"}],
                    "BillingMode": "PAY_PER_REQUEST",
                    "TableName": {"Fn::Join": ["-", ["music", "prod"]]},
                },
            }
        }
    }
    saved(tmp_path, "Music.template.json", json.dumps(stack, indent=1))
    saved(tmp_path, "Other.template.json", '{"Resources": {"T": {"Type": "AWS::SNS::Topic"}}}')
    found = read(str(tmp_path))
    assert found.tables == [TableSchema("music-prod", "Artist", None, type_attribute=None)]


TERRAFORM = """\
variable "stage" {
  default = "dev"
}

locals {
  name = "orders-${var.stage}"
}

resource "aws_dynamodb_table" "orders" {
  name             = local.name
  billing_mode     = "PAY_PER_REQUEST"
  hash_key         = "PK"
  range_key        = "SK"
  stream_enabled   = true
  stream_view_type = "NEW_IMAGE"

  attribute {
    name = "PK"
    type = "S"
  }
  attribute {
    name = "SK"
    type = "S"
  }
  attribute {
    name = "dueAt"
    type = "N"
  }
  global_secondary_index {
    name               = "Due"
    hash_key           = "SK"
    range_key          = "dueAt"
    projection_type    = "INCLUDE"
    non_key_attributes = ["title"]
  }
  ttl {
    attribute_name = "expires"
    enabled        = true
  }
  lifecycle {
    prevent_destroy = true
  }
}
"""


def test_terraform_files_with_variables_and_locals(tmp_path: Path) -> None:
    head, _, tail = TERRAFORM.partition("resource")
    saved(tmp_path, "variables.tf", head)
    saved(tmp_path, "main.tf", f"resource{tail}")
    assert read(str(tmp_path)).tables == [ORDERS]


VALUES: dict[str, Any] = {
    "name": "orders-dev",
    "billing_mode": "PAY_PER_REQUEST",
    "hash_key": "PK",
    "range_key": "SK",
    "stream_enabled": True,
    "stream_view_type": "NEW_IMAGE",
    "attribute": [
        {"name": "PK", "type": "S"},
        {"name": "SK", "type": "S"},
        {"name": "dueAt", "type": "N"},
    ],
    "global_secondary_index": [
        {
            "name": "Due",
            "hash_key": "SK",
            "range_key": "dueAt",
            "projection_type": "INCLUDE",
            "non_key_attributes": ["title"],
        }
    ],
    "local_secondary_index": [],
    "ttl": [{"attribute_name": "expires", "enabled": True}],
}
RESOURCE = {"mode": "managed", "type": "aws_dynamodb_table", "name": "orders", "values": VALUES}
SHOWN: dict[str, Any] = {
    "format_version": "1.0",
    "terraform_version": "1.9.0",
    "values": {"root_module": {"child_modules": [{"resources": [RESOURCE]}]}},
}


def test_terraform_show(tmp_path: Path) -> None:
    assert read(saved(tmp_path, "state.json", json.dumps(SHOWN))).tables == [ORDERS]


SERVERLESS = """\
service: orders
provider: {name: aws, stage: "${opt:stage, 'dev'}"}
custom:
  table: orders-${self:provider.stage}
resources:
  Resources:
    Orders:
      Type: AWS::DynamoDB::Table
      Properties:
        TableName: ${self:custom.table}
        KeySchema: [{AttributeName: id, KeyType: HASH}]
        AttributeDefinitions: [{AttributeName: id, AttributeType: S}]
        BillingMode: PAY_PER_REQUEST
"""


def test_a_serverless_file_with_its_own_variables(tmp_path: Path) -> None:
    found = read(saved(tmp_path, "serverless.yml", SERVERLESS))
    assert found.name == "orders"
    assert found.tables == [TableSchema("orders-dev", "id", None, type_attribute=None)]


def test_every_table_of_an_endpoint(tmp_path: Path) -> None:
    address = str(tmp_path / "live.db")
    client = connect(address)
    for name in ("a-table", "b-table"):
        client.call("CreateTable", table(name, "PK SK", "GSI1 GSI1PK SK"))
    client.close()
    found = read(address)
    assert [each.name for each in found.tables] == ["a-table", "b-table"]
    assert found.tables[0].indexes == (Index("GSI1", "GSI1PK", "SK"),)


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("t.yaml", "Resources:\n  A: [", "t.yaml:2:7: this is not YAML: "),
        ("t.json", '{"Resources":\n {,}}', "t.json:2: this is not JSON: "),
        ("t.yaml", "Resources: {}\n", "t.yaml:1: its resources have no AWS::DynamoDB::Table"),
        (
            "t.yaml",
            "Resources:\n  A:\n    Type: AWS::DynamoDB::Table\n    Properties:\n      X: 1\n",
            "t.yaml:5: the table A needs a KeySchema with its partition key",
        ),
        (
            "t.yaml",
            "Resources:\n  A:\n    Type: AWS::DynamoDB::Table\n    Properties:\n      KeySchema:\n"
            "        - AttributeName: a\n          KeyType: HSAH\n",
            "t.yaml:6: the table A: a key is AttributeName and KeyType (HASH or RANGE)",
        ),
        ("t.yaml", "Resources: &a\n  A: *a\n", "t.yaml:1:12: this contains itself"),
        ("t.tf", 'resource "a" "b" {\n  x = = 1\n}\n', "t.tf:2: this is not Terraform's HCL"),
        ("t.tf", "", "t.tf:1: it has no resource 'aws_dynamodb_table'"),
        (
            "t.tf",
            '\nresource "aws_dynamodb_table" "b" {\n  name = "b"\n}\n',
            "t.tf:2: aws_dynamodb_table.b needs hash_key as text",
        ),
        ("t.json", '{"some": "thing"}', "t.json:1: unknown source; use one of"),
        ("t.json", "", "t.json:1: this is not JSON"),
        (
            "serverless.yml",
            "service: a\nprovider: {}\n",
            "serverless.yml:1: resources.Resources has no AWS::DynamoDB::Table",
        ),
    ],
)
def test_bad_input_is_named_with_its_place_and_nothing_is_written(
    tmp_path: Path, name: str, text: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source = saved(tmp_path, name, text)
    assert main(["import", source, "-o", str(tmp_path / "out.yaml")]) == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "out.yaml").exists()


def test_what_is_no_source_is_told(tmp_path: Path) -> None:
    with pytest.raises(KeyfoldError, match="Not found: no-such-file"):
        read("no-such-file")
    for missing in ("NOPE.md", "nope.json", "nope.tf", "folder/nope.yaml"):
        with pytest.raises(KeyfoldError, match=f"No such file: {missing}"):
            read(missing)
    with pytest.raises(KeyfoldError, match="has neither"):
        read(str(tmp_path))
    (tmp_path / "x.json").write_bytes(b"\xff\xfe\x00{")
    with pytest.raises(KeyfoldError, match="not UTF-8"):
        read(str(tmp_path / "x.json"))
