"""What a plan shows is what is sent."""

from __future__ import annotations

import re
from typing import Annotated

from starlette.testclient import TestClient

from keyfold import Design, Entity, Key, Timestamp, Updated
from keyfold_engine.clients import connect
from keyfold_workbench.studio import Gate, StudioSystem, create_studio

from .conftest import TOKEN
from .test_data import words
from .test_edit import form, post

design = Design("notes")


class Note(Entity, table=design.table("Notes")):
    note_id: str
    text: str
    updated_at: Annotated[Timestamp | None, Updated()] = None
    key = Key("NOTE#{note_id}", "NOTE")


def test_times_and_units_are_as_the_plan_showed_them() -> None:
    client = connect(":memory:")
    db = design.open(client)
    db.create(Note(note_id="n", text="Old"))
    system = StudioSystem("notes", "Notes", design.schema, client, "notes.db", True, design=design)
    with TestClient(
        create_studio([system], Gate(token=TOKEN)), base_url="http://127.0.0.1:8090"
    ) as one:
        one.get(f"/?token={TOKEN}")
        page = one.get("/s/notes/edit?table=Notes&pk=NOTE%23n&sk=NOTE").text
        given = form(page, "/s/notes/plan") | {"f-text": "New", "verb": "update"}
        plan = post(one, "/s/notes/plan", given).text
        section = plan[plan.index('aria-label="Plan"') :]
        assert "Write units 1 " in words(section)
        (shown,) = re.findall(r"<dt>updatedAt</dt><dd>.*?<ins>([^<]*)</ins>", section)
        sent = post(one, "/s/notes/send", form(plan, "/s/notes/send")).text
        assert "Sent: 1 item in UpdateItem, 1 unit." in words(sent)
    stored = client.call(
        "GetItem", {"TableName": "Notes", "Key": {"PK": {"S": "NOTE#n"}, "SK": {"S": "NOTE"}}}
    )["Item"]
    assert stored["text"] == {"S": "New"}
    assert stored["updatedAt"] == {"S": shown}
    client.close()
