"""A design as a Python stack of the AWS Cloud Development Kit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from keyfold import literals
from keyfold.design.schema import Index, Schema, TableSchema
from keyfold.literals import python as text
from keyfold.literals import word
from keyfold.runtime.tables import FIRST_UNITS
from keyfold_workbench.infra.permissions import Statement, application, consumer
from keyfold_workbench.infra.plan import (
    ATTEMPTS,
    BATCH,
    HANDLER,
    Alarm,
    Stack,
    StreamFunction,
    alarms,
    identifier,
    plan,
    refuse_unwritable,
    snake,
)

_TYPES = {"S": "STRING", "N": "NUMBER", "B": "BINARY"}
_UNITS = (
    f"            read_capacity={FIRST_UNITS},",
    f"            write_capacity={FIRST_UNITS},",
)
_HEAD = """\
{documentation}

from aws_cdk import Duration, RemovalPolicy, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_events as events
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_event_sources as sources
from aws_cdk import aws_sqs as sqs
from constructs import Construct


def attribute(name: str, kind: dynamodb.AttributeType) -> dynamodb.Attribute:
    return dynamodb.Attribute(name=name, type=kind)


def allow(sid: str, actions: list[str], resources: list[str]) -> iam.PolicyStatement:
    return iam.PolicyStatement(sid=sid, actions=actions, resources=resources)


class {name}Stack(Stack):
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        code: str = "dist",
        prefix: str = "",
        event_bus: events.IEventBus | None = None,
        event_target: events.IRuleTarget | None = None,
        **kwargs,
    ) -> None:
        super().__init__(scope, id, **kwargs)
        recovery = dynamodb.PointInTimeRecoverySpecification(point_in_time_recovery_enabled=True)
"""
_ALARM = """\
    def alarm(
        self,
        name: str,
        about: str,
        namespace: str,
        metric: str,
        dimensions: dict[str, str],
        statistic: str,
        threshold: float,
        periods: int,
    ) -> None:
        cloudwatch.Alarm(
            self,
            name,
            alarm_description=about,
            metric=cloudwatch.Metric(
                namespace=namespace,
                metric_name=metric,
                dimensions_map=dimensions,
                statistic=statistic,
                period=Duration.minutes(1),
            ),
            threshold=threshold,
            evaluation_periods=periods,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )
