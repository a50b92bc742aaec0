"""The generated document: complete, self-contained, and stale as soon as the design changes."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from keyfold.cli import main
from keyfold.design.file import load, loads
from keyfold.design.schema import Schema
from keyfold.errors import KeyfoldError
from keyfold.review import docs
from keyfold.review.docs.requests import read_units, request

SYSTEMS = Path(__file__).parents[5] / "systems" / "src" / "keyfold_systems"
NAMES = ("inviter", "search_room", "tamafriends", "gg_core", "sellers")

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


@pytest.fixture
def rooms() -> Schema:
    return loads(ROOMS)


class Checker(HTMLParser):
    """Every element that is opened is closed, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.ids: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "br"):
            self.open.append(tag)
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            if name == "id" and value:
                self.ids.add(value)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def page(schema: Schema) -> str:
    return docs.html(docs.document(schema))


@pytest.mark.parametrize("name", NAMES)
def test_the_documents_of_the_five_systems_are_whole_and_self_contained(name: str) -> None:
    text = page(load(SYSTEMS / name / "as_written.yaml"))
    checker = Checker()
    checker.feed(text)
    assert checker.open == []
    assert all(link.startswith("#") and link[1:] in checker.ids for link in checker.links)
    assert not re.search(r"url\((?!#)|@import|<script", text)


@pytest.mark.parametrize("name", NAMES)
def test_pictures_are_xml_and_follow_the_reader_into_the_dark(name: str) -> None:
    for picture in docs.document(load(SYSTEMS / name / "as_written.yaml")).pictures:
        ElementTree.fromstring(picture.svg)
        assert "prefers-color-scheme:dark" in picture.svg


def test_every_part_of_a_design_has_its_section(rooms: Schema) -> None:
    titles = [section.title for section in docs.document(rooms).sections]
    assert titles == [
        "Overview",
        "Tables and keys",
        "Indexes",
        "Access patterns",
        "Entities",
        "Copies and how they are maintained",
        "Counters",
        "Writes",
        "Streams",
        "Retention",
        "Findings",
    ]


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
    changed = docs.write(rooms, tmp_path / "rooms.md")
    assert tmp_path / "rooms" / "entities.svg" in changed
    text = (tmp_path / "rooms.md").read_text(encoding="utf-8")
    assert "](rooms/entities.svg)" in text
    assert "| **Listing** | `ROOM#{roomId}` | `LISTING#{listingId}` |" in text
    assert "new\\|old" in text
    assert docs.write(rooms, tmp_path / "rooms.md") == []


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
    docs.write(rooms, tmp_path / "rooms.yaml")
    assert load(tmp_path / "rooms.yaml") == rooms
