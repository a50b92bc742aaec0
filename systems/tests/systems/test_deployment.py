"""Systems as they are deployed: our own template's tables, its functions with its permissions."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

import pytest

from keyfold import AsyncDb, Db, Design
from keyfold.errors import AccessDenied
from keyfold.maintain import verification
from keyfold.streams import Queue, letters, stream_handler
from keyfold_engine.clients.embedded import AsyncEmbeddedClient, EmbeddedClient
from keyfold_engine.engine import Engine
from keyfold_systems.gg_core import patterns
from keyfold_systems.gg_core.design import design as gg_core
from keyfold_systems.gg_core.service import GgCore
from keyfold_systems.gg_core.views import NewActivity, NewQuest, NewUser
from keyfold_systems.tamafriends.design import design as tamafriends
from keyfold_systems.tamafriends.entities import UserProfile
from keyfold_systems.tamafriends.service import TamaFriends
from keyfold_systems.tamafriends.views import NewPost
from keyfold_web import Identity, PageRequest
from keyfold_workbench.infra import cloudformation

PREFIX = "live-"
ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/"
ANN, BEN = Identity.of("ann"), Identity.of("ben")
PAGE = PageRequest(limit=50, cursor=None)


class Policy:
    """The statements of a role, as IAM would hold a caller to them."""

    def __init__(self, statements: list[dict[str, Any]], tables: Mapping[str, str]) -> None:
        self._allowed = [
            (action, _resolved(resource, tables))
            for one in statements
            for action in one["Action"]
            for resource in ([one["Resource"]] if one["Resource"] == "*" else one["Resource"])
        ]

    def check(self, operation: str, request: Mapping[str, Any]) -> None:
        for action, resource in _needed(operation, request):
            if not any(
                allowed == f"dynamodb:{action}" and fnmatchcase(resource, pattern)
                for allowed, pattern in self._allowed
            ):
                raise AccessDenied(f"not authorized to perform: dynamodb:{action} on {resource}")


def _resolved(resource: Any, tables: Mapping[str, str]) -> str:
    """The ARN that a template's function gives."""
    if isinstance(resource, str):
        return resource
    if "Fn::Sub" in resource:
        name, _, place = resource["Fn::Sub"].removeprefix("${").partition(".Arn}")
    else:
        name, attribute = resource["Fn::GetAtt"]
        place = "/stream/*" if attribute == "StreamArn" else ""
    return f"{ARN}{PREFIX}{tables.get(name, name)}{place}"


