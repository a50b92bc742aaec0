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

DATED = """
design: d
entities:
  User: {key: {PK: U#<userId>, SK: U}}
  Measure:
    key: {PK: U#<userId>, SK: "M#{at:%Y-%m-%d}"}
    attributes: {userId: id, kind: string, at: fixed timestamp}
"""

TIMED = """
design: d
entities:
  Patient: {key: {PK: "P#{id:epoch_ms}", SK: P}, attributes: {id: timestamp}}
"""

VISITS = """
design: d
entities:
  Visit:
    key: {PK: U#<userId>, SK: "V#KEY"}
    attributes: {userId: id, visitId: id, at: fixed timestamp iso, startsAt: timestamp iso}
    per_partition: 100
patterns:
  Visits: {query: Visit, where: "PK = U#<userId>, SK between V#{from:BOUND} and V#{to:BOUND}"}
"""

EVENTS = """
design: d
entities:
  Entry:
    key: {PK: "E#<kind>#{at:PERIOD}", SK: "{at:iso_ms}#<entryId>"}
    attributes: {kind: string, entryId: id, at: fixed timestamp}
"""

SEATS = """
design: d
entities:
  Seat:
    key: {PK: S#<event_id>, SK: S#<seat>}
    attributes: {event_id: number, seat: string, status: string}
  Hold:
    key: {PK: H#<holdId>, SK: H}
    ttl: {attribute: ttl}
    attributes: {holdId: id, ttl: timestamp epoch}
operations:
  plan: {does: [create Seat guarded]}
  hold: {does: ["update Seat (status) guarded", put Hold], atomic: true}
"""

PUTS = """
design: d
entities:
  Try: {key: {PK: J#<jobId>, SK: "T#{n:03d}"}, attributes: {jobId: id -> Job, n: number}}
  Job: {key: {PK: J#<jobId>, SK: J}, attributes: {jobId: id, total: decimal}}
operations:
  NAME: {does: [EFFECT]}
"""

LEFT = """
design: d
tables: {t: {key: [PK, SK]}, s: {key: [PK]}}
entities:
  User: {table: t, key: {PK: U#<userId>, SK: U}}
  Login:
    table: s
    key: {PK: L#<loginId>}
    attributes: {loginId: id, userId: id, expiresAt: timestamp epoch}
operations:
  leave: {parameters: [userId], does: [delete User, delete each Login]}
"""

TOTALS = """
design: d
entities:
  Trip: {key: {PK: T#<tripId>, SK: T}, attributes: {tripId: id, totalSpent: decimal}}
  Line: {key: {PK: T#<tripId>, SK: L#<lineId>}, attributes: {tripId: id, lineId: id}}
"""

READERS = """
design: d
entities:
  Post: {key: {PK: P#<postId>, SK: P}, attributes: {postId: id}}
  FeedItem: {key: {PK: U#<userId>, SK: F#<postId>}, attributes: {userId: id, postId: id}}
operations:
  publish: {does: [create Post guarded, create each FeedItem guarded]}
"""

BOOKINGS = """
design: d
tables: {t: {key: [PK], indexes: {By: {key: [BPK]}, Rank: {key: {RPK: S, likes: N}}}}}
entities:
  Booking:
    key: {PK: B#<bookingId>}
    attributes: {bookingId: id, place: string, likes: number}
    indexes: {By: {BPK: "P#{place:lower}"}, Rank: {RPK: R#<bookingId>, likes: <likes>}}
patterns:
  Booking by place: {query: Booking, index: By, where: "BPK = P#{place:lower}"}
"""

CODES = """
design: d
entities:
  Otp:
    key: {PK: O#<otpId>, SK: O}
    ttl: {attribute: ttl}
    attributes: {otpId: id, ttl: timestamp epoch}
patterns:
  Code: {get: Otp, where: "PK = O#<otpId>, SK = O"}
"""

