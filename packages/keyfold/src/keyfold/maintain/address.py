"""Addresses and contents of items as compact, comparable bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from keyfold.design.address import Ref
from keyfold.design.design import Declarations
from keyfold.design.entity import Entity
from keyfold.design.entity_spec import EntitySpec
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Call, Flow

WireItem = dict[str, Any]


class WireRef(Ref[Any]):
    """An address known only by its wire key."""

    def wire(self) -> WireItem:
        return dict(self.values)


def ref_bytes(ref: Ref[Any]) -> bytes:
    """An item's address; `fetch` reads the item."""
    return address_bytes(ref.entity.__name__, ref.wire())


def address_bytes(entity: str, key: Mapping[str, Any]) -> bytes:
    return wire_bytes([entity, key])


def wire_bytes(value: Any) -> bytes:
    """Compact JSON: orjson's own result occupies a buffer of 4 KB."""
    return bytes(memoryview(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)))


def key_at(address: bytes) -> WireItem:
    key: WireItem = orjson.loads(address)[1]
    return key


def fetch(context: Context, design: Declarations, address: bytes) -> Flow[Entity | None]:
    """The item at an address, even if expired."""
    name, key = orjson.loads(address)
    spec = design.entities[name].__spec__
    item = yield from raw(context, WireRef(spec.entity, key))
    if item is None or not spec.recognises(item):
        return None
    entity: Entity = spec.decode(item)
    return entity


def raw(context: Context, ref: Ref[Any]) -> Flow[WireItem | None]:
    """The stored item, even if expired."""
    request = {
        "TableName": context.physical(ref.entity.__table__.schema),
        "Key": ref.wire(),
        "ConsistentRead": True,
    }
    answer = yield Call("GetItem", request)
    item: WireItem | None = answer.get("Item")
    return item


def digest(entity: Entity) -> bytes:
    return digest_of(entity.__spec__, entity.__dict__)


def digest_of(spec: EntitySpec, values: Mapping[str, Any]) -> bytes:
    """The digest of an item's values, without building the item."""
    return _short(orjson.dumps(spec.attributes_of(values), option=orjson.OPT_SORT_KEYS))


def value_digest(value: Any) -> bytes:
    plain = sorted(value, key=repr) if isinstance(value, set | frozenset) else value
    return _short(repr(plain).encode())


def _short(content: bytes) -> bytes:
    """A digest for comparisons within one process: 64 bits of SipHash, an eighth of the time of
    blake2b."""
    return hash(content).to_bytes(8, "little", signed=True)
