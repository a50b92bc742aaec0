"""The generated document: complete, self-contained, and stale as soon as the design changes."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from keyfold.cli import main
from keyfold.design.file import load, loads
from keyfold.design.schema import Schema
from keyfold.errors import KeyfoldError
from keyfold.review import docs
from keyfold.review.docs.blocks import Grid, Picture
from keyfold.review.docs.entity_map import entity_map
from keyfold.review.docs.key_map import key_map
from keyfold.review.docs.relations import relations
from keyfold.review.docs.requests import read_units, request

ROOMS = """\
design: rooms
description: Rooms & <listings>.
tables:
  rooms: {key: [PK, SK], indexes: {ByStatus: {key: [GSI1PK, GSI1SK], purpose: by status}}}
entities:
  Room:
    key: {PK: ROOM#<roomId>, SK: ROOM}
    attributes: {roomId: id, name: string, members: number}
    bytes: 5000
  Listing:
    key: {PK: ROOM#<roomId>, SK: LISTING#<listingId>}
    attributes: {roomId: id -> Room, listingId: id, status: fixed string one of new|old}
    indexes:
      ByStatus: {GSI1PK: STATUS#<status>, GSI1SK: LISTING#<listingId>}
    ttl: 90 days
  Member:
    key: {PK: ROOM#<roomId>, SK: MEMBER#<userId>}
    copy: {of: Room, fields: [name], sync: transaction}
    role: pointer
patterns:
  Room: {get: Room, where: "PK = ROOM#<roomId>, SK = ROOM", consistent: true}
  Listings:
    query: Listing
    where: PK = ROOM#<roomId>, SK begins_with LISTING#
    limit: 20
    descending: true
  By status: {query: Listing, index: ByStatus, where: GSI1PK = STATUS#<status>, paged: true}
counters:
  members: {counts: Member, target: Room, attribute: members}
operations:
  join: {does: [create Member guarded, increment Room], atomic: true}
consumers:
  Notify: {entities: [Member], events: [INSERT, REMOVE], does: [put Listing], dead_letter: failures}
"""

TWO_TABLES = """\
design: shop
tables:
  Orders: {key: [PK, SK]}
  Customers: {key: [PK]}
entities:
  Order:
    table: Orders
    key: {PK: CUSTOMER#<customerId>, SK: ORDER#<orderId>}
    attributes: {customerId: id, orderId: id}
  Customer:
    table: Customers
    key: {PK: CUSTOMER#<customerId>}
    attributes: {customerId: id, name: string}
patterns:
  Orders of a customer: {query: Order, where: PK = CUSTOMER#<customerId>, limit: 20}
"""


@pytest.fixture
def rooms() -> Schema:
    return loads(ROOMS)


def page(schema: Schema) -> str:
    return docs.html(docs.document(schema))


def test_every_part_of_a_design_has_its_section(rooms: Schema) -> None:
    titles = [section.title for section in docs.document(rooms).sections]
    assert titles == [
        "Overview",
        "Access patterns",
        "Tables and keys",
        "Indexes",
        "Entities",
        "Copies and how they are maintained",
        "Counters",
        "Writes",
        "Streams",
        "Retention",
        "Findings",
        "Requests",
    ]


def test_the_first_page_counts_what_there_is_and_shows_where_each_item_lies(rooms: Schema) -> None:
    facts, picture = docs.document(rooms).sections[0].blocks
    assert isinstance(facts, Grid)
    assert dict(zip(facts.head, facts.rows[0], strict=True)) | {"Findings": ""} == {
        "Tables": "rooms",
        "Indexes": "1",
        "Entities": "3",
        "Access patterns": "3",
        "Follows a write": "2 structures",
        "Streams": "none",
        "Findings": "",
    }
    assert "question" in facts.rows[0][-1]
    assert isinstance(picture, Picture)
    assert picture.name == "keys-rooms"


def test_a_pattern_is_one_row_with_the_requests_it_can_need(rooms: Schema) -> None:
    [patterns] = [s for s in docs.document(rooms).sections if s.title == "Access patterns"]
    grid, _ = patterns.blocks
    assert isinstance(grid, Grid)
    assert [(row[0], row[-2]) for row in grid.rows] == [
        ("[Room](#pattern-room)", "at most 1"),
        ("[Listings](#pattern-listings)", "at most 3"),
        ("[By status](#pattern-by-status)", "at most 1"),
    ]


def test_a_key_breaks_after_its_delimiter_only(rooms: Schema) -> None:
    assert '<code>ROOM#<wbr><span class="slot">{roomId}</span></code>' in page(rooms)
    assert "@page { size: A4;" in page(rooms)


def test_text_of_the_design_is_never_markup(rooms: Schema) -> None:
    assert "Rooms &amp; &lt;listings&gt;." in page(rooms)


def test_requests_are_exact(rooms: Schema) -> None:
    assert request(rooms, rooms.by_pattern["Listings"]) == (
        "Query {\n"
        '  "TableName": "rooms",\n'
        '  "KeyConditionExpression": "#pk = :pk AND begins_with(#sk, :sk)",\n'
        '  "ExpressionAttributeNames": {"#pk": "PK", "#sk": "SK"},\n'
        '  "ExpressionAttributeValues": {":pk": {"S": "ROOM#{roomId}"}, '
        '":sk": {"S": "LISTING#"}},\n'
        '  "ScanIndexForward": false,\n'
        '  "Limit": 20\n'
        "}"
    )
    assert request(rooms, rooms.by_pattern["Room"]) == (
        "GetItem {\n"
        '  "TableName": "rooms",\n'
        '  "Key": {"PK": {"S": "ROOM#{roomId}"}, "SK": {"S": "ROOM"}},\n'
        '  "ConsistentRead": true\n'
        "}"
    )


def test_read_units_follow_size_limit_and_consistency(rooms: Schema) -> None:
    units = {name: read_units(rooms, pattern) for name, pattern in rooms.by_pattern.items()}
    # 5,000 bytes are two units of 4 KB; 20 items of 1 KB are five units, halved.
    assert units == {"Room": "2", "Listings": "up to 2.5", "By status": "up to 128 a page"}


def test_markdown_keeps_its_pictures_beside_it(rooms: Schema, tmp_path: Path) -> None:
    changed = docs.write(docs.files(rooms, tmp_path / "rooms.md"))
    assert tmp_path / "rooms" / "entities.svg" in changed
    text = (tmp_path / "rooms.md").read_text(encoding="utf-8")
    assert "](rooms/entities.svg)" in text
    assert "| **Listing** | `ROOM#{roomId}` | `LISTING#{listingId}` |" in text
    assert "new\\|old" in text
    assert docs.write(docs.files(rooms, tmp_path / "rooms.md")) == []


def test_the_map_shows_copies_counts_and_entries_of_indexes(rooms: Schema) -> None:
    drawn = key_map(rooms, rooms.tables[0])
    kinds = Counter(re.findall(r'<path class="(edge \w+|place)"', drawn))
    assert kinds == {"edge copy": 1, "edge count": 1, "place": 1}
    assert Counter(re.findall(r'class="chip e\d( hollow)?"', drawn)) == {"": 3, " hollow": 1}


def test_each_table_can_have_a_file_of_its_own(tmp_path: Path) -> None:
    schema = loads(TWO_TABLES)
    made = docs.files(schema, tmp_path / "shop.md", by_table=True)
    texts = {str(path.relative_to(tmp_path)): text for path, text in made.items()}
    pages = {name for name in texts if name.endswith(".md")}
    assert pages == {"shop.md", "shop/Orders.md", "shop/Customers.md"}
    assert "| [Orders](shop/Orders.md) | Order |" in texts["shop.md"]
    assert "### Order" in texts["shop/Orders.md"]
    assert "### Order\n" not in texts["shop.md"]
    assert "Customer" not in texts["shop/Orders.md"].replace("customerId", "")
    pictures = re.findall(r"\]\((\S+\.svg)\)", texts["shop/Orders.md"])
    assert [f"shop/{picture}" in texts for picture in pictures] == [True]


def test_files_by_table_are_markdown(tmp_path: Path) -> None:
    with pytest.raises(KeyfoldError, match="give a file that ends in"):
        docs.files(loads(TWO_TABLES), tmp_path / "shop.html", by_table=True)


def test_a_document_is_stale_when_the_design_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    design, page = tmp_path / "rooms.yaml", tmp_path / "rooms.html"
    design.write_text(ROOMS, encoding="utf-8")
    assert main(["docs", str(design), "-o", str(page), "--check"]) == 1
    assert main(["docs", str(design), "-o", str(page)]) == 0
    assert main(["docs", str(design), "-o", str(page), "--check"]) == 0
    design.write_text(ROOMS.replace("MEMBER#", "M#"), encoding="utf-8")
    assert main(["docs", str(design), "-o", str(page), "--check"]) == 1
    assert "is outdated; run: keyfold docs" in capsys.readouterr().out


def test_another_kind_of_file_is_refused(rooms: Schema) -> None:
    with pytest.raises(KeyfoldError, match=r"ends in \.md, \.html or \.yaml"):
        docs.files(rooms, Path("rooms.pdf"))


def test_a_design_is_written_as_a_design_file(rooms: Schema, tmp_path: Path) -> None:
    docs.write(docs.files(rooms, tmp_path / "rooms.yaml"))
    assert load(tmp_path / "rooms.yaml") == rooms


CHAIN = """
design: d
entities:
  User: {key: {PK: U#<userId>, SK: U}, attributes: {userId: id}}
  Goal: {key: {PK: G#<goalId>, SK: G}, attributes: {goalId: id, userId: id -> User}}
  Task:
    key: {PK: T#<taskId>, SK: T}
    attributes: {taskId: id, goalId: id -> Goal, doneBy: id -> User}
  Item:
    role: feed_item
    key: {PK: F#<userId>, SK: I#<taskId>}
    attributes: {userId: id, taskId: id}
feeds:
  home: {post: Task, item: Item, mode: fan_out}
"""


def test_an_arrow_passes_between_the_cards_that_it_leads_past() -> None:
    drawn = entity_map(loads(CHAIN))
    number = '"([0-9.]+)"'
    cards = re.findall(f'class="card" x={number} y={number} width={number} height={number}', drawn)
    straight = re.findall(r'd="M([\d.]+),([\d.]+) H([\d.]+)', drawn)
    passes = [(float(a), float(y), float(b)) for a, y, b in straight if a != b]
    assert passes
    for left, top, width, height in (map(float, card) for card in cards):
        for one, y, other in passes:
            beside = max(one, other) <= left or min(one, other) >= left + width
            assert beside or not top <= y <= top + height


def test_what_a_feed_brings_is_a_copy_of_the_post() -> None:
    found = {(one.source, one.target, one.kind) for one in relations(loads(CHAIN))}
    assert ("Item", "Task", "copy") in found
