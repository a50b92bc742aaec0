"""Forms of every kind of value: each in boxes of its own kind, and back as it was."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field
from starlette.testclient import TestClient

from keyfold import Db, Design, Entity, Key
from keyfold_workbench.studio import Gate, StudioSystem, create_studio

from .conftest import TOKEN
from .test_data import words
from .test_edit import form, post

design = Design("stalls")
table = design.table("Stalls", stream="NEW_AND_OLD_IMAGES")


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Address(BaseModel):
    street: str
    number: int
    gate: str | None = None


class Line(BaseModel):
    product: str
    price: Decimal
    fragile: bool = False


class Open(BaseModel, extra="allow"):
    kind: str = ""


class Stall(Entity, table=table):
    stall_id: str
    title: Annotated[str, Field(min_length=1, max_length=40)]
    tags: set[str] = set()
    ways: list[str] = []
    rights: tuple[Literal["READ", "WRITE"], ...] = ()
    closed: bool = False
    paid: bool | None = None
    colour: Colour = Colour.RED
    opens: date
    limits: dict[str, float] = {}
    address: Address
    lines: list[Line] = []
    rest: Open = Open()
    key = Key("STALL#{stall_id}", "STALL")


STALL = Stall(
    stall_id="s1",
    title="Lamps",
    tags={"old, used", "glass"},
    ways=["by tram", "on foot"],
    rights=("READ",),
    closed=True,
    colour=Colour.BLUE,
    opens=date(2026, 3, 1),
    limits={"weight": 2.5},
    address=Address(street="Quay", number=7),
    lines=[Line(product="bulb", price=Decimal("1.20"), fragile=True)],
    rest=Open.model_validate({"kind": "x", "more": [1, "two"]}),
)
EDIT = "/s/stalls/edit?table=Stalls&pk=STALL%23s1&sk=STALL"


@pytest.fixture
def db() -> Iterator[Db]:
    with design.open(":memory:") as opened:
        opened.create(STALL)
        yield opened


@pytest.fixture
def browser(db: Db) -> TestClient:
    system = StudioSystem(
        slug="stalls",
        title="Stalls",
        schema=design.schema,
        client=db.client,
        place="stalls.db",
        writable=True,
        design=design,
    )
    made = TestClient(create_studio([system], Gate(token=TOKEN)), base_url="http://127.0.0.1:8090")
    made.get(f"/?token={TOKEN}")
    return made


def planned(browser: TestClient, *changed: tuple[str, list[str]]) -> str:
    """The plan with the boxes of these names as given, and all others as they were."""
    fields = form(browser.get(EDIT).text, "/s/stalls/plan") | {"verb": "update"}
    fields |= {f"f-{name}": given for name, given in changed}
    return str(post(browser, "/s/stalls/plan", fields).text)


def send(browser: TestClient, plan: str) -> str:
    return str(post(browser, "/s/stalls/send", form(plan, "/s/stalls/send")).text)


def test_a_form_that_nobody_touched_changes_nothing(browser: TestClient) -> None:
    assert "No value would change" in words(planned(browser))


def test_each_kind_of_value_has_its_own_boxes(browser: TestClient) -> None:
    page = browser.get(EDIT).text
    values = re.findall(r'name="f-tags\[\]" value="([^"]*)"', page)
    assert values == ["glass", "old, used", ""]
    assert re.search(r'type="checkbox"[^>]*name="f-closed" value="true" checked', page)
    assert re.search(r'type="checkbox" name="f-rights\[\]" value="READ" checked', page)
    assert re.search(r'type="date"[^>]*name="f-opens" value="2026-03-01"', page)
    assert re.search(r'<select id="f-colour".*?value="blue" selected', page, re.DOTALL)
    assert re.search(r'name="f-limits\{name\}" value="weight"', page)
    assert re.search(r'id="f-address\.street"[^>]*value="Quay"', page)
    assert re.search(r'name="f-lines\[\]\.price" value="1\.20?"', page)
    assert re.search(r'<textarea id="f-rest"', page)


CHANGES: list[tuple[str, list[str], str, Any]] = [
    ("tags[]", ["glass", "brass", ""], "tags", {"glass", "brass"}),
    ("tags[]", [""], "tags", set()),
    ("ways[]", ["on foot", "by tram", ""], "ways", ["on foot", "by tram"]),
    ("rights[]", ["", "READ", "WRITE"], "rights", ("READ", "WRITE")),
    ("closed", ["false"], "closed", False),
    ("paid", ["true"], "paid", True),
    ("colour", ["red"], "colour", Colour.RED),
    ("opens", ["2026-04-02"], "opens", date(2026, 4, 2)),
    ("limits{value}", ["3", ""], "limits", {"weight": 3.0}),
    ("address.number", ["9"], "address", Address(street="Quay", number=9)),
    ("address.gate", ["B"], "address", Address(street="Quay", number=7, gate="B")),
    ("lines[].price", ["2", ""], "lines", [Line(product="bulb", price=Decimal(2), fragile=True)]),
    ("rest", ['{"kind": "y", "a": 1}'], "rest", Open.model_validate({"kind": "y", "a": 1})),
]


@pytest.mark.parametrize(("box", "given", "name", "value"), CHANGES)
def test_what_is_given_is_planned_sent_and_undone(
    browser: TestClient, db: Db, box: str, given: list[str], name: str, value: Any
) -> None:
    plan = planned(browser, (box, given))
    done = send(browser, plan)
    key = Stall.key(stall_id="s1")
    assert getattr(db.get(key), name) == value
    send(browser, str(post(browser, "/s/stalls/plan", form(done, "/s/stalls/plan")).text))
    assert getattr(db.get(key), name) == getattr(STALL, name)


WRONG = [
    ("title", [""], "at least 1 character"),
    ("opens", ["soon"], "valid date"),
    ("limits{value}", ["much", ""], "weight: Input should be a valid number"),
    ("address.number", ["seven"], "number: Input should be a valid integer"),
    ("lines[].price", ["dear", ""], "1.price: Input should be a valid decimal"),
    ("rest", ["{"], "This is not JSON"),
]


@pytest.mark.parametrize(("box", "given", "says"), WRONG)
def test_a_wrong_value_is_named_with_its_part_and_stays_in_its_box(
    browser: TestClient, box: str, given: list[str], says: str
) -> None:
    page = planned(browser, (box, given))
    assert says in words(page)
    assert 'id="send"' not in page
    kept = form(page, "/s/stalls/plan")[f"f-{box}"]
    assert kept == (given[0] if len(given) == 1 else given)


def test_the_list_is_given_as_text_where_one_of_its_values_is_empty(
    browser: TestClient, db: Db
) -> None:
    db.update(Stall.key(stall_id="s1"), ways=["", "on foot"])
    page = browser.get(EDIT).text
    assert re.search(r'<textarea id="f-ways"', page)
    assert "No value would change" in words(planned(browser))


def test_a_value_that_is_wrong_is_not_told_as_missing(browser: TestClient) -> None:
    page = browser.get("/s/stalls/new?entity=Stall").text
    fields = form(page, "/s/stalls/plan") | {"verb": "create", "f-opens": "soon", "f-rest": "{"}
    told = words(str(post(browser, "/s/stalls/plan", fields).text))
    assert "valid date" in told
    assert "This is not JSON" in told
    assert "Field required" not in told
