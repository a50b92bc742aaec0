"""Partitions, entities and items as the studio shows them."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from starlette.testclient import TestClient

from keyfold import Db
from keyfold_engine.clients.recorder import ReadLimits, RecordedClient
from keyfold_workbench.studio import Gate, StudioSystem, create_studio

from .conftest import SCRIPT, TOKEN, CityClub, Member

CLUB = "/s/clubs/data?table=Clubs&pk=CLUB%23c1"


def words(page: str) -> str:
    """The text of a page, as somebody reads it."""
    inner = re.sub(r"<(dialog|head)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", inner)).split())


def test_markup_in_names_keys_and_items_is_shown_as_text(browser: TestClient) -> None:
    for path in ("/", "/s/clubs/data", CLUB, f"{CLUB}&isk={SCRIPT}", "/s/clubs/find?q=chess"):
        page = browser.get(path).text
        assert SCRIPT not in page
    assert SCRIPT in words(browser.get(CLUB).text)


def test_a_partition_is_listed_in_sort_order_with_its_sizes(browser: TestClient) -> None:
    page = browser.get(CLUB).text
    rows = re.findall(r'data-kind="(\w+)"', page)
    assert rows == ["undeclared", "Club", "Member"]
    assert "Items 3 all" in words(page)
    assert "To read this 0.5 units, 1 request" in words(page)


def test_an_item_that_nobody_declares_says_so(browser: TestClient) -> None:
    page = words(browser.get(f"{CLUB}&isk={SCRIPT}").text)
    assert "No entity declares this item" in page
    assert "Undeclared 1" in page


def test_a_canonical_leads_to_all_its_copies_and_a_copy_to_its_canonical(
    browser: TestClient,
) -> None:
    canonical = browser.get(f"{CLUB}&isk=CLUB").text
    assert "All copies: 2" in canonical
    (copy, _) = re.findall(r'class="jump" href|href="([^"]*CITY[^"]*)"', canonical)[:2]
    page = browser.get(html.unescape(copy)).text
    assert "Copied from Club, in the same transaction" in page
    assert "this one" in page
    assert re.search(r"Canonical</h3><a[^>]*CLUB%23c1[^>]*isk=CLUB", page)


def test_a_copy_that_is_missing_or_stale_is_marked(browser: TestClient, db: Db) -> None:
    for city, request in (("paris", "DeleteItem"), ("rome", "UpdateItem")):
        key = {"PK": {"S": f"CITY#{city}"}, "SK": {"S": "CLUB#c1"}}
        more = {
            "UpdateExpression": "SET #n = :n",
            "ExpressionAttributeNames": {"#n": "name"},
            "ExpressionAttributeValues": {":n": {"S": "Old"}},
        }
        db.client.call(
            request, {"TableName": "Clubs", "Key": key, **(more if city == "rome" else {})}
        )
    page = words(browser.get(f"{CLUB}&isk=CLUB").text)
    assert "missing" in page
    assert "stale: name" in page


def test_what_counts_an_item_is_named(browser: TestClient) -> None:
    page = words(browser.get(f"{CLUB}&isk=MEMBER%23m1").text)
    assert "Counted on Cl CLUB# c1 › CLUB members" in page


def test_the_same_items_are_seen_through_an_index(browser: TestClient) -> None:
    page = browser.get("/s/clubs/data?table=Clubs&index=Mine&pk=MEMBER%23m1")
    assert re.findall(r'data-kind="(\w+)"', page.text) == ["Member"]
    assert "One partition of Mine" in page.text


def test_a_reference_leads_to_its_item(browser: TestClient) -> None:
    page = browser.get(f"{CLUB}&isk=MEMBER%23m1").text
    assert re.search(
        r'<a href="[^"]*pk=CLUB%23c1&amp;isk=CLUB" class="ref e\d"><span><bdi>c1</bdi>', page
    )


def test_items_of_an_entity_are_filtered_by_a_field(browser: TestClient) -> None:
    page = browser.get("/s/clubs/data?entity=Club&field=name&value=Row").text
    assert re.findall(r"CLUB%23(c\d)&amp;isk=CLUB\" class=\"row", page) == ["c2"]
    nothing = words(browser.get("/s/clubs/data?entity=Club&field=name&value=nothing").text)
    assert "Nothing here" in nothing


def test_a_filter_of_any_field_says_what_it_looked_at(browser: TestClient) -> None:
    page = browser.get("/s/clubs/data?entity=Club&field=&value=row").text
    assert re.findall(r"CLUB%23(c\d)&amp;isk=CLUB\" class=\"row", page) == ["c2"]
    looked = re.search(r"1 found. Looked at (\d+) of (\d+), [\d.]+ units so far.", words(page))
    assert looked is not None
    assert looked[1] == looked[2], "the whole table"


def test_an_entity_names_what_follows_from_a_write_and_when(browser: TestClient) -> None:
    page = words(browser.get("/s/clubs/data?entity=Club").text)
    assert re.search(r"\d consequences? of a write In the same transaction", page)
    assert "CityClub" in page


def test_a_filter_reads_on_from_where_it_was(browser: TestClient, db: Db) -> None:
    for number in range(120):
        db.create(Member(club_id="c1", member_id=f"x{number:03}", name=f"Member {number}"))
    address, found, looked = f"{CLUB}&value=member", list[str](), 0
    while address:
        part = browser.get(address, headers={"x-part": "1"}).text
        looked += sum(map(int, re.findall(r'data-read="(\d+)"', part)))
        found += re.findall(r'data-kind="(\w+)"', part)
        following = re.search(r'data-next="([^"]*)"', part)
        address = html.unescape(following[1]) if following else ""
    assert found.count("Member") >= 120
    whole = browser.get(f"{CLUB}&value=nothing", headers={"x-part": "1"}).text
    assert looked == int(re.findall(r'data-read="(\d+)"', whole)[0]), "each item once"


def test_what_no_key_finds_is_looked_for_in_the_whole_table(browser: TestClient) -> None:
    page = browser.get("/s/clubs/find?q=no+such+thing", headers={"x-part": "1"}).text
    assert "Search all" in page
    assert re.search(r"about \d+ units", page)
    found = re.search(r'href="([^"]*entity=%2A[^"]*)"', page)
    assert found is not None
    assert "0 found. Looked at" in words(browser.get(html.unescape(found[1])).text)


def test_the_search_of_the_start_page_looks_into_every_system(browser: TestClient) -> None:
    page = browser.get("/find?q=rowing", headers={"x-part": "1"}).text
    assert "CLUB%23c2" in page
    assert "of Clubs" in page


def test_only_the_detail_is_sent_to_the_script(browser: TestClient) -> None:
    part = browser.get(f"{CLUB}&isk=CLUB", headers={"x-part": "1"}).text
    assert part.startswith("<div")
    assert "Wire JSON" in part


def test_a_search_finds_keys_ids_and_titles(browser: TestClient) -> None:
    at = browser.get("/s/clubs/find?q=CITY%23rome", follow_redirects=False).headers["location"]
    assert at == "/s/clubs/data?table=Clubs&pk=CITY%23rome"
    assert "CLUB%23c2" in browser.get("/s/clubs/find?q=rowing", headers={"x-part": "1"}).text
    found = browser.get("/s/clubs/find?q=c2", follow_redirects=False).headers["location"]
    assert found == "/s/clubs/data?table=Clubs&pk=CLUB%23c2&isk=CLUB"


def test_the_beginning_of_an_id_is_enough_to_find_it(browser: TestClient) -> None:
    found = browser.get("/s/clubs/find?q=c", headers={"x-part": "1"}).text
    assert "CLUB%23c1" in found
    assert "CLUB%23c2" in found


def test_a_page_that_is_not_there_says_so_and_leads_back(browser: TestClient) -> None:
    page = browser.get("/s/clubs/nothing")
    assert page.status_code == 404
    assert "Not found No page has the address /s/clubs/nothing." in words(page.text)
    assert '<a href="/">All systems</a>' in page.text


def test_a_large_partition_comes_in_pages(browser: TestClient, db: Db) -> None:
    for number in range(250):
        key = {"PK": {"S": "CITY#big"}, "SK": {"S": f"CLUB#{number:03}"}}
        db.client.call("PutItem", {"TableName": "Clubs", "Item": key})
    page = browser.get("/s/clubs/data?table=Clubs&pk=CITY%23big").text
    seen = [page.count('class="row ')]
    while found := re.search(r'href="([^"]*after=[^"]*)" class="btn">Next page', page):
        page = browser.get(html.unescape(found[1])).text
        seen.append(page.count('class="row '))
    assert seen == [100, 100, 50]


def test_what_is_not_there_is_named(browser: TestClient) -> None:
    for path, said in (
        ("/s/clubs/data?table=Nope&pk=x", "table 'Nope'"),
        ("/s/clubs/data?entity=Nope", "entity 'Nope'"),
        ("/s/nope/data", "system 'nope'"),
        ("/s/clubs/data?table=Clubs&index=Nope&pk=x", "index 'Nope'"),
        ("/s/clubs/data?table=Clubs&pk=x&after=%2a", "this place"),
    ):
        answer = browser.get(path)
        assert answer.status_code == 404
        assert said in words(answer.text)


def test_a_design_alone_shows_data_of_a_table_that_keyfold_did_not_write(db: Db) -> None:
    from keyfold_workbench.adopt.inspection import observe

    drafted = StudioSystem(
        slug="drafted",
        title="Drafted",
        schema=observe(db.client, "Clubs", sample=100),
        client=db.client,
        place="clubs.db",
        writable=True,
    )
    client = TestClient(create_studio([drafted], Gate(token=TOKEN)), base_url="http://localhost")
    client.get(f"/?token={TOKEN}")
    page = client.get("/s/drafted/data?table=Clubs&pk=CLUB%23c1").text
    assert page.count('class="row ') == 3
    assert "Edit" not in words(page)


PAGES = (
    "/",
    "/s/clubs/map",
    "/s/clubs/data",
    CLUB,
    "/s/clubs/data?entity=Club",
    "/s/clubs/data?entity=Member",
    "/s/clubs/data?entity=Member&field=name&value=nobody",
    "/s/clubs/find?q=c1",
    "/s/clubs/patterns/clubs_of_city?city_id=rome&run=1",
    "/s/clubs/edit?table=Clubs&pk=CLUB%23c1&sk=CLUB",
)


def test_a_page_asks_no_more_of_a_table_five_times_as_large(db: Db, system: StudioSystem) -> None:
    def add(numbers: range) -> None:
        for first in range(numbers.start, numbers.stop, 25):
            some = range(first, min(first + 25, numbers.stop))
            keys = [{"PK": {"S": f"CLUB#b{n % 9}"}, "SK": {"S": f"MEMBER#m{n}"}} for n in some]
            held = {"type": {"S": "Member"}, "name": {"S": "x" * 999}}
            puts = [{"PutRequest": {"Item": {**key, **held}}} for key in keys]
            db.client.call("BatchWriteItem", {"RequestItems": {"Clubs": puts}})

    def requests(path: str) -> int:
        counted = RecordedClient(db.client, ReadLimits(requests=1_000, units=1e6, seconds=600))
        seen = replace(system, client=counted)
        browser = TestClient(create_studio([seen], Gate(token=TOKEN)), base_url="http://localhost")
        browser.get(f"/?token={TOKEN}")
        seen.survey.tables(60.0)
        before = len(counted.requests)
        assert browser.get(path).status_code == 200
        return len(counted.requests) - before

    add(range(5_000))
    small = {path: requests(path) for path in PAGES}
    add(range(5_000, 25_000))
    assert {path: requests(path) for path in PAGES} == small
    assert max(small.values()) <= 8


def test_a_click_on_a_row_reads_that_item_and_not_its_list_again(
    db: Db, system: StudioSystem
) -> None:
    counted = RecordedClient(db.client)
    seen = replace(system, client=counted)
    browser = TestClient(create_studio([seen], Gate(token=TOKEN)), base_url="http://localhost")
    browser.get(f"/?token={TOKEN}")
    seen.survey.tables(60.0)
    for path in ("/s/clubs/data?entity=Club", CLUB):
        before = len(counted.requests)
        answer = browser.get(f"{path}&ipk=CLUB%23c1&isk=CLUB", headers={"X-Part": "1"})
        assert "All copies: 2" in words(answer.text)
        asked = [one.operation for one in counted.requests[before:]]
        assert asked == ["GetItem", "BatchGetItem"]
    gone = browser.get(f"{CLUB}&ipk=CLUB%23c1&isk=gone", headers={"X-Part": "1"})
    assert "This item was deleted." in words(gone.text)


def test_items_of_an_entity_come_in_pages_and_none_is_lost(browser: TestClient, db: Db) -> None:
    for number in range(730):
        item = {"PK": {"S": f"CLUB#x{number}"}, "SK": {"S": "CLUB"}, "type": {"S": "Club"}}
        held = {"name": {"S": "x"}, "club_id": {"S": f"x{number}"}, "version": {"N": "1"}}
        db.client.call("PutItem", {"TableName": "Clubs", "Item": {**item, **held}})
    found: list[str] = []
    path = "/s/clubs/data?entity=Club"
    while path:
        page = browser.get(path).text
        rows = re.findall(r'ipk=CLUB%23(\w+)[^>]*class="row', page)
        assert len(rows) <= 100
        found += rows
        more = re.search(r'href="([^"]*after=[^"]*)"[^>]*>Next page', page)
        path = html.unescape(more[1]) if more else ""
    assert len(found) == len(set(found)) == 732


def test_an_item_that_does_not_say_its_type_is_listed_with_its_entity(
    browser: TestClient, db: Db
) -> None:
    item = {"PK": {"S": "CLUB#c9"}, "SK": {"S": "CLUB"}, "clubId": {"S": "c9"}}
    db.client.call("PutItem", {"TableName": "Clubs", "Item": {**item, "name": {"S": "Judo"}}})
    assert "Judo" in words(browser.get("/s/clubs/data?table=Clubs&pk=CLUB%23c9").text)
    assert "Judo" in words(browser.get("/s/clubs/data?entity=Club").text)
    assert "Judo" not in words(browser.get("/s/clubs/data?entity=Member").text)


def test_a_table_that_is_not_there_is_named(browser: TestClient, db: Db) -> None:
    db.client.call("DeleteTable", {"TableName": "Clubs"})
    answer = browser.get("/s/clubs/data?entity=Club")
    assert answer.status_code == 404
    assert "Clubs is not in clubs.db." in words(answer.text)
    assert "Opening the design creates missing tables" in words(answer.text)


def test_copies_that_the_backend_gives_later_are_not_missing(
    browser: TestClient, system: StudioSystem, db: Db
) -> None:
    class Hesitant:
        """A backend that answers a batch one key at a time, as Amazon may under load."""

        def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
            if operation != "BatchGetItem":
                return db.client.call(operation, request)
            [(name, asked)] = request["RequestItems"].items()
            first, *later = asked["Keys"]
            made = db.client.call(operation, {"RequestItems": {name: {**asked, "Keys": [first]}}})
            left = {name: {**asked, "Keys": later}} if later else {}
            return {**made, "UnprocessedKeys": left}

        def close(self) -> None: ...

    system.client = Hesitant()
    page = words(browser.get("/s/clubs/data?table=Clubs&pk=CLUB%23c1&isk=CLUB").text)
    assert "All copies: 2" in page
    assert "missing" not in page


def test_a_copy_that_differs_says_so_at_its_head_and_where_it_is_repaired(
    browser: TestClient, db: Db
) -> None:
    copy = "/s/clubs/data?table=Clubs&pk=CITY%23rome&isk=CLUB%23c2"
    assert "It differs from its canonical in" not in words(browser.get(copy).text)
    db.client.call(
        "UpdateItem",
        {
            "TableName": "Clubs",
            "Key": CityClub.key(city_id="rome", club_id="c2").wire(),
            "UpdateExpression": "SET #n = :n",
            "ExpressionAttributeNames": {"#n": "name"},
            "ExpressionAttributeValues": {":n": {"S": "Sculling"}},
        },
    )
    page = browser.get(copy).text
    told = words(page)
    assert "It differs from its canonical in name . Verify and repair" in told
    assert told.index("It differs") < told.index("Sculling", told.index("Copy key"))
