"""A design as a Python stack of the AWS Cloud Development Kit."""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.design.schema import Index, Schema, Table
from keyfold.review.infra.plan import (
    ATTEMPTS,
    BATCH,
    HANDLER,
    Consumer,
    Plan,
    identifier,
    plan,
    snake,
)

_TYPES = {"S": "STRING", "N": "NUMBER", "B": "BINARY"}
_HEAD = '''\
"""The tables of {design}, their consumers and alarms."""

from aws_cdk import Duration, RemovalPolicy, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_event_sources as sources
from aws_cdk import aws_sqs as sqs
from constructs import Construct


def attribute(name: str, kind: dynamodb.AttributeType) -> dynamodb.Attribute:
    return dynamodb.Attribute(name=name, type=kind)


class {name}Stack(Stack):
    def __init__(
        self, scope: Construct, id: str, *, code: str = "dist", prefix: str = "", **kwargs
    ) -> None:
        super().__init__(scope, id, **kwargs)
'''


def render(schema: Schema) -> str:
    made = plan(schema)
    lines = [_HEAD.format(design=schema.name, name=identifier(schema.name))]
    for table in made.tables:
        lines += _table(table)
    for each in made.consumers:
        lines += _consumer(made, each)
    return "\n".join(lines).rstrip() + "\n"


def _table(table: Table) -> Iterator[str]:
    name = snake(table.name)
    kind = f"dynamodb.AttributeType.{_TYPES[table.partition_type]}"
    yield f"        self.{name} = dynamodb.Table("
    yield "            self,"
    yield f'            "{identifier(table.name)}",'
    yield f'            table_name=f"{{prefix}}{table.name}",'
    yield f'            partition_key=attribute("{table.partition}", {kind}),'
    if table.sort:
        kind = f"dynamodb.AttributeType.{_TYPES[table.sort_type]}"
        yield f'            sort_key=attribute("{table.sort}", {kind}),'
    billing = "PAY_PER_REQUEST" if table.billing == "PAY_PER_REQUEST" else "PROVISIONED"
    yield f"            billing_mode=dynamodb.BillingMode.{billing},"
    if table.ttl:
        yield f'            time_to_live_attribute="{table.ttl}",'
    if table.stream:
        yield f"            stream=dynamodb.StreamViewType.{table.stream},"
    yield "            point_in_time_recovery_specification="
    yield "            dynamodb.PointInTimeRecoverySpecification("
    yield "                point_in_time_recovery_enabled=True"
    yield "            ),"
    yield "            deletion_protection=True,"
    yield "            removal_policy=RemovalPolicy.RETAIN,"
    yield "        )"
    for index in table.indexes:
        yield from _index(name, index)
    yield '        for metric in ("ReadThrottleEvents", "WriteThrottleEvents"):'
    yield f'            self.{name}.metric(metric, statistic="Sum").create_alarm('
    yield "                self,"
    yield f'                f"{identifier(table.name)}{{metric}}",'
    yield "                threshold=0,"
    yield "                evaluation_periods=2,"
    yield "                comparison_operator="
    yield "                cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,"
    yield "            )"
    yield ""


def _index(table: str, index: Index) -> Iterator[str]:
    what = "local" if index.local else "global"
    yield f"        self.{table}.add_{what}_secondary_index("
    yield f'            index_name="{index.name}",'
    if not index.local:
        kind = f"dynamodb.AttributeType.{_TYPES[index.partition_type]}"
        yield f'            partition_key=attribute("{index.partition}", {kind}),'
    if index.sort:
        kind = f"dynamodb.AttributeType.{_TYPES[index.sort_type]}"
        yield f'            sort_key=attribute("{index.sort}", {kind}),'
    yield f"            projection_type=dynamodb.ProjectionType.{index.projection},"
    if index.included:
        yield f"            non_key_attributes={list(index.included)!r},"
    yield "        )"


def _consumer(made: Plan, each: Consumer) -> Iterator[str]:
    name = snake(each.name)
    yield f"        {name}_letters = sqs.Queue("
    yield "            self,"
    yield f'            "{identifier(each.name)}DeadLetters",'
    yield "            retention_period=Duration.days(14),"
    yield "        )"
    yield f"        {name} = lambda_.Function("
    yield "            self,"
    yield f'            "{identifier(each.name)}",'
    yield "            runtime=lambda_.Runtime.PYTHON_3_13,"
    yield f'            handler="{HANDLER}",'
    yield "            code=lambda_.Code.from_asset(code),"
    yield "            timeout=Duration.seconds(60),"
    yield "            memory_size=512,"
    yield '            environment={"KEYFOLD_TABLE_PREFIX": prefix},'
    yield "        )"
    for table in made.tables:
        yield f"        self.{snake(table.name)}.grant_read_write_data({name})"
    yield f"        {name}.add_event_source("
    yield "            sources.DynamoEventSource("
    yield f"                self.{snake(each.table.name)},"
    yield "                starting_position=lambda_.StartingPosition.TRIM_HORIZON,"
    yield f"                batch_size={BATCH},"
    yield "                bisect_batch_on_error=True,"
    yield f"                retry_attempts={ATTEMPTS},"
    yield "                report_batch_item_failures=True,"
    yield f"                on_failure=sources.SqsDlq({name}_letters),"
    yield "            )"
    yield "        )"
    yield f"        {name}_letters.metric_approximate_number_of_messages_visible().create_alarm("
    yield f'            self, "{identifier(each.name)}Failed", threshold=1, evaluation_periods=1'
    yield "        )"
    yield ""
