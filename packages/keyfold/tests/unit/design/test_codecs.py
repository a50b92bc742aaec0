"""A codec stores a field of any type; the field is in keys and conditions if its codec says so."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import time
from ipaddress import IPv4Address
from pathlib import Path
from types import new_class
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, GetCoreSchemaHandler, HttpUrl, SecretStr, model_validator
from pydantic_core import CoreSchema, core_schema

from keyfold import (
    Db,
    Design,
    Entity,
    First,
    Id,
    Index,
    InKey,
    Key,
    On,
    Pointer,
    Query,
    Stored,
    Unique,
    add,
)
from keyfold.conditions import at, begins_with, between, contains, missing, one_of, size
from keyfold.design.file import loads
from keyfold.design.schema import AttributeSchema, Schema
from keyfold.design.yaml_writer import dumps
from keyfold.errors import (
    ConditionFailed,
    DeclarationError,
    NotFound,
    PlanError,
    Undecodable,
    UniqueTaken,
    ValueRefused,
)
from keyfold.fields import Codec
from keyfold.maintain import verify
from keyfold.migrations import snapshot
from keyfold.review.docs import files


@dataclass(frozen=True)
class Colour:
    """A class of an application, which Pydantic knows by its own schema."""

    red: int
    green: int
    blue: int

    @classmethod
    def __get_pydantic_core_schema__(cls, _: Any, __: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(cls.read)

    @classmethod
    def read(cls, value: object) -> Colour:
        if isinstance(value, Colour):
            return value
        if isinstance(value, int):
            return cls(value >> 16, value >> 8 & 255, value & 255)
        raise ValueError("not a colour")

    def number(self) -> int:
        return (self.red << 16) + (self.green << 8) + self.blue


class Profile(BaseModel):
    name: str
    wakes_at: time


def seal(value: SecretStr) -> bytes:
    """Never the same twice, as a cipher."""
    salt = os.urandom(8)
    return salt + value.get_secret_value().encode()[::-1]


def unseal(stored: bytes) -> SecretStr:
    if len(stored) < 9:
        raise KeyError("too short")
    return SecretStr(stored[8:][::-1].decode())


def compress(text: str) -> bytes:
    return zlib.compress(text.encode())


ADDRESS = Codec("ip", str, IPv4Address.__str__, comparable=True)
TIME = Codec("time", str, time.isoformat, comparable=True)
SEALED = Codec("sealed", bytes, seal, unseal)
Secret = Annotated[SecretStr, Stored(SEALED)]
design = Design("codecs")
table = design.table("codecs", indexes=[Index("GSI1", "GSI1PK", "GSI1SK")])


class Host(Entity, table=table):
    host_id: Id
    address: Annotated[IPv4Address, Stored(ADDRESS)]
    wakes_at: Annotated[
        time | None, Stored(Codec("time", str, time.isoformat, comparable=True))
    ] = None
    home: Annotated[HttpUrl | None, Stored(Codec("url", str, HttpUrl.__str__))] = None
    token: Secret | None = None
    colour: Annotated[Colour | None, Stored(Codec("colour", int, Colour.number))] = None
    notes: Annotated[
        str,
        Stored(Codec("deflate", bytes, compress, lambda stored: zlib.decompress(stored).decode())),
    ] = ""
    profile: Annotated[
        Profile | None,
        Stored(Codec("json", str, BaseModel.model_dump_json, Profile.model_validate_json)),
    ] = None
    name: str = ""
    key = Key("HOST#{host_id}", "HOST")
    by_address = On("GSI1", "IP#{address}", "HOST#{host_id}")
    one_address = Unique("address")


@pytest.fixture
def db() -> Iterator[Db]:
    with design.open(":memory:") as opened:
        yield opened


def host(**values: Any) -> Host:
    given: dict[str, Any] = {"host_id": "1", "address": IPv4Address("10.0.0.1"), **values}
    return Host(**given)


def raw(db: Db, host_id: str = "1") -> dict[str, Any]:
    key = {"PK": {"S": f"HOST#{host_id}"}, "SK": {"S": "HOST"}}
    found: dict[str, Any] = db.client.call("GetItem", {"TableName": "codecs", "Key": key})["Item"]
    return found


@pytest.mark.parametrize(
    ("values", "stored"),
    [
        ({"wakes_at": time(7, 30)}, {"wakesAt": {"S": "07:30:00"}}),
        ({"home": HttpUrl("https://example.org/a")}, {"home": {"S": "https://example.org/a"}}),
        ({"colour": Colour(1, 2, 3)}, {"colour": {"N": "66051"}}),
        (
            {"profile": Profile(name="Ada", wakes_at=time(6))},
            {"profile": {"S": '{"name":"Ada","wakes_at":"06:00:00"}'}},
        ),
        ({}, {"address": {"S": "10.0.0.1"}, "GSI1PK": {"S": "IP#10.0.0.1"}}),
    ],
)
def test_a_value_is_stored_by_its_codec_and_comes_back(
    db: Db, values: dict[str, Any], stored: dict[str, Any]
) -> None:
    made = db.create(host(**values))
    assert raw(db).items() >= stored.items()
    assert db.get(made.ref()) == made == host(**values)


def test_a_secret_is_not_in_the_item(db: Db) -> None:
    db.create(host(token=SecretStr("swordfish"), notes="long " * 400))
    stored = raw(db)
    assert b"swordfish" not in repr(stored).encode()
    assert len(stored["notes"]["B"]) < 100
    found = db.get(Host.key(host_id="1"))
    assert found.token is not None
    assert found.token.get_secret_value() == "swordfish"
    assert found.notes == "long " * 400


@design.pattern(requests=1)
def host_by_address(address: IPv4Address) -> First[Host]:
    return Host.by_address.query(address=address).first()


@design.pattern(requests=1)
def awake_at(address: IPv4Address, at: time) -> Query[Host]:
    return Host.by_address.query(address=address).where(lambda h: between(h.wakes_at, time(0), at))


def test_an_update_moves_the_index_and_keeps_the_rest(db: Db) -> None:
    made = db.create(host(token=SecretStr("s")))
    moved = db.update(made, address=IPv4Address("10.0.0.2"), wakes_at=time(8))
    assert host_by_address(db, IPv4Address("10.0.0.2")) == moved
    assert host_by_address(db, IPv4Address("10.0.0.1")) is None
    assert raw(db)["wakesAt"] == {"S": "08:00:00"}


def test_what_is_stored_in_several_forms_can_be_changed_and_deleted(db: Db) -> None:
    made = db.create(host(token=SecretStr("s")))
    changed = db.update(made, token=SecretStr("t"))
    assert changed.token == SecretStr("t")
    db.delete(changed)
    with pytest.raises(NotFound):
        db.get(made.ref())


class Vault(Entity, table=table):
    vault_id: Id
    code: Secret
    doors: int = 1
    key = Key("VAULT#{vault_id}", "VAULT")

    @model_validator(mode="after")
    def codes_open_doors(self) -> Vault:
        assert self.doors > 0
        return self


def test_a_guard_compares_what_was_read_and_not_a_value_stored_anew(db: Db) -> None:
    made = db.create(Vault(vault_id="v", code=SecretStr("1")))
    assert db.update(made, doors=2) == db.get(made.ref())
    assert db.get(made.ref()).code == SecretStr("1")


def test_a_unique_compares_what_is_stored(db: Db) -> None:
    made = db.create(host())
    with pytest.raises(UniqueTaken):
        db.create(host(host_id="2"))
    assert db.read(Host.one_address(address=made.address)) == made


def test_conditions_compare_what_is_stored(db: Db) -> None:
    made = db.create(host(wakes_at=time(7)))
    assert db.update(made, name="a", where=lambda h: h.wakes_at == time(7)).name == "a"
    assert db.update(made.ref(), name="b", where=lambda h: missing(h.token)).name == "b"
    with pytest.raises(ConditionFailed, match=r'wakes_at IN \("08:00:00"\) does'):
        db.update(made.ref(), name="c", where=lambda h: one_of(h.wakes_at, time(8)))
    assert [one.host_id for one in awake_at(db, made.address, time(7))] == ["1"]
    assert [one.host_id for one in awake_at(db, made.address, time(6))] == []


CONDITIONS: list[Callable[[Any], object]] = [
    lambda h: h.token == SecretStr("s"),
    lambda h: one_of(h.notes, "a"),
    lambda h: begins_with(h.wakes_at, "07"),
    lambda h: contains(h.address, "1"),
    lambda h: size(h.notes) > 1,
    lambda h: h.profile.name == "Ada",
    lambda h: h.address == h.name,
    lambda h: h.name == h.address,
]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_condition_that_a_codec_cannot_answer_is_refused(
    db: Db, condition: Callable[[Any], object]
) -> None:
    made = db.create(host())
    with pytest.raises(DeclarationError, match=r"codec|stored differently"):
        db.update(made, name="x", where=condition)


def _name_of_profile(one: Host) -> str:
    assert one.profile is not None
    return one.profile.name


def test_a_change_inside_or_of_another_form_is_refused(db: Db) -> None:
    made = db.create(host(profile=Profile(name="Ada", wakes_at=time(6))))
    with pytest.raises(DeclarationError, match="codec json"):
        db.update(made, at.set(_name_of_profile, "Bea"))
    with pytest.raises(PlanError, match="name is not stored as notes"):
        db.update(made, at.copy(lambda h: h.name, lambda h: h.notes))
    with pytest.raises(PlanError, match="of kind coded"):
        db.update(made, colour=add(1))


def test_what_a_codec_cannot_store_or_read_names_the_field(db: Db) -> None:
    class Odd(Entity, table=table):
        odd_id: Id
        share: Annotated[float, Stored(Codec("inverse", int, lambda v: 1 / v))] = 1.0
        key = Key("ODD#{odd_id}", "ODD")

    for share, wrong in ((0.0, "ZeroDivisionError"), (0.5, "made float of it, and not int")):
        with pytest.raises(ValueRefused, match=rf"Odd\.share: the codec inverse .*{wrong}"):
            db.put(Odd(odd_id="1", share=share))
    db.create(host(token=SecretStr("s")))
    item = raw(db) | {"token": {"B": "AA=="}}
    db.client.call("PutItem", {"TableName": "codecs", "Item": item})
    with pytest.raises(Undecodable, match="token: the codec sealed cannot read it: KeyError"):
        db.get(Host.key(host_id="1"))


@pytest.mark.parametrize(
    ("declared", "match"),
    [
        ({"key": Key("X#{token}", "X")}, "token is of kind coded, which"),
        ({"of": On("GSI1", "X", "X#{token}")}, "token is of kind coded, which"),
        ({"one": Unique("token")}, "Unique names token, which is of kind coded"),
        ({"token": Annotated[SecretStr, Stored(SEALED), InKey()]}, "is marked InKey"),
        ({"token": Annotated[str, Stored("epoch")]}, "give other types a codec"),
    ],
)
def test_a_codec_that_does_not_say_so_is_in_no_key(declared: dict[str, Any], match: str) -> None:
    typed = {"x_id": Id, "token": declared.pop("token", Secret)}
    body = {"key": Key("X#{x_id}", "X"), "__annotations__": typed} | declared
    indexes = [Index("GSI1", "GSI1PK", "GSI1SK")]
    options = {"table": Design("x").table("x", indexes=indexes)}
    with pytest.raises(DeclarationError, match=match):
        new_class("X", (Entity,), options, lambda own: own.update(body))


def test_a_copy_needs_the_codec_and_one_form() -> None:
    others = Design("copies")
    held = others.table("copies")

    class Door(Entity, table=held):
        door_id: Id
        code: Secret
        address: Annotated[IPv4Address, Stored(ADDRESS)]
        key = Key("DOOR#{door_id}", "DOOR")

    with pytest.raises(DeclarationError, match="codec sealed may store equal values differently"):

        class DoorCode(Pointer[Door], table=held):
            door_id: Id
            code: Secret
            key = Key("CODE#{door_id}", "CODE")

    class DoorAddress(Pointer[Door], table=held):
        door_id: Id
        address: Annotated[IPv4Address, Stored(ADDRESS)]
        key = Key("ADDRESS#{door_id}", "{address}")

    with others.open(":memory:") as db:
        first = IPv4Address("10.0.0.1")
        db.create(Door(door_id="d", code=SecretStr("1"), address=first))
        assert db.get(DoorAddress.key(door_id="d", address=first)).address == first
        assert not verify(db).drifts


@pytest.mark.parametrize(
    "make",
    [
        lambda: Codec("two words", str, str),
        lambda: Codec("x", float, float),  # type: ignore[type-var]
        lambda: Codec("x", str, "str"),  # type: ignore[arg-type]
        lambda: Stored("hex"),  # type: ignore[arg-type]
    ],
)
def test_a_wrong_codec_is_refused(make: Callable[[], object]) -> None:
    with pytest.raises(DeclarationError, match="is not valid"):
        make()


def _attributes(schema: Schema) -> tuple[AttributeSchema, ...]:
    return next(one.attributes for one in schema.entities if one.name == "Host")


def test_documents_and_snapshots_name_the_codec(tmp_path: Path) -> None:
    found = {one.field: (one.type, one.stored) for one in _attributes(design.schema)}
    assert found["token"] == ("binary", "sealed")
    assert found["colour"] == ("number", "colour")
    assert _attributes(snapshot.load(snapshot.dump(design.schema)))[4].stored == "sealed"
    assert _attributes(loads(dumps(design.schema)))[4].stored == "sealed"
    pages = "".join(files(design.schema, tmp_path / "design.md").values())
    assert "binary (sealed)" in pages