ALERTS = """
design: d
tables: {t: {key: [PK, SK], indexes: {By: {key: [BPK]}}}}
entities:
  Device:
    key: {PK: D#<deviceId>, SK: LATEST}
    attributes: {deviceId: id, name: string, at: timestamp iso}
  AlertLog:
    key: {PK: A#<alertLogId>, SK: A}
    attributes: {alertLogId: id, deviceId: id -> Device, at: fixed timestamp iso}
  Alert:
    key: {PK: D#<deviceId>, SK: ALERT#<at>}
    attributes:
      {id: id, deviceId: id -> Device, deviceName: string, at: fixed timestamp iso, seen: boolean}
patterns:
  Alerts: {query: Alert, where: "PK = D#<deviceId>, SK begins_with ALERT#", limit: 9}
  All: {scan: Device, index: By, limit: 9}
operations:
  report: {does: [put Device]}
  saw: {does: ["update Alert (seen) guarded"]}
"""

LINKED = """
design: d
tables: {t: {key: [PK, SK], indexes: {By: {key: [BPK, BSK]}}}}
entities:
  Device: {key: {PK: D#<deviceId>, SK: D}, attributes: {deviceId: id, name: string}}
  Placed:
    key: {PK: R#<roomId>, SK: D#<deviceId>}
    indexes: {By: {BPK: <roomId>, BSK: <deviceId>}}
    attributes: {roomId: id, deviceId: id -> Device, name: string}
patterns:
  Placed: {query: Placed, index: By, where: BPK = <roomId>, limit: 9}
"""

SEARCHES = """
design: d
entities:
  Device: {key: {PK: DEVICE, SK: D#<deviceId>}, attributes: {deviceId: id, name: string}}
patterns:
  Search: {query: Device, where: PK = DEVICE, filter: 'contains(name, :text)', limit: 9}
"""

SUMMARIES = """
design: d
tables: {t: {key: [PK, SK], indexes: {By: {key: [BPK]}}}}
entities:
  Lot:
    key: {PK: L#<lotId>, SK: L}
    attributes: {lotId: id, name: string}
    indexes: {By: {BPK: N#<name>}}
  Summary: {key: {PK: S#<name>, SK: S}, attributes: {name: string}}
patterns:
  Lots: {query: Lot, index: By, where: BPK = N#<name>, limit: 9}
operations: {sum up: {does: [put Summary], reads: [Lots]}}
"""


def puts(name: str, effect: str) -> str:
    return PUTS.replace("NAME", name).replace("EFFECT", effect)


def visits(key: str, bound: str = "iso") -> str:
    return VISITS.replace("KEY", key).replace("BOUND", bound)


