"""Inviter's feed and new hangout as people write them today: FastAPI, Strawberry and boto3.

`python bench/handwritten.py PORT ENDPOINT KEY` does the same work as keyfold's: the token is
verified, the member is looked up, input is checked, the pointers are written with their hangout in
one transaction, and the answers are the same.
"""

import base64
import json
import sys
import uuid
from datetime import UTC, datetime
from typing import Annotated, Any

import boto3
import jwt
import strawberry
import uvicorn
from boto3.dynamodb.types import TypeDeserializer, TypeSerializer
from botocore.config import Config
from fastapi import Depends, FastAPI, HTTPException, Path, Query, Request, Response
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from starlette.concurrency import run_in_threadpool
from strawberry.extensions import ParserCache, ValidationCache
from strawberry.fastapi import GraphQLRouter

ISSUER, AUDIENCE = "keyfold-development", "keyfold"
TABLE = "InviterTable"
Text = Annotated[str, Field(min_length=1, max_length=200)]
COPIED = (
    "hangoutId", "hostId", "title", "location", "startTimestamp", "endTimestamp", "going", "maybe",
    "notGoing",
)  # fmt: skip
Ids = Annotated[list[str], Field(max_length=1000)]


class Model(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")


class NewHangout(Model):
    title: Text
    description: Annotated[str, Field(max_length=4000)] = ""
    location: Annotated[str, Field(max_length=200)] = ""
    start_timestamp: AwareDatetime
    end_timestamp: AwareDatetime | None = None
    associated_groups: Ids = []
    invited_users: Ids = []


class Hangout(NewHangout):
    hangout_id: str
    host_id: str
    going: int = 0
    maybe: int = 0
    not_going: int = 0
    version: int = 1
    created_at: datetime
    updated_at: datetime


class Card(Model):
    model_config = ConfigDict(extra="ignore")

    hangout_id: str
    title: str
    location: str
    start_timestamp: datetime
    end_timestamp: datetime | None = None
    going: int
    maybe: int
    not_going: int
    group_id: str | None
    my_answer: str | None = None


class Feed(Model):
    items: list[Card]
    cursor: str | None
    next: str | None = None


class Store:
    """The table, by boto3."""

    def __init__(self, endpoint: str) -> None:
        self.client: Any = boto3.client(
            "dynamodb",
            "us-east-1",
            endpoint_url=endpoint,
            aws_access_key_id="keyfold",
            aws_secret_access_key="keyfold",
            config=Config(max_pool_connections=64),
        )
        self.read, self.write = TypeDeserializer().deserialize, TypeSerializer().serialize

    def feed(self, group_id: str, user_id: str, limit: int, cursor: str | None) -> Feed:
        member = self.client.get_item(
            TableName=TABLE, Key=_key(f"GROUP#{group_id}", f"USER#{user_id}"), ConsistentRead=True
        )
        if "Item" not in member:
            raise HTTPException(403, "You may not do this.")
        after = {}
        if cursor is not None:
            after["ExclusiveStartKey"] = json.loads(base64.urlsafe_b64decode(cursor))
        answer = self.client.query(
            TableName=TABLE,
            KeyConditionExpression="PK = :p AND begins_with(SK, :s)",
            ExpressionAttributeValues={
                ":p": {"S": f"GROUP#{group_id}"},
                ":s": {"S": "HANGOUT#"},
            },
            ScanIndexForward=False,
            Limit=limit,
            **after,
        )
        last = answer.get("LastEvaluatedKey")
        listed = [{k: self.read(v) for k, v in item.items()} for item in answer["Items"]]
        for one in listed:
            for name in ("startTimestamp", "endTimestamp"):
                if name in one:
                    one[name] = datetime.fromtimestamp(int(one[name]) / 1000, UTC)
        mine = self._answers(user_id, [one["hangoutId"] for one in listed])
        return Feed(
            items=[
                Card.model_validate({**one, "myAnswer": mine.get(one["hangoutId"])})
                for one in listed
            ],
            cursor=base64.urlsafe_b64encode(json.dumps(last).encode()).decode() if last else None,
        )

    def _answers(self, user_id: str, hangouts: list[str]) -> dict[str, str]:
        if not hangouts:
            return {}
        keys = [_key(f"EVENT#{one}", f"RESPONSE#{user_id}") for one in hangouts]
        found = self._get(keys)
        return {self.read(one["hangoutId"]): self.read(one["answer"]) for one in found}

    def _get(self, keys: list[dict[str, Any]]) -> list[dict[str, Any]]:
        asked = {TABLE: {"Keys": keys, "ConsistentRead": True}}
        found: list[dict[str, Any]] = self.client.batch_get_item(RequestItems=asked)["Responses"][
            TABLE
        ]
        return found

    def create(self, new: NewHangout, user_id: str) -> Hangout:
        if new.end_timestamp is not None and new.end_timestamp <= new.start_timestamp:
            raise HTTPException(422, "endTimestamp must be after startTimestamp")
        groups, users = list(dict.fromkeys(new.associated_groups)), new.invited_users
        self._check_guests(groups, users, user_id)
        now = datetime.now(UTC)
        given = {**dict(new), "associated_groups": groups}
        given["invited_users"] = list(dict.fromkeys([user_id, *users]))
        hangout = Hangout(
            hangout_id=uuid.uuid4().hex, host_id=user_id, created_at=now, updated_at=now, **given
        )
        try:
            self.client.transact_write_items(TransactItems=self._writes(hangout))
        except self.client.exceptions.TransactionCanceledException:
            raise HTTPException(409, "This hangout exists already.") from None
        return hangout

    def _check_guests(self, groups: list[str], users: list[str], user_id: str) -> None:
        """The host is a user and in each group, and each other user exists."""
        keys = [_key(f"GROUP#{group}", f"USER#{user_id}") for group in groups]
        keys += [_key(f"USER#{user}", "METADATA") for user in sorted({user_id, *users})]
        if len(self._get(keys)) < len(keys):
            raise HTTPException(422, "you are not in a group, or a user does not exist")

    def _writes(self, hangout: Hangout) -> list[dict[str, Any]]:
        values = hangout.model_dump(mode="json", by_alias=True)
        for name, moment in (
            ("startTimestamp", hangout.start_timestamp),
            ("endTimestamp", hangout.end_timestamp),
        ):
            values[name] = None if moment is None else int(moment.timestamp() * 1000)
        values = {name: value for name, value in values.items() if value is not None}
        event, sort = f"EVENT#{hangout.hangout_id}", f"HANGOUT#{hangout.hangout_id}"
        writes = [self._put(event, "METADATA", type="Hangout", **values)]
        copied = {name: values[name] for name in COPIED if name in values}
        for prefix, field, ids, kind in (
            ("GROUP", "groupId", hangout.associated_groups, "HangoutPointer"),
            ("USER", "userId", hangout.invited_users, "UserHangoutPointer"),
        ):
            for one in ids:
                owner = f"{prefix}#{one}"
                named = {field: one, "gsi1pk": owner, "type": kind}
                writes.append(self._put(owner, sort, **named, **copied))
        return writes

    def _put(self, pk: str, sk: str, **values: Any) -> dict[str, Any]:
        item = {name: self.write(value) for name, value in values.items()}
        return {
            "Put": {
                "TableName": TABLE,
                "Item": {**_key(pk, sk), **item},
                "ConditionExpression": "attribute_not_exists(PK)",
            }
        }


def _key(pk: str, sk: str) -> dict[str, Any]:
    return {"PK": {"S": pk}, "SK": {"S": sk}}


@strawberry.type(name="HangoutCard")
class HangoutCardType:
    hangout_id: str
    title: str
    location: str
    start_timestamp: datetime
    end_timestamp: datetime | None
    going: int
    maybe: int
    not_going: int
    group_id: str | None
    my_answer: str | None


@strawberry.type
class PageInfo:
    end_cursor: str | None
    has_next_page: bool


@strawberry.type
class HangoutCardConnection:
    nodes: list[HangoutCardType]
    page_info: PageInfo


@strawberry.type(name="Hangout")
class HangoutType:
    title: str
    description: str
    location: str
    start_timestamp: datetime
    end_timestamp: datetime | None
    associated_groups: list[str]
    invited_users: list[str]
    hangout_id: str
    host_id: str
    going: int
    maybe: int
    not_going: int
    version: int
    created_at: datetime
    updated_at: datetime


@strawberry.input
class NewHangoutInput:
    title: str
    start_timestamp: datetime
    end_timestamp: datetime | None = None
    description: str = ""
    location: str = ""
    associated_groups: list[str] = strawberry.field(default_factory=list)
    invited_users: list[str] = strawberry.field(default_factory=list)


@strawberry.type(name="Query")
class Reads:
    @strawberry.field
    async def group_feed(
        self, info: strawberry.Info, group_id: str, first: int = 50, after: str | None = None
    ) -> HangoutCardConnection:
        store, user = info.context["store"], info.context["user"]
        feed: Feed = await run_in_threadpool(store.feed, group_id, user, first, after)
        return HangoutCardConnection(
            nodes=[HangoutCardType(**dict(item)) for item in feed.items],
            page_info=PageInfo(end_cursor=feed.cursor, has_next_page=feed.cursor is not None),
        )


@strawberry.type(name="Mutation")
class Writes:
    @strawberry.mutation
    async def create_hangout(self, info: strawberry.Info, input: NewHangoutInput) -> HangoutType:
        store, user = info.context["store"], info.context["user"]
        new = NewHangout.model_validate(strawberry.asdict(input))
        made: Hangout = await run_in_threadpool(store.create, new, user)
        return HangoutType(**dict(made))


def build(endpoint: str, key: str) -> FastAPI:
    app, store, bearer = FastAPI(), Store(endpoint), HTTPBearer()

    def caller(sent: Annotated[HTTPAuthorizationCredentials, Depends(bearer)]) -> str:
        try:
            claims = jwt.decode(sent.credentials, key, ["HS256"], audience=AUDIENCE, issuer=ISSUER)
        except jwt.PyJWTError:
            raise HTTPException(401, "The token is not valid here.") from None
        return str(claims["sub"])

    Caller = Annotated[str, Depends(caller)]

    @app.get("/groups/{group_id}/feed")
    def feed(
        request: Request,
        response: Response,
        group_id: Annotated[str, Path(min_length=1, max_length=1024)],
        user: Caller,
        limit: Annotated[int, Query(ge=1, le=200)] = 50,
        cursor: Annotated[str | None, Query(max_length=4096)] = None,
    ) -> Feed:
        page = store.feed(group_id, user, limit, cursor)
        if page.cursor is not None:
            following = request.url.include_query_params(cursor=page.cursor)
            page.next = f"{following.path}?{following.query}"
            response.headers["link"] = f'<{page.next}>; rel="next"'
        return page

    @app.post("/hangouts", status_code=201)
    def create(new: NewHangout, user: Caller, response: Response) -> Hangout:
        made = store.create(new, user)
        response.headers["etag"] = f'"{made.version}"'
        return made

    async def context(user: Caller) -> dict[str, Any]:
        return {"store": store, "user": user}

    kept = [ParserCache(maxsize=512), ValidationCache(maxsize=512)]
    schema = strawberry.Schema(Reads, Writes, extensions=kept)
    app.include_router(GraphQLRouter(schema, context_getter=context), prefix="/graphql")
    return app


if __name__ == "__main__":
    port, endpoint, key = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    uvicorn.run(build(endpoint, key), port=port, log_level="error")
