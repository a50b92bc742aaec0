"""A structure that nobody else knows of is kept, verified, priced, documented and migrated.

`Volume` is written by CONTRIBUTING's words alone: one file, and no word of it in another package.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from keyfold.design.address import Ref
from keyfold.design.entity import Entity
from keyfold.design.follows import Follows
from keyfold.design.markers import CountMarker
from keyfold.design.source import caller
from keyfold.errors import PlanError, VersionConflict
from keyfold.maintain import plan, rebuild, repair, verify
from keyfold.maintain.address import fetch, raw
from keyfold.maintain.drift import SET_IT, Drift
from keyfold.maintain.fact import AmountFact
from keyfold.maintain.related import Related
from keyfold.maintain.row_log import FactComparison, Suspect
from keyfold.maintain.structure import Causes, Shown, SummedStructure, Sync
from keyfold.migrations import Backend, Migrator, diff, load
from keyfold.migrations.plan import draft
from keyfold.review.docs import document
from keyfold.review.docs.markdown import markdown
from keyfold.runtime.changes import Add
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.intent import Intent, Update
from keyfold.runtime.writes import commit
from keyfold.streams import Consumer
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.engine import Engine
from keyfold_workbench.cost import Workload, bill
from keyfold_workbench.infra import cloudformation


class Volume(CountMarker):
    """Marks a number: `size: Annotated[int, Volume("Message", "text")] = 0`."""

    shards = 1

    def __init__(self, of: str, text: str, *, sync: Sync = "transaction") -> None:
        self.of, self.text, self.sync, self.place = of, text, sync, caller()

    def attach_field(self, entity: type[Entity], field: str) -> None:
        design = entity.__table__.design
        design.when_complete(lambda: design.maintain(VolumeMaintainer(self, entity, field)))


class VolumeMaintainer(SummedStructure):
    """How long the texts of an item's items are together."""

    kind = "volume"
    compared = FactComparison(adds=True, missing=False)

    def __init__(self, declared: Volume, target: type[Entity], field: str) -> None:
        self.declared, self.target, self.field, self.sync = declared, target, field, declared.sync
        self.label = f"volume {target.__name__}.{field}"
        self.source = target.__table__.design.entities[declared.of]
        self.related = Related(target, self.source, "key", {}, owner=f"the {self.label}")

    @property
    def fields(self) -> frozenset[str]:
        return frozenset({self.declared.text, *self.related.via.values()})

    def facts(self, item: Entity) -> Iterator[AmountFact]:
        holder = self.related.parent_of(item)
        if holder is not None:
            yield AmountFact(holder, self.field, len(getattr(item, self.declared.text)))

    @property
    def shown_by(self) -> tuple[type[Entity]]:
        return (self.target,)

    def shows(self, item: Entity, own: bytes) -> Iterator[Shown]:
        yield own, Decimal(getattr(item, self.field)), own

    def look(self, context: Context, suspect: Suspect, causes: Causes) -> Flow[Drift | None]:
        held = yield from fetch(context, context.design, suspect.address)
        if held is None or getattr(held, self.field) != suspect.found or suspect.said is None:
            return None
        ref, table = held.ref(), self.target.__table__.name
        causes.note(ref, self.field, suspect.said)
        shown = tuple(one.label for one in self.shown_elsewhere(context))
        return Drift(
            self.kind,
            self.label,
            table,
            ref.wire(),
            suspect.said,
            suspect.found,
            ref,
            remedy=SET_IT,
            follows=shown,
        )

    def fix(self, context: Context, drift: Drift) -> Flow[None]:
        holder: Ref[Any] | None = drift.subject
        item = None if holder is None else (yield from raw(context, holder))
        if holder is None or item is None:
            return
        if getattr(self.target.__spec__.decode(item), self.field) != drift.found:
            raise VersionConflict(f"{self.label} of {holder} changed in the meantime")
        missing = AmountFact(holder, self.field, int(drift.expected - drift.found))
        yield from commit(context, list(missing.add()))
        yield from self.bring_shown(context, holder)

    @property
    def carrier(self) -> type[Entity] | None:
        return self.target if self.sync == "stream" else None

    def carry_over(self, gone: Entity) -> Iterator[Intent]:
        number = getattr(gone, self.field)
        if number:
            yield Update(gone.ref(), {self.field: Add(number)}, counting=True, if_missing="skip")

    @property
    def follows(self) -> Follows:
        return Follows(
            name=self.label,
            kind=self.kind,
            source=self.source.__name__,
            target=self.target.__name__,
            fact="amount",
            fields=tuple(sorted(self.fields)),
            writes=(self.field,),
            adds=(self.field,),
            via=tuple(self.related.via.items()),
            sums=self.declared.text,
            sync=self.sync,
            place=self.declared.place,
        )