KINDS = {
    "a code that is found after it expired": Kind(
        "Q12", "question", CODES, "get: Otp", "filter: 'ttl > :now', get: Otp"
    ),
    "an older state that replaces a newer one": Kind(
        "W2", "question", ALERTS, "put Device", "put Device guarded"
    ),
    "an id that no key holds": Kind("W11", "question", ALERTS, "ALERT#<at>}", "ALERT#<at>#<id>}"),
    "a name beside an id": Kind(
        "W4", "question", ALERTS, "deviceName: string", "deviceName: fixed string"
    ),
    "a log without a time in its key": Kind(
        "W8", "question", ALERTS.replace("AlertLog:", "AuditLog:"), "AuditLog:", "Audience:"
    ),
    "a name beside both ends of a link": Kind(
        "W4", "question", LINKED, "deviceId: id -> Device, name: string", "deviceId: id -> Device"
    ),
    "an index by the table's own fields": Kind(
        "X11",
        "note",
        LINKED,
        "{BPK: <roomId>, BSK: <deviceId>}",
        "{BPK: <deviceId>, BSK: <roomId>}",
    ),
    "a text that is looked for in all items": Kind(
        "Q14", "question", SEARCHES, "name: string}}", "name: string}, per_partition: 50}"
    ),
    "a sum of what an index lists": Kind("X14", "question", SUMMARIES, ", reads: [Lots]", ""),
    "a map of users": Kind("W6", "question", one("users: map"), "users: map", "users: map max 20"),
    "a phone number that only an index finds": Kind(
        "X5",
        "question",
        LOOKUP.replace("sku", "phoneNumber"),
        "phoneNumber: fixed string}",
        "phoneNumber: fixed string}\n    uniques: [{fields: [phoneNumber]}]",
    ),
    "a number that a day does not order": Kind(
        "K8",
        "warning",
        visits("{at:%Y-%m-%d}#<n>").replace("visitId: id", "n: number"),
        "{at:%Y-%m-%d}",
        "{at:iso}",
    ),
    "two measures of one day": Kind("K7", "question", DATED, "kind: string, ", ""),
    "a time alone as the key": Kind("K7", "warning", TIMED, "SK: P}", "SK: P#<name>}"),
    "a time behind an id": Kind(
        "K8", "note", visits("<visitId>#<at>"), "<visitId>#<at>", "<at>#<visitId>"
    ),
    "a date that is set again in the primary key": Kind(
        "K11", "question", visits("<startsAt>#<visitId>"), "startsAt: ", "startsAt: fixed "
    ),
    "the last day of a range": Kind(
        "Q6",
        "warning",
        visits("{at:%Y-%m-%d}#<visitId>", "%Y-%m-%d"),
        "V#{to:%Y-%m-%d}",
        "V#{to:%Y-%m-%d}#~",
    ),
    "the last day of a range of moments": Kind(
        "Q6", "warning", visits("<at>", "%Y-%m-%d"), "%Y-%m-%d", "iso"
    ),
    "a partition for each kind and month": Kind(
        "X8", "question", EVENTS.replace("PERIOD", "%Y-%m"), "<kind>#", "<entryId>#"
    ),
    "all seats of an event": Kind(
        "S2", "question", SEATS, "    key: {PK: S#", "    per_partition: 500\n    key: {PK: S#"
    ),
    "a state that an expired item leaves behind": Kind(
        "S3",
        "question",
        SEATS,
        "operations:",
        "consumers: {back: {entities: [Hold], events: [REMOVE], does: [update Seat]}}\noperations:",
    ),
    "a put that makes what has no id": Kind(
        "W1",
        "warning",
        puts("add try", "put Try unguarded"),
        "unguarded",
        "guarded",
    ),
    "a put that changes an item": Kind(
        "W2", "warning", puts("update job", "put Job unguarded"), "unguarded", "guarded"
    ),
    "what removes what is over": Kind("W8", "question", LEFT, "expiresAt", "seenAt"),
    "how long tokens are kept": Kind(
        "W8",
        "question",
        puts("issue", "create Token guarded").replace("Job:", "Token:"),
        "Token:",
        "Job:",
    ),
    "logins that nothing finds": Kind("W11", "warning", LEFT, "PK: L#<loginId>", "PK: L#<userId>"),
    "a total that nothing keeps": Kind(
        "W4", "question", TOTALS, "totalSpent: decimal", "totalSpent: fixed decimal"
    ),
    "an item for each reader": Kind("S6", "question", READERS, "FeedItem", "Notebook"),
    "a list that is called as its entity": Kind(
        "W6",
        "question",
        one("papers: list"),
        "papers: list",
        "papers: list max 20",
    ),
    "one that a pattern's name asks for": Kind(
        "X5", "question", BOOKINGS, "Booking by place", "Bookings of a place"
    ),
    "a range of history without a limit": Kind(
        "Q4",
        "question",
        visits("<at>").replace("    per_partition: 100\n", ""),
        '{to:iso}"',
        '{to:iso}", limit: 20',
    ),
    "likes in an index key": Kind(
        "X9", "question", BOOKINGS, "likes: number", "likes: fixed number"
    ),
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


def test_a_sum_that_is_set_is_asked_about_beside_the_condition_of_its_update() -> None:
    text = puts("charge", "update Job (total) unguarded")
    assert sorted(hit(text, "W2")) == ["error", "question"]
    assert hit(text.replace("update Job (total) unguarded", "increment Job (total)"), "W2") == []


@pytest.mark.parametrize(
    ("wrong", "code", "old", "stated"),
    [
        (by("status: string", "S#<status>"), "X8", "status: string", "status: id"),
        (by("status: string", "S#<status>"), "X8", "    indexes:", "    rate: 3\n    indexes:"),
        (SEATS, "S2", "    key: {PK: S#", "    peak: 20\n    key: {PK: S#"),
        (one("comments: list"), "W6", "comments: list", "comments: list max 20"),
        (one("image: binary"), "W14", "    key:", "    bytes: 900\n    key:"),
        (visits("<startsAt>#<visitId>"), "K11", "startsAt: ", "startsAt: fixed "),
        (TOTALS, "W4", "totalSpent: decimal", "totalSpent: fixed decimal"),
        (BOOKINGS, "X5", "index: By,", "index: By, limit: 9, paged: true,"),
    ],
)
def test_a_statement_of_the_design_overrides_a_name(
    wrong: str, code: str, old: str, stated: str
) -> None:
    assert hit(wrong, code)
    assert hit(wrong.replace(old, stated), code) == []


def test_a_query_cannot_filter_by_an_attribute_of_its_key() -> None:
    text = OWNED.replace("ownerId = :me", 'begins_with(SK, "R#")').replace(
        "filter: b", "filter: 'b"
    )
    text = text.replace('"R#")', '"R#")\'')
    assert hit(text, "Q10") == ["error"]
    assert hit(OWNED, "Q10") == []


def test_a_number_that_is_named_after_what_it_counts_is_kept_by_something() -> None:
    text = TOTALS.replace("totalSpent: decimal", "lineCount: number")
    assert hit(text, "W4") == ["question"]
    assert hit(text.replace("lineCount", "dogCount"), "W4") == []


def test_a_list_that_an_update_writes_as_a_whole_loses_what_another_wrote() -> None:
    text = puts("save", "update Job (steps) unguarded").replace("total: decimal", "steps: list")
    assert sorted(hit(text, "W2")) == ["error", "question"]
    assert hit(text.replace("steps: list", "steps: list max 9"), "W2") == ["error"]


def test_an_index_for_one_item_that_another_item_maps_is_asked_about() -> None:
    text = """
design: d
tables: {t: {key: [PK, SK], indexes: {By: {key: [BPK, BSK]}}}}
entities:
  Link:
    key: {PK: U#<userId>, SK: LINK}
    indexes: {By: {BPK: ATHLETE#<athleteId>, BSK: U#<userId>}}
    attributes: {userId: id, athleteId: id}
  Owner: {key: {PK: ATHLETE#<athleteId>, SK: OWNER}, attributes: {athleteId: id, userId: id}}
patterns:
  Owner of an athlete: {query: Link, index: By, where: BPK = ATHLETE#<athleteId>, limit: 1}
"""
    assert hit(text, "X2") == ["question"]
    assert hit(text.replace("limit: 1", "limit: 20, paged: true"), "X2") == []


def test_an_id_is_compared_with_the_other_entitys_id() -> None:
    text = """
design: d
entities:
  Item:
    key: {PK: <houseId>, SK: <itemId>}
    attributes: {houseId: id like h-<hex>, itemId: id like i-<hex>}
  Line:
    key: {PK: <houseId>, SK: L#<itemId>}
    attributes: {houseId: id like h-<hex>, itemId: id -> Item like i-<hex>}
"""
    assert hit(text, "K9") == []
    assert hit(text.replace("-> Item like i-<hex>", "-> Item like item-<hex>"), "K9") == ["error"]


def test_an_item_without_an_indexs_sort_key_is_no_stranger_there() -> None:
    text = """
design: d
tables: {t: {key: [PK, SK], indexes: {By: {key: [BPK, BSK]}}}}
entities:
  Patient:
    key: {PK: P#<id>, SK: P}
    attributes: {id: id, clinicId: id}
    indexes: {By: {BPK: C#<clinicId>, BSK: P#<id>}}
  Note:
    key: {PK: P#<patientId>, SK: N#<noteId>}
    attributes: {patientId: id, noteId: id, clinicId: id}
    indexes: {By: {BPK: C#<clinicId>BSK}}
patterns:
  Patients: {query: Patient, index: By, where: BPK = C#<clinicId>, limit: 20, paged: true}
"""
    assert hit(text.replace("BSK}}", "}}"), "Q2") == []
    assert hit(text.replace("BSK}}", ", BSK: N#<noteId>}}"), "Q2") == ["error"]


def test_members_and_likes_are_one_of_each_pair_on_purpose() -> None:
    assert hit(ORDER.replace("Order:", "Like:"), "K16") == []