def _needed(operation: str, request: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The actions on resources that a request is."""
    if operation == "TransactWriteItems":
        for item in request["TransactItems"]:
            [(kind, body)] = item.items()
            action = "ConditionCheckItem" if kind == "ConditionCheck" else f"{kind}Item"
            yield action, ARN + body["TableName"]
    elif operation in ("BatchGetItem", "BatchWriteItem"):
        for table in request["RequestItems"]:
            yield operation, ARN + table
    elif operation == "TransactGetItems":
        for item in request["TransactItems"]:
            yield "GetItem", ARN + item["Get"]["TableName"]
    else:
        place = f"/index/{request['IndexName']}" if "IndexName" in request else ""
        yield operation, ARN + request["TableName"] + place


class Function(EmbeddedClient):
    """What runs in Lambda, with its role."""

    def __init__(self, engine: Engine, policy: Policy) -> None:
        super().__init__(engine)
        self._policy = policy

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        self._policy.check(operation, request)
        return super().call(operation, request)


class Application(AsyncEmbeddedClient):
    """The same for the application."""

    def __init__(self, engine: Engine, policy: Policy) -> None:
        super().__init__(engine)
        self._policy = policy

    async def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        self._policy.check(operation, request)
        return await super().call(operation, request)


class Stack:
    """A template, carried out: tables on an engine, functions behind their streams."""

    def __init__(self, design: Design, engine: Engine) -> None:
        self.design, self.engine = design, engine
        template = cloudformation.template(design.schema)
        self.resources = template["Resources"]
        self.announces = "EventBus" in template["Parameters"]
        self.tables = {
            name: self._create(dict(resource["Properties"]))
            for name, resource in self.resources.items()
            if resource["Type"] == "AWS::DynamoDB::Table"
        }
        self.queue = Queue("news")

    def _create(self, properties: dict[str, Any]) -> str:
        name = str(properties.pop("TableName")["Fn::Sub"].removeprefix("${Prefix}"))
        expiry = properties.pop("TimeToLiveSpecification", None)
        del properties["PointInTimeRecoverySpecification"]
        if "StreamSpecification" in properties:
            properties["StreamSpecification"]["StreamEnabled"] = True
        self.engine.call("CreateTable", {"TableName": PREFIX + name, **properties})
        if expiry:
            request = {"TableName": PREFIX + name, "TimeToLiveSpecification": expiry}
            self.engine.call("UpdateTimeToLive", request)
        return name

    async def application(self) -> AsyncDb:
        statements = self.resources["ApplicationPolicy"]["Properties"]["PolicyDocument"]
        client = Application(self.engine, Policy(statements["Statement"], self.tables))
        return await self.design.open_async(client, table_prefix=PREFIX, create_tables=False)

    def function(self, mapping: str) -> Db:
        """The function's own view of the database."""
        name = self.resources[mapping]["Properties"]["FunctionName"]["Ref"]
        policy, *_ = self.resources[f"{name}Role"]["Properties"]["Policies"]
        client = Function(self.engine, Policy(policy["PolicyDocument"]["Statement"], self.tables))
        prefix = self.resources[name]["Properties"]["Environment"]["Variables"]
        bus = {"EVENT_BUS": {"Ref": "EventBus"}} if self.announces else {}
        assert prefix == {"KEYFOLD_TABLE_PREFIX": {"Ref": "Prefix"}, **bus}
        return self.design.open(client, table_prefix=PREFIX, create_tables=False)

    def run(self) -> None:
        """What the event source mappings do until nothing is left: every batch comes twice."""
        for name, resource in self.resources.items():
            if resource["Type"] != "AWS::Lambda::EventSourceMapping":
                continue
            handler = stream_handler(self.function(name), sinks=[self.queue])
            table = resource["Properties"]["EventSourceArn"]["Fn::GetAtt"][0]
            for records in self._batches(self.tables[table], resource["Properties"]["BatchSize"]):
                for _ in range(2):
                    assert handler({"Records": records}, None) == {"batchItemFailures": []}

    def _batches(self, table: str, size: int) -> Iterator[list[dict[str, Any]]]:
        call = self.engine.call
        arn = call("DescribeTable", {"TableName": PREFIX + table})["Table"]["LatestStreamArn"]
        shards = call("DescribeStream", {"StreamArn": arn})["StreamDescription"]["Shards"]
        for shard in shards:
            start = {"ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"}
            iterator = call("GetShardIterator", {"StreamArn": arn, **start})["ShardIterator"]
            while True:
                answer = call("GetRecords", {"ShardIterator": iterator, "Limit": size})
                if not answer["Records"]:
                    break
                yield [{**record, "eventSourceARN": arn} for record in answer["Records"]]
                iterator = answer["NextShardIterator"]

    def settled(self) -> list[str]:
        """The names of all events; nothing may be wrong, and nothing left behind."""
        with self.design.open(
            EmbeddedClient(self.engine), table_prefix=PREFIX, create_tables=False
        ) as db:
            assert [one.reason for one in db.run(letters(db.context))] == []
            assert db.run(verification(db.context)).drifts == []
            return [event.name for event in db.run(self.queue.messages(db.context))]


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine.open(":memory:") as opened:
        yield opened


async def test_tamafriends_counts_from_a_bare_stack(engine: Engine) -> None:
    stack = Stack(tamafriends, engine)
    db = await stack.application()
    service = TamaFriends(db)
    for one in (ANN, BEN):
        await db.create(
            UserProfile(
                user_id=one.id,
                email=f"{one.id}@example.com",
                username=one.id,
                handle=one.id,
                display_name=one.id.title(),
            )
        )
    post = await service.create_post(NewPost(text="Look!"), caller=ANN)
    await service.like(post.post_id, caller=BEN)
    await service.comment(post.post_id, "Nice.", caller=BEN)
    await service.follow("ann", caller=BEN)
    await asyncio.to_thread(stack.run)
    kept = await service.post(post.post_id, caller=ANN)
    assert (kept.like_count, kept.comment_count) == (1, 1)
    assert (await service.profile("ann")).follower_count == 1
    await service.unlike(post.post_id, caller=BEN)
    await service.unfollow("ann", caller=BEN)
    await asyncio.to_thread(stack.run)
    assert (await service.post(post.post_id, caller=ANN)).like_count == 0
    assert (await service.profile("ann")).follower_count == 0
    assert stack.settled() == []
    await db.close()


async def test_gg_core_counts_and_feeds_from_a_bare_stack(engine: Engine) -> None:
    stack = Stack(gg_core, engine)
    db = await stack.application()
    service = GgCore(db)
    for one in (ANN, BEN):
        input = NewUser(nickname=one.id, email=f"{one.id}@x.org", full_name=one.id)
        await service.create_user(input, caller=one)
    await service.follow_user("ben", caller=ANN)
    await service.set_promotion("ben", True)
    quest = NewQuest(title="One", kind="quantitative", target_count=1)
    made = await service.create_quest(quest, caller=ANN)
    await service.cancel_quest(made.quest_id, caller=ANN)
    await service.post_activity(NewActivity(preview_text="Hello"), caller=BEN)
    for _ in range(3):
        await asyncio.to_thread(stack.run)
    assert (await service.counts("ben")).followers == 1
    assert [one.preview_text for one in await service.feed("ann", PAGE)] == ["Hello"]
    assert [one.actor_id for one in await patterns.fan_out(db, "ann")] == ["ben"]
    names = stack.settled()
    for event in ("UserFollowed", "ActivityPosted", "QuestCreated", "QuestEnded"):
        assert names.count(event) == 1, names
    await db.close()
