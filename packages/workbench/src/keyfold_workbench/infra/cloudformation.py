"""A design as a CloudFormation template."""

from __future__ import annotations

from typing import Any, Final

import yaml

from keyfold import literals
from keyfold.design.schema import Schema, TableSchema
from keyfold.errors import KeyfoldError
from keyfold_workbench.infra.permissions import application, consumer
from keyfold_workbench.infra.plan import (
    ATTEMPTS,
    BATCH,
    HANDLER,
    LOGS,
    RUNTIME,
    Alarm,
    Stack,
    StreamFunction,
    alarms,
    identifier,
    plan,
    refuse_unwritable,
    request,
)

Resource = dict[str, Any]
_EVENT_PARAMETERS: Final[dict[str, Any]] = {
    "EventBus": {
        "Type": "String",
        "Default": "",
        "Description": "The bus that consumers announce events on; leave empty to disable.",
    },
    "EventTarget": {
        "Type": "String",
        "Default": "",
        "Description": (
            "The ARN of the target of every event, such as a queue or a function; its own policy "
            "must allow events.amazonaws.com. Leave empty to disable."
        ),
    },
}


def template(schema: Schema) -> dict[str, Any]:
    """The template as data."""
    refuse_unwritable(schema, "a CloudFormation template")
    made = plan(schema)
    resources: dict[str, Resource] = {}
    named: dict[str, str] = {}
    for table in made.tables:
        other = named.setdefault(_table_id(table), table.name)
        if other != table.name:
            raise KeyfoldError(
                f"the tables {other} and {table.name} are both {_table_id(table)} in a template: "
                "rename one"
            )
        resources[_table_id(table)] = _table(table)
    resources["ApplicationPolicy"] = {
        "Type": "AWS::IAM::ManagedPolicy",
        "Properties": {
            "Description": f"Only the calls that {schema.name} makes.",
            "PolicyDocument": _policy(application(made, _arn)),
        },
    }
    for each in made.consumers:
        resources |= _consumer(made, each)
    for alarm in alarms(made):
        name = identifier(alarm.name, "alarm")
        while name in resources:
            name += "Too"
        resources[name] = _alarm(alarm)
    parameters: dict[str, Any] = {
        "Prefix": {
            "Type": "String",
            "Default": "",
            "Description": "Prefix of all table names.",
        },
        "AlarmTopic": {
            "Type": "String",
            "Default": "",
            "Description": "The ARN of an SNS topic that receives alarms; leave empty to disable.",
        },
    }
    if made.consumers:
        parameters["CodeBucket"] = {
            "Type": "String",
            "Description": "Where the consumer's code is.",
        }
        parameters["CodeKey"] = {
            "Type": "String",
            "Description": "The archive that holds handlers.py with its dependencies.",
        }
    conditions = {"TellsSomebody": _is_given("AlarmTopic")}
    if made.emits:
        parameters |= _EVENT_PARAMETERS
        conditions["HasEventBus"] = _is_given("EventBus")
        conditions["HasEventTarget"] = {
            "Fn::And": [_is_given("EventBus"), _is_given("EventTarget")]
        }
        resources["EventRule"] = _rule(schema)
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": f"The tables of {schema.name}, their consumers and alarms.",
        "Parameters": parameters,
        "Conditions": conditions,
        "Resources": resources,
        "Outputs": {
            f"{_table_id(table)}Name": {"Value": {"Ref": _table_id(table)}} for table in made.tables
        },
    }


def render(schema: Schema) -> str:
    return yaml.dump(
        template(schema), Dumper=_Dumper, sort_keys=False, width=100, allow_unicode=True
    )


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        """CloudFormation refuses YAML's aliases."""
        return True


def _table_id(table: TableSchema) -> str:
    return identifier(table.name, "table")


def _arn(table: TableSchema, place: str) -> Any:
    name = _table_id(table)
    if not place:
        return {"Fn::GetAtt": [name, "Arn"]}
    if place == "stream":
        return {"Fn::GetAtt": [name, "StreamArn"]}
    return {"Fn::Sub": f"${{{name}.Arn}}/{literals.cloudformation(place)}"}


def _policy(statements: list[dict[str, Any]]) -> dict[str, Any]:
    return {"Version": "2012-10-17", "Statement": statements}