CHAT = f"""
from typing import Annotated
from keyfold import Design, Entity, Id, Key, Pointer
from {__name__} import Volume

design = Design("chat")
table = design.table("Chats", stream="NEW_AND_OLD_IMAGES")


class Message(Entity, table=table):
    room_id: Id
    message_id: Id
    text: str
    key = Key("ROOM#{{room_id}}", "MESSAGE#{{message_id}}")


class Room(Entity, table=table):
    room_id: Id
    title: str = ""
    key = Key("ROOM#{{room_id}}", "ROOM")
"""
VOLUMES = """
    size: Annotated[int, Volume("Message", "text")] = 0
    late: Annotated[int, Volume("Message", "text", sync="stream")] = 0
"""
POINTER = """

class RoomByTitle(Pointer[Room], table=table):
    title: str
    room_id: Id
    size: int
    key = Key("TITLE#{title}", "ROOM#{room_id}")
"""


@pytest.fixture
def declared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(sys.modules, __name__, sys.modules[__name__])

    def declare(name: str, text: str) -> Any:
        (tmp_path / f"{name}.py").write_text(text)
        try:
            return importlib.import_module(name).design
        finally:
            del sys.modules[name]

    return declare


def fill(db: Any, design: Any) -> None:
    Message, Room = design.entities["Message"], design.entities["Room"]
    db.create(Room(room_id="r", title="t"))
    for number in range(5):
        db.create(Message(room_id="r", message_id=str(number), text="x" * number))


def test_it_is_kept_verified_repaired_and_rebuilt(declared: Any) -> None:
    design = declared("chat_kept", CHAT + VOLUMES + POINTER)
    Message, Room, Copy = (design.entities[name] for name in ("Message", "Room", "RoomByTitle"))
    with design.open(":memory:") as db:
        fill(db, design)
        db.update(Message.key(room_id="r", message_id="0"), text="hello")
        db.delete(Message.key(room_id="r", message_id="4"))
        Consumer(db).drain()
        room = db.get(Room.key(room_id="r"))
        assert (room.size, room.late) == (11, 11)
        assert [one.size for one in db.scan(Copy)] == [11]
        assert verify(db).clean
        with pytest.raises(PlanError, match=r"Room\.size is a counter"):
            db.update(room, size=3)

        def corrupt() -> None:
            db.client.call(
                "UpdateItem",
                {
                    "TableName": "Chats",
                    "Key": room.ref().wire(),
                    "UpdateExpression": "SET #size = :wrong",
                    "ExpressionAttributeNames": {"#size": "size"},
                    "ExpressionAttributeValues": {":wrong": {"N": "99"}},
                },
            )

        corrupt()
        report = verify(db)
        assert [str(drift) for drift in report.drifts] == [
            "volume Room.size: Chats PK=ROOM#r, SK=ROOM: expected 11, found 99; "
            "shown by pointer RoomByTitle"
        ]
        assert plan(report.drifts[0]) == "set it to the expected value"
        assert repair(db, report).fixed == 1
        assert verify(db).clean
        corrupt()
        rebuild(db, "volume Room.size")
        assert verify(db).clean


def test_it_is_priced_documented_and_exported(declared: Any) -> None:
    design = declared("chat_told", CHAT + VOLUMES)
    schema = design.schema
    text = markdown(document(schema), pictures="pictures")
    assert "volume Room.size" in text
    assert "sum of text of Message" in text
    assert "keyfold_streams" in cloudformation.render(schema)
    plain = declared("chat_plain", CHAT).schema
    priced, unpriced = (bill(one, Workload()).writes_dollars for one in (schema, plain))
    assert priced > unpriced


def test_a_migration_that_adds_it_leaves_verify_clean(declared: Any, tmp_path: Path) -> None:
    client = EmbeddedClient(Engine.open(":memory:"))
    before = declared("chat_before", CHAT)
    fill(before.open(client), before)
    after = declared("chat_after", CHAT + VOLUMES)
    told = [change.words for change in diff(before.schema, after.schema)]
    assert "volume Room.size is maintained in size of Room" in told
    made = draft("volumes", before.schema, after.schema, design="chat_after:design")
    assert not made.open_questions
    migration = load(made.save(tmp_path))
    sys.modules.pop("chat_after", None)
    Migrator(migration, Backend(client), without_routers=True).apply("contract")
    db = after.open(client, create_tables=False)
    assert db.get(after.entities["Room"].key(room_id="r")).size == 10
    assert verify(db).clean
