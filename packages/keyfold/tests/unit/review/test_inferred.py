"""What an expert infers from names, types and formats: each kind, and its nearest right design."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from keyfold.design.file import loads
from keyfold.review.check import check


@dataclass(frozen=True)
class Kind:
    """A design in which a rule says or asks something, and the change that makes it right."""

    code: str
    severity: str
    wrong: str
    old: str
    new: str


ORDERS = """
design: d
tables: {t: {key: [PK, SK], indexes: {By: {key: [BPK, BSK]}}}}
entities:
  Job:
    key: {PK: JOB#<jobId>, SK: JOB}
    attributes: {jobId: id, ATTRIBUTE, at: fixed timestamp}
    indexes: {By: {BPK: PARTITION, BSK: "{at:iso_ms}#<jobId>"}}
operations: {add: {does: [create Job guarded]}}
patterns: {Jobs: {query: Job, index: By, where: BPK = PARTITION, limit: 20, paged: true}}
"""


def by(attribute: str, partition: str) -> str:
    return ORDERS.replace("ATTRIBUTE", attribute).replace("PARTITION", partition)


def one(attributes: str, more: str = "", table: str = "{key: [PK, SK], ttl: ttl}") -> str:
    return f"""
design: d
tables: {{t: {table}}}
entities:
  Paper:
    key: {{PK: P#<paperId>, SK: P}}
    attributes: {{paperId: id, {attributes}}}
{more}"""


READINGS = """
design: d
entities:
  Reading:
    key: {PK: D#<deviceId>, SK: "R#{at:epoch_ms}#<n>"}
    attributes: {deviceId: id, n: id, at: fixed timestamp epoch_ms}
    per_partition: 1000
patterns:
  Readings: {query: Reading, where: "PK = D#<deviceId>, SK between R#{a:UNIT} and R#{b:UNIT}"}
"""

NUMBERS = """
design: d
entities:
  Sequence:
    key: {PK: KEY, SK: SEQUENCE}
    attributes: {shop: id, last: number}
operations: {next: {does: [increment Sequence (last)]}}
"""

ORDER = """
design: d
entities:
  Account: {key: {PK: A#<accountId>, SK: A}}
  Vendor: {key: {PK: V#<vendorId>, SK: V}}
  Order:
    key: {PK: A#<accountId>, SK: ORDER#<vendorId>}
    attributes: {accountId: id, vendorId: id}
"""

FILTERED = """
design: d
tables: {t: {key: [PK, SK], type_attribute: type}}
entities:
  Note: {key: {PK: U#<u>, SK: N#<n>}, attributes: {u: id, n: id, type: "string one of a, b"}}
  Task: {key: {PK: U#<u>, SK: T#<t>}, attributes: {u: id, t: id}}
patterns:
  Notes: {query: Note, where: PK = U#<u>, filter: 'type = "a"', limit: 9}
"""

OWNED = """
design: d
entities:
  Report:
    key: {PK: DAY#<day>#<region>, SK: R#<reportId>}
    attributes: {day: id, region: id, reportId: id, ownerId: id}
patterns:
  Mine: {query: Report, where: PK = DAY#<day>#<region>, filter: ownerId = :me, limit: 20}
"""

LOOKUP = """
design: d
tables: {t: {key: [PK, SK], indexes: {By: {key: [BPK]}}}}
entities:
  Product:
    key: {PK: P#<productId>, SK: P}
    attributes: {productId: id, sku: fixed string}
    indexes: {By: {BPK: "SKU#{sku:lower}"}}
patterns:
  By SKU: {query: Product, index: By, where: "BPK = SKU#{sku:lower}", limit: 1}
"""

KINDS = {
    "a bound in seconds on milliseconds": Kind(
        "Q18", "error", READINGS.replace("UNIT", "epoch"), ":epoch}", ":epoch_ms}"
    ),
    "a bound of text on a number of milliseconds": Kind(
        "Q18", "error", READINGS.replace("UNIT", "iso"), ":iso}", ":epoch_ms}"
    ),
    "an index partition for each status": Kind(
        "X8", "question", by("status: string", "S#<status>"), "status: string", "status: id"
    ),
    "an index partition for each priority": Kind(
        "X8", "question", by("priority: string", "P#<priority>"), "P#<priority>", "P#<jobId>"
    ),
    "an index partition for each day on which things are made": Kind(
        "X8", "question", by("day: fixed date", "D#<day>"), "day: fixed date", "day: date"
    ),
    "one partition for all, if it is stated how few they are": Kind(
        "X8", "warning", by("x: id", "ALL"), "    indexes:", "    per_partition: 50\n    indexes:"
    ),
    "one item counts for all": Kind(
        "S2", "question", NUMBERS.replace("KEY", "ALL"), "PK: ALL", "PK: SHOP#<shop>"
    ),
    "a time to live that is a duration": Kind(
        "W18", "error", one("ttl: duration"), "ttl: duration", "ttl: timestamp epoch"
    ),
    "a time to live that is named like a duration": Kind(
        "W18",
        "question",
        one("days: number", table="{key: [PK, SK], ttl: days}"),
        "ttl: days",
        "ttl: expiresAt",
    ),
    "a time to live that is the time of creation": Kind(
        "W18",
        "question",
        one("createdAt: timestamp epoch", table="{key: [PK, SK], ttl: createdAt}"),
        "ttl: createdAt",
        "ttl: expiresAt",
    ),
    "a time to live that is text": Kind(
        "W16",
        "error",
        one("ttl: timestamp iso", "    ttl: {attribute: ttl}"),
        "ttl: timestamp iso",
        "ttl: timestamp epoch",
    ),
    "a file in an item": Kind(
        "W14", "question", one("image: binary"), "image: binary", "image: binary max 1000"
    ),
    "the body of a document in an item": Kind(
        "W14",
        "question",
        one("body: string").replace("Paper", "Document"),
        "body: string",
        "bodyKey: string",
    ),
    "a map that grows by user": Kind(
        "W6", "question", one("readBy: map"), "readBy: map", "readBy: map max 20"
    ),
    "pages by offset": Kind(
        "Q19",
        "question",
        READINGS.replace("UNIT", "epoch_ms").replace("  Readings: {", "  Readings by offset: {"),
        "Readings by offset",
        "Readings by time",
    ),
    "a filter that decides whose items are shown": Kind(
        "Q14", "warning", OWNED, "filter: ownerId = :me, ", ""
    ),
    "a type that is the business's own": Kind(
        "Q2", "error", FILTERED, 'type: "string one of a, b"', "text: string"
    ),
    "two orders of one account and vendor": Kind(
        "K16", "question", ORDER, "SK: ORDER#<vendorId>}", "SK: ORDER#<vendorId>#<orderId>}"
    ),
    "a number that only an index finds": Kind(
        "X5",
        "question",
        LOOKUP,
        "sku: fixed string}",
        "sku: fixed string}\n    uniques: [{fields: [sku]}]",
    ),
}


def hit(text: str, code: str) -> list[str]:
    report = check(loads(text), select=[code])
    assert report.crashes == ()
    return [finding.severity for finding in report.findings]


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_it_is_found_or_asked_and_the_nearest_right_design_is_silent(kind: Kind) -> None:
    assert hit(kind.wrong, kind.code) == [kind.severity]
    assert kind.old in kind.wrong
    assert hit(kind.wrong.replace(kind.old, kind.new), kind.code) == []


def test_a_guess_is_never_an_error() -> None:
    """What only a name says is asked; an error needs a statement of the design."""
    guessed = [kind for kind in KINDS.values() if kind.code in ("W14", "S2", "K16", "Q19", "X8")]
    assert {kind.severity for kind in guessed} <= {"question", "warning"}


def test_members_and_likes_are_one_of_each_pair_on_purpose() -> None:
    assert hit(ORDER.replace("Order:", "Like:"), "K16") == []