def _table(table: TableSchema) -> Resource:
    asked = request(table)
    properties: dict[str, Any] = {
        "TableName": {"Fn::Sub": f"${{Prefix}}{literals.cloudformation(table.name)}"},
        **asked,
    }
    if "StreamSpecification" in properties:
        view = properties["StreamSpecification"]["StreamViewType"]
        properties["StreamSpecification"] = {"StreamViewType": view}
    if table.ttl:
        properties["TimeToLiveSpecification"] = {"AttributeName": table.ttl, "Enabled": True}
    recovery = {"PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True}}
    protection = {"DeletionProtectionEnabled": True}
    properties |= recovery | protection
    return {
        "Type": "AWS::DynamoDB::Table",
        "DeletionPolicy": "Retain",
        "UpdateReplacePolicy": "Retain",
        "Properties": properties,
    }


def _is_given(parameter: str) -> dict[str, Any]:
    return {"Fn::Not": [{"Fn::Equals": [{"Ref": parameter}, ""]}]}


def _rule(schema: Schema) -> Resource:
    return {
        "Type": "AWS::Events::Rule",
        "Condition": "HasEventTarget",
        "Properties": {
            "Description": f"Every event of {schema.name}."[:512],
            "EventBusName": {"Ref": "EventBus"},
            "EventPattern": {"source": [schema.name]},
            "Targets": [{"Id": "EventTarget", "Arn": {"Ref": "EventTarget"}}],
        },
    }


def _announcing() -> dict[str, Any]:
    """The permission to put events on the bus, where one is given."""
    bus = "arn:${AWS::Partition}:events:${AWS::Region}:${AWS::AccountId}:event-bus/${EventBus}"
    statement = {
        "Sid": "Announce",
        "Effect": "Allow",
        "Action": ["events:PutEvents"],
        "Resource": [{"Fn::Sub": bus}],
    }
    policy = {"PolicyName": "events", "PolicyDocument": _policy([statement])}
    return {"Fn::If": ["HasEventBus", policy, {"Ref": "AWS::NoValue"}]}


def _consumer(made: Stack, each: StreamFunction) -> dict[str, Resource]:
    name = identifier(each.name)
    queue = {"Fn::GetAtt": [f"{name}DeadLetters", "Arn"]}
    logs = {"Sid": "Log", "Effect": "Allow", "Action": list(LOGS), "Resource": "*"}
    variables = {"KEYFOLD_TABLE_PREFIX": {"Ref": "Prefix"}}
    if made.emits:
        variables["EVENT_BUS"] = {"Ref": "EventBus"}
    letters = {"Sid": "Fail", "Effect": "Allow", "Action": ["sqs:SendMessage"], "Resource": [queue]}
    return {
        f"{name}DeadLetters": {
            "Type": "AWS::SQS::Queue",
            "DeletionPolicy": "Retain",
            "UpdateReplacePolicy": "Retain",
            "Properties": {"MessageRetentionPeriod": 1_209_600, "SqsManagedSseEnabled": True},
        },
        f"{name}Role": {
            "Type": "AWS::IAM::Role",
            "Properties": {
                "AssumeRolePolicyDocument": _policy(
                    [
                        {
                            "Effect": "Allow",
                            "Principal": {"Service": "lambda.amazonaws.com"},
                            "Action": "sts:AssumeRole",
                        }
                    ]
                ),
                "Policies": [
                    {
                        "PolicyName": "consumer",
                        "PolicyDocument": _policy([*consumer(made, each, _arn), letters, logs]),
                    },
                    *([_announcing()] if made.emits else []),
                ],
            },
        },
        name: {
            "Type": "AWS::Lambda::Function",
            "Properties": {
                "Description": f"Maintains: {', '.join(each.keeps)}"[:256],
                "Runtime": RUNTIME,
                "Handler": HANDLER,
                "Timeout": 60,
                "MemorySize": 512,
                "Role": {"Fn::GetAtt": [f"{name}Role", "Arn"]},
                "Code": {"S3Bucket": {"Ref": "CodeBucket"}, "S3Key": {"Ref": "CodeKey"}},
                "Environment": {"Variables": variables},
            },
        },
        f"{name}Mapping": {
            "Type": "AWS::Lambda::EventSourceMapping",
            "Properties": {
                "FunctionName": {"Ref": name},
                "EventSourceArn": _arn(each.table, "stream"),
                "StartingPosition": "TRIM_HORIZON",
                "BatchSize": BATCH,
                "BisectBatchOnFunctionError": True,
                "MaximumRetryAttempts": ATTEMPTS,
                "FunctionResponseTypes": ["ReportBatchItemFailures"],
                "DestinationConfig": {"OnFailure": {"Destination": queue}},
            },
        },
    }


def _alarm(alarm: Alarm) -> Resource:
    return {
        "Type": "AWS::CloudWatch::Alarm",
        "Properties": {
            "AlarmDescription": alarm.about,
            "Namespace": alarm.namespace,
            "MetricName": alarm.metric,
            "Dimensions": [
                {"Name": n, "Value": _resource_name(what)} for n, what in alarm.dimensions
            ],
            "Statistic": alarm.statistic,
            "Period": 60,
            "EvaluationPeriods": alarm.periods,
            "Threshold": alarm.threshold,
            "ComparisonOperator": "GreaterThanThreshold",
            "TreatMissingData": "notBreaching",
            "AlarmActions": {
                "Fn::If": ["TellsSomebody", [{"Ref": "AlarmTopic"}], {"Ref": "AWS::NoValue"}]
            },
        },
    }


def _resource_name(what: str) -> Any:
    kind, _, name = what.partition(":")
    if kind == "table":
        return {"Ref": identifier(name, "table")}
    if kind == "queue":
        return {"Fn::GetAtt": [f"{identifier(name)}DeadLetters", "QueueName"]}
    return {"Ref": identifier(name)} if kind == "function" else name
