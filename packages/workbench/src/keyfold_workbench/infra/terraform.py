"""A design as Terraform configuration."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from keyfold import literals
from keyfold.design.schema import Index, Schema, TableSchema
from keyfold.runtime.tables import FIRST_UNITS, key_schema
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
    plan,
    refuse_unwritable,
    request,
    snake,
)

HEAD = """\
terraform {
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.40"
    }
  }
}

variable "prefix" {
  type        = string
  default     = ""
  description = "Prefix of all table names."
}

variable "alarm_topics" {
  type        = list(string)
  default     = []
  description = "ARNs of SNS topics that receive alarms."
}
"""
CODE = """
variable "consumer_archive" {
  type        = string
  description = "The archive that holds handlers.py with its dependencies."
}
"""


EVENTS = """
variable "event_bus" {
  type        = string
  default     = ""
  description = "The bus that consumers announce events on; leave empty to disable."
}

variable "event_target" {
  type        = string
  default     = ""
  description = "The ARN of the target of every event; its policy must allow events.amazonaws.com."
}

data "aws_cloudwatch_event_bus" "events" {
  count = var.event_bus != "" ? 1 : 0
  name  = var.event_bus
}
"""


@dataclass(frozen=True)
class Raw:
    """An expression, written as it is."""

    text: str


Block = Mapping[str, Any]


def render(schema: Schema) -> str:
    refuse_unwritable(schema, "Terraform")
    made = plan(schema)
    parts = [HEAD + (CODE if made.consumers else "") + (EVENTS if made.emits else "")]
    parts += [_resource("aws_dynamodb_table", snake(t.name), _table(t)) for t in made.tables]
    parts.append(_document("application", application(made, _arn)))
    parts.append(
        _resource(
            "aws_iam_policy",
            "application",
            {
                "name_prefix": f"{schema.name}-",
                "description": f"Only the calls that {schema.name} makes.",
                "policy": Raw("data.aws_iam_policy_document.application.json"),
            },
        )
    )
    for each in made.consumers:
        parts += _consumer(made, each)
    if made.emits:
        parts += _rule(schema)
    parts += [
        _resource("aws_cloudwatch_metric_alarm", snake(a.name), _alarm(a)) for a in alarms(made)
    ]
    return "\n".join(parts)


def _arn(table: TableSchema, place: str) -> Raw:
    name = f"aws_dynamodb_table.{snake(table.name)}"
    if not place:
        return Raw(f"{name}.arn")
    if place == "stream":
        return Raw(f"{name}.stream_arn")
    return _after(f"{name}.arn", f"/{place}")


def _after(expression: str, text: str) -> Raw:
    """The value of an expression, then a text."""
    return Raw(f'"${{{expression}}}{literals.terraform(text)[1:]}')


def _table(table: TableSchema) -> dict[str, Any]:
    asked = request(table)
    units = {}
    if table.billing == "PROVISIONED":
        units = {"read_capacity": FIRST_UNITS, "write_capacity": FIRST_UNITS}
    body: dict[str, Any] = {
        "name": _after("var.prefix", table.name),
        "billing_mode": table.billing,
        **units,
        "hash_key": table.partition,
        "deletion_protection_enabled": True,
    }
    if table.sort:
        body["range_key"] = table.sort
    if table.stream:
        body |= {"stream_enabled": True, "stream_view_type": table.stream}
    body["attribute"] = [
        {"name": a["AttributeName"], "type": a["AttributeType"]}
        for a in asked["AttributeDefinitions"]
    ]
    for local, word in ((False, "global_secondary_index"), (True, "local_secondary_index")):
        body[word] = [
            {
                "name": index.name,
                **_keys(index),
                **({} if local else units),
                "projection_type": index.projection,
                **({"non_key_attributes": list(index.included)} if index.included else {}),
            }
            for index in table.indexes
            if index.local is local
        ]
    if table.ttl:
        body["ttl"] = [{"attribute_name": table.ttl, "enabled": True}]
    body["point_in_time_recovery"] = [{"enabled": True}]
    body["lifecycle"] = [{"prevent_destroy": True}]
    return body


def _keys(index: Index) -> dict[str, Any]:
    if index.has_several:
        return {
            "key_schema": [
                {"attribute_name": one["AttributeName"], "key_type": one["KeyType"]}
                for one in key_schema(index)
            ]
        }
    partition = {} if index.local else {"hash_key": index.partition}
    return {**partition, **({"range_key": index.sort} if index.sort else {})}


def _rule(schema: Schema) -> list[str]:
    wanted = Raw('var.event_bus != "" && var.event_target != "" ? 1 : 0')
    return [
        _resource(
            "aws_cloudwatch_event_rule",
            "events",
            {
                "count": wanted,
                "name_prefix": f"{schema.name}-",
                "description": f"Every event of {schema.name}."[:512],
                "event_bus_name": Raw("var.event_bus"),
                "event_pattern": Raw(
                    f"jsonencode({{ source = [{literals.terraform(schema.name)}] }})"
                ),
            },
        ),
        _resource(
            "aws_cloudwatch_event_target",
            "events",
            {
                "count": wanted,
                "rule": Raw("aws_cloudwatch_event_rule.events[0].name"),
                "event_bus_name": Raw("var.event_bus"),
                "arn": Raw("var.event_target"),
            },
        ),
    ]


def _announcing(name: str) -> list[str]:
    """The permission to put events on the bus, where one is given."""
    count = Raw('var.event_bus != "" ? 1 : 0')
    bus = Raw("data.aws_cloudwatch_event_bus.events[0].arn")
    statement = {"sid": "Announce", "actions": ["events:PutEvents"], "resources": [bus]}
    document = {"count": count, "statement": [statement]}
    return [
        _data("aws_iam_policy_document", f"{name}_events", document),
        _resource(
            "aws_iam_role_policy",
            f"{name}_events",
            {
                "count": count,
                "role": Raw(f"aws_iam_role.{name}.id"),
                "policy": Raw(f"data.aws_iam_policy_document.{name}_events[0].json"),
            },
        ),
    ]


def _consumer(made: Stack, each: StreamFunction) -> list[str]:
    name = snake(each.name)
    queue = f"aws_sqs_queue.{name}_dead_letters"
    statements = [
        *consumer(made, each, _arn),
        {"Sid": "Fail", "Action": ["sqs:SendMessage"], "Resource": [Raw(f"{queue}.arn")]},
        {"Sid": "Log", "Action": list(LOGS), "Resource": ["*"]},
    ]
    variables = "KEYFOLD_TABLE_PREFIX = var.prefix"
    if made.emits:
        variables += ", EVENT_BUS = var.event_bus"
    trust = {
        "statement": [
            {
                "actions": ["sts:AssumeRole"],
                "principals": [{"type": "Service", "identifiers": ["lambda.amazonaws.com"]}],
            }
        ]
    }
    return [
        _resource(
            "aws_sqs_queue",
            f"{name}_dead_letters",
            {"message_retention_seconds": 1_209_600, "sqs_managed_sse_enabled": True},
        ),
        _data("aws_iam_policy_document", f"{name}_trust", trust),
        _resource(
            "aws_iam_role",
            name,
            {"assume_role_policy": Raw(f"data.aws_iam_policy_document.{name}_trust.json")},
        ),
        _document(name, statements),
        _resource(
            "aws_iam_role_policy",
            name,
            {
                "role": Raw(f"aws_iam_role.{name}.id"),
                "policy": Raw(f"data.aws_iam_policy_document.{name}.json"),
            },
        ),
        *(_announcing(name) if made.emits else ()),
        _resource(
            "aws_lambda_function",
            name,
            {
                "function_name": _after("var.prefix", each.name),
                "description": f"Maintains: {', '.join(each.keeps)}"[:256],
                "role": Raw(f"aws_iam_role.{name}.arn"),
                "runtime": RUNTIME,
                "handler": HANDLER,
                "filename": Raw("var.consumer_archive"),
                "timeout": 60,
                "memory_size": 512,
                "environment": [{"variables": Raw(f"{{ {variables} }}")}],
            },
        ),
        _resource(
            "aws_lambda_event_source_mapping",
            name,
            {
                "event_source_arn": _arn(each.table, "stream"),
                "function_name": Raw(f"aws_lambda_function.{name}.arn"),
                "starting_position": "TRIM_HORIZON",
                "batch_size": BATCH,
                "bisect_batch_on_function_error": True,
                "maximum_retry_attempts": ATTEMPTS,
                "function_response_types": ["ReportBatchItemFailures"],
                "destination_config": [{"on_failure": [{"destination_arn": Raw(f"{queue}.arn")}]}],
            },
        ),
    ]


def _alarm(alarm: Alarm) -> dict[str, Any]:
    pairs = ", ".join(f"{name} = {_resource_name(what)}" for name, what in alarm.dimensions)
    return {
        "alarm_name": _after("var.prefix", alarm.name),
        "alarm_description": alarm.about,
        "namespace": alarm.namespace,
        "metric_name": alarm.metric,
        "dimensions": Raw(f"{{ {pairs} }}"),
        "statistic": alarm.statistic,
        "period": 60,
        "evaluation_periods": alarm.periods,
        "threshold": alarm.threshold,
        "comparison_operator": "GreaterThanThreshold",
        "treat_missing_data": "notBreaching",
        "alarm_actions": Raw("var.alarm_topics"),
    }


def _resource_name(what: str) -> str:
    kind, _, name = what.partition(":")
    if kind == "table":
        return f"aws_dynamodb_table.{snake(name)}.name"
    if kind == "queue":
        return f"aws_sqs_queue.{snake(name)}_dead_letters.name"
    if kind == "function":
        return f"aws_lambda_function.{snake(name)}.function_name"
    return literals.terraform(name)


def _document(name: str, statements: list[dict[str, Any]]) -> str:
    body = [
        {"sid": s["Sid"], "actions": s["Action"], "resources": s["Resource"]} for s in statements
    ]
    return _data("aws_iam_policy_document", name, {"statement": body})


def _resource(kind: str, name: str, body: Block) -> str:
    return "\n".join([f'resource "{kind}" "{name}" {{', *_lines(body, 1), "}", ""])


def _data(kind: str, name: str, body: Block) -> str:
    return "\n".join([f'data "{kind}" "{name}" {{', *_lines(body, 1), "}", ""])


def _lines(body: Block, depth: int) -> Iterator[str]:
    """Attributes with aligned equals signs, as `terraform fmt` writes them, and blocks."""
    pad = "  " * depth
    for is_block, some in groupby(body.items(), lambda pair: _is_block(pair[1])):
        named = list(some)
        wide = max(len(name) for name, _ in named)
        for name, value in named:
            if not is_block:
                yield f"{pad}{name:<{wide}} = {_value(value)}"
                continue
            for each in value:
                yield f"{pad}{name} {{"
                yield from _lines(each, depth + 1)
                yield f"{pad}}}"


def _is_block(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, dict) for each in value)


def _value(value: Any) -> str:
    if isinstance(value, Raw):
        return value.text
    if isinstance(value, list):
        return f"[{', '.join(_value(each) for each in value)}]"
    return literals.terraform(value) if isinstance(value, str) else json.dumps(value)
