"""What a field's name, type and format say about it: the one place where rules infer.

The design overrides it: a type, a format, `one of`, `max`, `bytes`, `rate` or `per_partition`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from keyfold.design.schema import AttributeSchema, EntitySchema
from keyfold.design.template import Slot
from keyfold.review.draft import names

WORDS: dict[str, frozenset[str]] = {
    name: frozenset(text.split())
    for name, text in {
        "state": "status phase stage",
        "kind": "state type kind category priority severity level tier currency country locale "
        "language gender role channel source",
        "code": "country currency locale language severity priority",
        "amount": "amount balance cost fee price quantity salary total wage",
        "result": "points rating score",
        "count": "likes views votes hits plays downloads clicks shares count counter",
        "sum": "total totals sum balance current used",
        "created": "created inserted added ingested received registered occurred published sent",
        "expires": "expir expires expiry expiration expire ttl until deadline delete purge remove",
        "span": "duration lifetime seconds minutes hours days period interval age timeout lease",
        "document": "document html markdown transcript base64 blob pdf json",
        "content": "body content text data payload",
        "paper": "document file attachment page template report export snapshot article email",
        "bulk": "file attachment image photo picture thumbnail video audio pdf upload blob "
        "document snapshot checkpoint content data body",
        "pile": "comments events followers history likes log logs members messages notifications "
        "orders posts reactions replies transactions views voters participants attendees "
        "subscribers readers viewers guests points entries records results readings measurements "
        "attempts versions revisions activities performance users people recipients contacts "
        "friends invitees admins administrators collaborators",
        "event": "order payment purchase booking appointment transaction invoice reservation claim "
        "donation ticket visit rental loan shipment delivery",
        "spread": "shard bucket",
        "period": "hour day date week month year",
        "planned": "appointment start starts begin begins end ends due scheduled departure arrival "
        "month",
        "shared": "tenant organization organisation org company workspace event show match game "
        "auction channel topic broadcast symbol ticker clinic school shop store merchant",
        "passing": "token otp nonce idempotency dedupe deduplication lock lease webhook "
        "connection challenge verification",
        "valid": "otp token code session invite invitation reservation suspension ban lock lease "
        "challenge verification grant link coupon",
        "makes": "create add new make register insert record submit batch",
        "edits": "update edit change rename modify",
        "record": "log logs audit trail history",
        "newest": "latest current newest",
        "copied": "feed inbox timeline notification newsfeed",
    }.items()
}
"""What words in names mean; the last word of a name weighs most."""

_STATES = tuple(WORDS["state"])
PERIODS = {"hourly": "hour", "daily": "day", "weekly": "week"}
DEADLINE = re.compile(r"expir|valid_?(until|to)|until|deadline", re.I)
"""Names of deadlines after which an item is obsolete."""
EXPIRES = re.compile(r"expir(es|ed|y|ation)", re.I)
REMOVAL = re.compile(r"delete|remove", re.I)
"""Names of times from which on an item counts as deleted, if they are its time to live."""
NAMES_ONE = re.compile(
    r"e-?mail(_?address)?|user_?name|nick_?name|handle|login|slug|(phone|mobile)(_?number)?|sku|isbn|iban|vin|subdomain|"
    r"(serial|licen[cs]e|passport|account|vat|tax)_?(number|no|plate)|"
    r"(\w*_)?(reference|hash|digest|fingerprint)|\w*(Reference|Hash|Digest|Fingerprint)",
    re.I,
)
"""Names of fields that are meant to be one of a kind."""
MACHINE_MADE = re.compile(r"(?:^|[a-z]_|[a-z](?=[A-Z]))(?:id|Id|uuid|Uuid|code|Code|token|Token)$")
"""Names of values that programs generate, so that people do not type them in another case."""

Unit = Literal["", "epoch", "epoch_ms", "text"]
Time = Literal["", "created", "expires", "moment", "span"]
Variety = Literal["few", "period", "many"]
Holds = Literal["", "amount", "result", "count", "sum", "pile", "file"]
FEW = 50


@dataclass(frozen=True)
class FieldFacts:
    """What is inferred of one field; `stated` where the design says it."""

    unit: Unit = ""
    time: Time = ""
    variety: Variety = "many"
    holds: Holds = ""
    stated: bool = True


def field_facts(entity: EntitySchema | None, field: str, slot: Slot | None = None) -> FieldFacts:
    """What a field holds, as far as its name, type and format tell."""
    attribute = entity.by_field.get(field) if entity else None
    named = words_of(attribute.field if attribute else field)
    unit = _unit(attribute, slot)
    variety, stated = _variety(attribute, named, slot)
    holds = _holds(attribute, named, entity)
    return FieldFacts(unit, _time(attribute, named, unit), variety, holds, stated)


@cache
def words_of(name: str) -> tuple[str, ...]:
    """The words of a name, in lower case."""
    return tuple(names.words(name))


def means(field: str, *kinds: str) -> bool:
    """Whether the last word of a name is of one of these kinds."""
    return mentions(words_of(field)[-1], *kinds)


def begins(name: str, kind: str) -> bool:
    """Whether the first word of a name is of a kind: `add` of an operation."""
    return words_of(name)[0] in WORDS[kind]


def mentions(name: str, *kinds: str) -> bool:
    """Whether a word of a name is of one of these kinds."""
    return any(word in WORDS[kind] for word in words_of(name) for kind in kinds)


def _unit(attribute: AttributeSchema | None, slot: Slot | None) -> Unit:
    stored = attribute.stored if attribute else ""
    stated = (slot.format.name if slot else "") or stored
    if stated.startswith("iso") or (attribute is not None and attribute.type == "date"):
        return "text"
    return "epoch_ms" if stated == "epoch_ms" else "epoch" if stated.startswith("epoch") else ""


def _time(attribute: AttributeSchema | None, named: tuple[str, ...], unit: Unit) -> Time:
    type_ = attribute.type if attribute else ""
    if type_ == "duration" or (type_ == "number" and named[-1] in WORDS["span"]):
        return "span"
    if not unit and type_ not in ("timestamp", "date", "number", ""):
        return ""
    if any(word in WORDS["expires"] for word in named):
        return "expires"
    if named[0] in WORDS["created"]:
        return "created"
    return "moment" if unit or type_ in ("timestamp", "date") else ""


def _variety(
    attribute: AttributeSchema | None, named: tuple[str, ...], slot: Slot | None
) -> tuple[Variety, bool]:
    if slot is not None and slot.format.coarse:
        dated = "%d" in slot.format.name or "%m" in slot.format.name
        return ("period" if dated else "many"), True
    if attribute is None:
        return "many", False
    if attribute.values or attribute.type == "boolean":
        return ("few", True) if len(attribute.values) <= FEW else ("many", True)
    if attribute.type == "string" and named[-1] in WORDS["period"] and not attribute.refers:
        return "period", False
    if attribute.shards or attribute.refers or attribute.type == "id" or attribute.looks_like:
        return "many", True
    if attribute.type == "date":
        return "period", True
    # `orderstatus`: words that are not separated.
    ends = named[-1].endswith(_STATES)
    few = attribute.type == "string" and (ends or named[-1] in WORDS["kind"])
    return ("few", False) if few else ("many", False)


def _holds(
    attribute: AttributeSchema | None, named: tuple[str, ...], entity: EntitySchema | None
) -> Holds:
    if attribute is None:
        return ""
    bounded = bool(attribute.max_items)
    if attribute.type in ("list", "map", "string_set", "number_set", "binary_set"):
        grows = named[-1] in WORDS["pile"] or (attribute.type == "map" and {"by", "per"} & {*named})
        return "pile" if grows and not bounded else ""
    if attribute.type == "binary":
        return "file" if named[-1] in WORDS["bulk"] and not bounded else ""
    if attribute.type == "string" and not bounded:
        paper = entity is not None and words_of(entity.name)[-1] in WORDS["paper"]
        if named[-1] in WORDS["document"] or (paper and named[-1] in WORDS["content"]):
            return "file"
    if attribute.type in ("number", "decimal") and {named[0], named[-1]} & WORDS["sum"]:
        return "sum"
    kinds: tuple[Holds, ...] = ("amount", "result", "count")
    return next((kind for kind in kinds if named[-1] in WORDS[kind]), "")
