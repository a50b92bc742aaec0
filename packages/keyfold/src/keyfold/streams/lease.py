"""Leases: which worker reads which shard, and how far it has come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from keyfold.errors import ConditionFailed, LeaseLost, TableNotFound
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Call, Flow
from keyfold.streams import support_table
from keyfold_engine.clock import Clock


@dataclass(frozen=True)
class Group:
    """The workers of one design that share its shards under one name."""

    design: str
    name: str = "default"

    @property
    def shards(self) -> str:
        return f"SHARDS#{self.design}#{self.name}"

    @property
    def workers(self) -> str:
        return f"WORKERS#{self.design}#{self.name}"


@dataclass(frozen=True)
class Lease:
    """A worker's right to a shard until a given time, with the shard's checkpoint."""

    stream: str
    shard: str
    owner: str
    until: float
    seconds: float = 0.0
    """How long it lasts after a renewal."""
    sequence: str | None = None
    """The last settled record; None at the beginning."""
    settled_at: float = 0.0
    """When that record was written."""
    records: int = 0
    """How many records were settled."""
    caught_up: float = 0.0
    """When the shard was last seen read to its end."""
    finished: bool = False
    lost: str = ""
    """Why records of this shard are missing; a rebuild clears it."""

    @property
    def sort(self) -> str:
        return f"{self.stream}#{self.shard}"


@dataclass
class Renewals:
    """When this worker saw others renew what they hold, by its own monotonic time.

    A holder whose clock is ahead holds until a time that comes much later than its lease ends.
    What is not renewed for the whole length of a lease has no holder, whatever time it names.
    """

    clock: Clock
    _seen: dict[str, tuple[str, float]] = field(default_factory=dict)

    def ended(self, what: str, until: str, seconds: float) -> bool:
        """Whether a lease that names this end was not renewed for so long."""
        now = self.clock.monotonic()
        last, since = self._seen.get(what, ("", now))
        if last != until:
            self._seen[what] = until, now
        return last == until and now - since > seconds


def leases(context: Context, group: Group) -> Flow[dict[str, Lease]]:
    """All shards that any worker has seen, by their sort key."""
    items = yield from support_table.partition(context, group.shards)
    return {item["SK"]["S"]: _read(item) for item in items}


def take(
    context: Context,
    group: Group,
    stream: str,
    shard: str,
    worker: str,
    seconds: float,
    ended: float | None = None,
) -> Flow[Lease | None]:
    """Acquire or renew the lease; None while another worker holds it.

    `ended` is the end of a lease that was not renewed, however late it is.
    """
    now = context.clock.now()
    try:
        return (
            yield from _update(
                context,
                group,
                f"{stream}#{shard}",
                {
                    "stream": {"S": stream},
                    "shard": {"S": shard},
                    "owner": {"S": worker},
                    "until": {"N": repr(now + seconds)},
                    "seconds": {"N": repr(seconds)},
                },
                "attribute_not_exists(#until) OR #until < :now OR #owner = :me OR #until = :ended",
                {
                    ":now": {"N": repr(now)},
                    ":me": {"S": worker},
                    ":ended": {"N": repr(now if ended is None else ended)},
                },
            )
        )
    except ConditionFailed:
        return None


def save(
    context: Context, group: Group, lease: Lease, seconds: float, **noted: str | float | bool
) -> Flow[Lease]:
    """Save progress and keep the lease; raises LeaseLost if another worker holds it now."""
    changes = {name: _wire(value) for name, value in noted.items()}
    changes["until"] = {"N": repr(context.clock.now() + seconds)}
    try:
        return (
            yield from _update(
                context,
                group,
                lease.sort,
                changes,
                "#owner = :me",
                {":me": {"S": lease.owner}},
            )
        )
    except ConditionFailed:
        raise LeaseLost(f"the shard {lease.shard} was taken over by another worker") from None


def release(context: Context, group: Group, lease: Lease) -> Flow[None]:
    """Release the shard for others."""
    try:
        yield from save(context, group, lease, -1.0)
    except LeaseLost:
        return


def resume(context: Context, name: str = "default") -> Flow[int]:
    """Read shards that lost records again, from the oldest record that is kept.

    Returns how many there were. A rebuild must replace the effects of the lost records.
    """
    group = Group(context.design.name, name)
    try:
        lost = [one for one in (yield from leases(context, group)).values() if one.lost]
    except TableNotFound:
        return 0
    for lease in lost:
        yield from support_table.delete(context, support_table.key(group.shards, lease.sort))
    return len(lost)


def beat(
    context: Context, group: Group, worker: str, seconds: float, renewals: Renewals
) -> Flow[int]:
    """Record that a worker is alive; returns how many are."""
    now = context.clock.now()
    item = {
        **support_table.key(group.workers, worker),
        "until": {"N": repr(now + seconds)},
        "expires": {"N": str(int(now + seconds) + 3600)},
    }
    yield from support_table.put(context, item)
    found = yield from support_table.partition(context, group.workers)
    return sum(
        float(one["until"]["N"]) >= now
        and not renewals.ended(f"worker {one['SK']['S']}", one["until"]["N"], seconds)
        for one in found
    )


def leave(context: Context, group: Group, worker: str) -> Flow[None]:
    yield from support_table.delete(context, support_table.key(group.workers, worker))


def _update(
    context: Context,
    group: Group,
    sort: str,
    changes: Mapping[str, Any],
    condition: str,
    values: Mapping[str, Any],
) -> Flow[Lease]:
    answer = yield Call(
        "UpdateItem",
        {
            "TableName": context.physical(support_table.TABLE),
            "Key": support_table.key(group.shards, sort),
            "UpdateExpression": "SET " + ", ".join(f"#{name} = :{name}" for name in changes),
            "ConditionExpression": condition,
            "ExpressionAttributeNames": {
                **{f"#{name}": name for name in changes},
                **{f"#{name}": name for name in ("owner", "until") if f"#{name}" in condition},
            },
            "ExpressionAttributeValues": {
                **{f":{name}": value for name, value in changes.items()},
                **values,
            },
            "ReturnValues": "ALL_NEW",
        },
    )
    return _read(answer["Attributes"])


def _wire(value: str | float | bool) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"BOOL": value}
    return {"S": value} if isinstance(value, str) else {"N": repr(value)}


def _read(item: Mapping[str, Any]) -> Lease:
    def number(name: str) -> float:
        return float(item[name]["N"]) if name in item else 0.0

    return Lease(
        stream=item["stream"]["S"],
        shard=item["shard"]["S"],
        owner=item["owner"]["S"],
        until=number("until"),
        seconds=number("seconds"),
        sequence=item["sequence"]["S"] if "sequence" in item else None,
        settled_at=number("settled_at"),
        records=int(number("records")),
        caught_up=number("caught_up"),
        finished=item.get("finished", {}).get("BOOL", False),
        lost=item.get("lost", {}).get("S", ""),
    )
