"""What an assistant reads before it writes: the language of design files, by chapters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

Topic = Literal["design file", "python", "workload", "rules"]

DESIGN_FILE: Final = """\
# Design files

design: rooms
tables:
  rooms:
    key: [PK, SK]                    # or with types: {PK: S, at: N}
    ttl: expiresAt                   # optional; also: stream: NEW_AND_OLD_IMAGES
    indexes:
      StatusIndex: {key: [GSI1PK, GSI1SK]}      # also: projection, included, local, sparse, purpose
entities:
  Room:
    key: {PK: ROOM#<roomId>, SK: ROOM}
    attributes: {roomId: id, name: string, listings: number, createdAt: timestamp iso}
  Listing:
    key: {PK: ROOM#<roomId>, SK: LISTING#<listingId>}
    indexes:
      StatusIndex: {GSI1PK: ROOM#<roomId>, GSI1SK: STATUS#<status>#<listingId>}
    attributes:
      roomId: id -> Room             # the id of another entity
      listingId: id
      status: string one of new, seen
      note: optional string
      expiresAt: optional timestamp epoch
patterns:
  room by id: {get: Room, where: "PK=ROOM#<roomId>, SK=ROOM"}
  listings by status:
    query: Listing
    index: StatusIndex
    where: GSI1PK=ROOM#<roomId>, GSI1SK begins_with STATUS#<status>#
    limit: 20
    rate: 50                         # calls a second
counters:
  listings: {counts: Listing, target: Room, attribute: listings}   # in the same transaction
operations:
  addListing: {does: [create Listing guarded, increment Room], atomic: true}

Keys: `CONSTANT#<field>`; each field in a key is an attribute. Formats: `<createdAt:iso_ms>`,
`<n:012d>`. In a YAML flow mapping quote a key that has braces or commas.

An attribute is a line: [optional] [fixed] TYPE [FORMAT] [-> Entity] [max N] [copy of field] [in
key] [from fields] [one of a, b]. Types: id, string, number (whole), decimal, boolean, binary,
timestamp, date, duration, list, map, string_set, number_set, binary_set, any. Timestamps are
stored as iso, iso_ms, iso_s, epoch or epoch_ms.

A pattern is one of get, query, latest, count, exists, collection, merge, scan, with `where`
(partition =, sort =, begins_with, between, <, >), and index, limit, descending, paged,
consistent, filter, returns, rate.

An entity with `copy: {of: Post, fields: [title], each: readers, sync: transaction}` is a
pointer, a copy that is kept equal. `uniques: [{fields: [email]}]` keeps values unique. `when:`
of an index says which items are in it.

Rules of thumb: one question, one Query or GetItem; what is read together lies in one partition;
a list never reads its rows one by one; copies, counters and unique values are declared, never
written by hand.
"""
RATES: Final = """\
# Workload files

design: rooms
entities:
  Room: {items: 20000, bytes: 300}
  Listing: {items: 200000, bytes: 1800, growth: 15000}   # growth: new items a month
patterns:
  room by id: {rate: 20, peak: 80}
  listings by status: {rate: 12, page: 10}
writes:
  create Listing: {rate: 900/hour}

draft_workload writes one with every name of your design. `rate` is calls a second on average.
"""


def chapter(topic: Topic) -> str:
    """The text of a chapter."""
    return CHAPTERS[topic]()


def _python() -> str:
    from keyfold.cli.guide import BEGIN

    return BEGIN


def _rules() -> str:
    from keyfold.review.check import rules

    return "\n".join(f"{rule.code} {rule.name} ({rule.severity}): {rule.title}" for rule in rules())


CHAPTERS: Final[dict[Topic, Callable[[], str]]] = {
    "design file": lambda: DESIGN_FILE,
    "workload": lambda: RATES,
    "python": _python,
    "rules": _rules,
}