"""


def render(schema: Schema) -> str:
    refuse_unwritable(schema, "a stack of the CDK")
    made = plan(schema)
    head = _HEAD.format(
        documentation=literals.docstring(
            f"The tables of {schema.name}, their consumers, permissions and alarms."
        ),
        name=identifier(schema.name),
    )
    if not made.consumers:
        head = "\n".join(line for line in head.split("\n") if not _is_of_consumers(line))
    if not made.emits:
        head = "\n".join(line for line in head.split("\n") if not _is_of_events(line))
    lines = [head]
    for table in made.tables:
        lines += _table(table)
    lines += _application(made)
    for each in made.consumers:
        lines += _consumer(made, each)
    if made.emits:
        lines += _rule(schema)
    for alarm in alarms(made):
        lines += _alarm(alarm)
    return "\n".join([*lines, "", _ALARM]).rstrip() + "\n"


def _is_of_consumers(line: str) -> bool:
    return line.startswith("from") and line.endswith(("lambda_", "sources", "sqs"))


def _is_of_events(line: str) -> bool:
    return line.endswith(" events") or line.lstrip().startswith(("event_bus:", "event_target:"))


def _rule(schema: Schema) -> Iterator[str]:
    yield "        if event_bus is not None and event_target is not None:"
    yield "            events.Rule("
    yield "                self,"
    yield '                "EventRule",'
    yield f"                description={text(f'Every event of {schema.name}.'[:512])},"
    yield "                event_bus=event_bus,"
    yield f"                event_pattern=events.EventPattern(source=[{text(schema.name)}]),"
    yield "                targets=[event_target],"
    yield "            )"


def _table(table: TableSchema) -> Iterator[str]:
    name = snake(table.name)
    kind = f"dynamodb.AttributeType.{_TYPES[table.partition_type]}"
    yield f"        self.{name} = dynamodb.Table("
    yield "            self,"
    yield f"            {text(identifier(table.name))},"
    yield f"            table_name=prefix + {text(table.name)},"
    yield f"            partition_key=attribute({text(table.partition)}, {kind}),"
    if table.sort:
        kind = f"dynamodb.AttributeType.{_TYPES[table.sort_type]}"
        yield f"            sort_key=attribute({text(table.sort)}, {kind}),"
    yield f"            billing_mode=dynamodb.BillingMode.{word(table.billing)},"
    if table.billing == "PROVISIONED":
        yield from _UNITS
    if table.ttl:
        yield f"            time_to_live_attribute={text(table.ttl)},"
    if table.stream:
        yield f"            stream=dynamodb.StreamViewType.{word(table.stream)},"
    yield "            point_in_time_recovery_specification=recovery,"
    yield "            deletion_protection=True,"
    yield "            removal_policy=RemovalPolicy.RETAIN,"
    yield "        )"
    for index in table.indexes:
        yield from _index(name, table, index)
    yield ""


def _index(name: str, table: TableSchema, index: Index) -> Iterator[str]:
    what = "local" if index.local else "global"
    yield f"        self.{name}.add_{what}_secondary_index("
    yield f"            index_name={text(index.name)},"
    if not index.local:
        yield from _keys("partition_key", index.partition_types)
    yield from _keys("sort_key", index.sort_types)
    if table.billing == "PROVISIONED" and not index.local:
        yield from _UNITS
    yield f"            projection_type=dynamodb.ProjectionType.{word(index.projection)},"
    if index.included:
        yield f"            non_key_attributes={text(list(index.included))},"
    yield "        )"


def _keys(word: str, types: Mapping[str, str]) -> Iterator[str]:
    shown = [f"attribute({text(n)}, dynamodb.AttributeType.{_TYPES[t]})" for n, t in types.items()]
    if len(shown) == 1:
        yield f"            {word}={shown[0]},"
    elif shown:
        yield f"            {word}s=["
        yield from (f"                {one}," for one in shown)
        yield "            ],"


def _consumer(made: Stack, each: StreamFunction) -> Iterator[str]:
    name = snake(each.name)
    yield f"        {name}_letters = sqs.Queue("
    yield "            self,"
    yield f"            {text(identifier(each.name) + 'DeadLetters')},"
    yield "            retention_period=Duration.days(14),"
    yield "        )"
    yield f"        {name} = lambda_.Function("
    yield "            self,"
    yield f"            {text(identifier(each.name))},"
    yield "            runtime=lambda_.Runtime.PYTHON_3_13,"
    yield f"            handler={text(HANDLER)},"
    yield "            code=lambda_.Code.from_asset(code),"
    yield "            timeout=Duration.seconds(60),"
    yield "            memory_size=512,"
    yield '            environment={"KEYFOLD_TABLE_PREFIX": prefix},'
    yield "        )"
    if made.emits:
        yield "        if event_bus is not None:"
        yield f'            {name}.add_environment("EVENT_BUS", event_bus.event_bus_name)'
        announcing = '"events:PutEvents"], resources=[event_bus.event_bus_arn]'
        yield f"            {name}.add_to_role_policy("
        yield "                iam.PolicyStatement("
        yield f'                    sid="Announce", actions=[{announcing}'
        yield "                )"
        yield "            )"
    for statement in consumer(made, each, _arn):
        yield f"        {name}.add_to_role_policy("
        yield from _statement(statement, 12)
        yield "        )"
    yield "        lambda_.EventSourceMapping("
    yield "            self,"
    yield f"            {text(identifier(each.name) + 'Mapping')},"
    yield f"            target={name},"
    yield f"            event_source_arn=self.{snake(each.table.name)}.table_stream_arn,"
    yield "            starting_position=lambda_.StartingPosition.TRIM_HORIZON,"
    yield f"            batch_size={BATCH},"
    yield "            bisect_batch_on_error=True,"
    yield f"            retry_attempts={ATTEMPTS},"
    yield "            report_batch_item_failures=True,"
    yield f"            on_failure=sources.SqsDlq({name}_letters),"
    yield "        )"
    yield ""


def _application(made: Stack) -> Iterator[str]:
    """The policy of the service itself, for its role."""
    yield "        self.application = iam.ManagedPolicy("
    yield "            self,"
    yield '            "Application",'
    about = text(f"Only the calls that {made.schema.name} makes.")
    yield f"            description={about},"
    yield "            statements=["
    for statement in application(made, _arn):
        yield from _statement(statement, 16)
    yield "            ],"
    yield "        )"
    yield ""


def _statement(statement: Statement, indent: int) -> Iterator[str]:
    pad = " " * indent
    yield f"{pad}allow("
    yield f"{pad}    {text(statement['Sid'])},"
    yield f"{pad}    ["
    yield from (f"{pad}        {text(action)}," for action in statement["Action"])
    yield f"{pad}    ],"
    yield f"{pad}    ["
    yield from (f"{pad}        {resource}," for resource in statement["Resource"])
    yield f"{pad}    ],"
    yield f"{pad}){',' if indent > 12 else ''}"


def _arn(table: TableSchema, place: str) -> str:
    """An expression in the stack."""
    name = f"self.{snake(table.name)}"
    if not place:
        return f"{name}.table_arn"
    if place == "stream":
        return f"{name}.table_stream_arn"
    return f"{name}.table_arn + {text(f'/{place}')}"


def _alarm(alarm: Alarm) -> Iterator[str]:
    pairs = [f"{text(name)}: {_resource_name(what)}" for name, what in alarm.dimensions]
    yield "        self.alarm("
    yield f"            {text(identifier(alarm.name, 'alarm'))},"
    yield f"            {text(alarm.about)},"
    yield f"            {text(alarm.namespace)},"
    yield f"            {text(alarm.metric)},"
    yield "            {"
    yield from (f"                {pair}," for pair in pairs)
    yield "            },"
    yield f"            {text(alarm.statistic)},"
    yield f"            {alarm.threshold:g},"
    yield f"            {alarm.periods},"
    yield "        )"


def _resource_name(what: str) -> str:
    kind, _, name = what.partition(":")
    if kind == "table":
        return f"self.{snake(name)}.table_name"
    if kind == "queue":
        return f"{snake(name)}_letters.queue_name"
    return f"{snake(name)}.function_name" if kind == "function" else text(name)
