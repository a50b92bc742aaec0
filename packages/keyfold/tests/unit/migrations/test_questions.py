"""A plan asks where something could be lost, offers the likely answers, and runs as it was made."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from keyfold import Design
from keyfold.errors import MigrationError
from keyfold.migrations import Migrator, backend_of, load
from keyfold.migrations.plan import draft
from keyfold.migrations.refusals import Dangerous
from keyfold.migrations.snapshot import dump
from keyfold.migrations.snapshot import load as load_snapshot
from keyfold_engine.clients import connect

from .answers import answer, decide, read, write

USER = """
from keyfold import Design, Entity, Key
design = Design("club")
table = design.table("Club")
class User(Entity, table=table):
    user_id: str
    name: str
    address: str
    phone: str = ""
    key = Key("USER#{user_id}", "USER")
"""
APART = """
from keyfold import Design, Entity, Key
design = Design("club")
table = design.table("Club")
class User(Entity, table=table):
    user_id: str
    name: str
    key = Key("USER#{user_id}", "USER")
class Profile(Entity, table=table):
    user_id: str
    address: str
    phone: str = ""
    key = Key("USER#{user_id}", "PROFILE")
"""


class Club:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.client = connect(":memory:")

    def design(self, text: str) -> Design:
        namespace: dict[str, Any] = {"__name__": "club"}
        exec(compile(text, "club.py", "exec", dont_inherit=True), namespace)
        made: Design = namespace["design"]
        return made

    def plan(self, old: str, new: str) -> Path:
        before, after = self.design(old).schema, self.design(new).schema
        made = draft("0001_change", load_snapshot(dump(before)), load_snapshot(dump(after)))
        return made.save(self.folder)

    def fill(self) -> None:
        self.design(USER).open(self.client)
        for number in range(6):
            item = {
                "PK": {"S": f"USER#u{number}"},
                "SK": {"S": "USER"},
                "type": {"S": "User"},
                "userId": {"S": f"u{number}"},
                "name": {"S": f"Name {number}"},
                "address": {"S": f"Street {number}"},
                "odd": {"NS": ["1", "2"]},
            }
            self.client.call("PutItem", {"TableName": "Club", "Item": item})

    def items(self) -> dict[tuple[str, str], dict[str, Any]]:
        found = self.client.call("Scan", {"TableName": "Club"})["Items"]
        return {(item["PK"]["S"], item["SK"]["S"]): item for item in found}

    def migrator(self, plan: Path) -> Migrator:
        return Migrator(load(plan), backend_of(self.client), without_routers=True)


@pytest.fixture
def club(tmp_path: Path) -> Club:
    return Club(tmp_path)


def test_a_field_that_is_declared_no_more_is_asked_for_and_not_dropped_by_default(
    club: Club,
) -> None:
    club.fill()
    plan = club.plan(USER, APART)
    assert read(plan)["steps"][-1]["answer"] is None
    with pytest.raises(MigrationError, match="undecided: User no longer declares address"):
        load(plan)


def test_a_class_under_another_name_is_asked_for_with_the_way_that_changes_nothing(
    club: Club,
) -> None:
    club.fill()
    renamed = USER.replace("class User", "class Member")
    plan = club.plan(USER, renamed)
    with pytest.raises(MigrationError, match="type_name='User'"):
        load(plan)
    kept = renamed.replace("table=table)", 'table=table, type_name="User")')
    assert "undecided" not in club.plan(USER, kept).read_text()


def test_a_number_that_is_counted_is_not_asked_for(club: Club) -> None:
    counting = USER.replace(
        "class User", "from typing import Annotated\nfrom keyfold import Counter\n\n\nclass User", 1
    )
    visit = """
class Visit(Entity, table=table):
    user_id: str
    visit_id: str
    key = Key("USER#{user_id}", "VISIT#{visit_id}")
"""
    counted = '    visit_count: Annotated[int, Counter("Visit")] = 0\n    key = Key'
    plan = club.plan(USER + visit, counting.replace("    key = Key", counted, 1) + visit)
    assert read(plan)["steps"] == [{"recount": "User.visit_count"}]


def test_another_type_name_is_refused_with_the_safe_way(club: Club) -> None:
    with pytest.raises(Dangerous, match="type_name='User'"):
        club.plan(USER, USER.replace("table=table)", 'table=table, type_name="Member")'))


def test_a_field_is_renamed_while_old_and_new_writers_run(club: Club) -> None:
    club.fill()
    before = club.items()
    plan = club.plan(USER, USER.replace("    name: str", "    full_name: str"))
    answer(plan, "rename")
    given = read(plan)
    given["steps"] = [step for step in given["steps"] if "derive" not in step]
    write(plan, given)
    migrator = club.migrator(plan)
    migrator.apply("verify")
    set_attribute(club, "u1", "name", "By the old one")
    set_attribute(club, "u2", "fullName", "By the new one")
    migrator.apply("hold")
    items = club.items()
    assert items["USER#u1", "USER"]["fullName"] == {"S": "By the old one"}
    assert items["USER#u2", "USER"]["fullName"] == {"S": "By the new one"}
    migrator.rollback()
    after = club.items()
    assert after["USER#u2", "USER"]["name"] == {"S": "By the new one"}
    assert after["USER#u3", "USER"] == before["USER#u3", "USER"]


def set_attribute(club: Club, user: str, name: str, value: str) -> None:
    club.client.call(
        "UpdateItem",
        {
            "TableName": "Club",
            "Key": {"PK": {"S": f"USER#{user}"}, "SK": {"S": "USER"}},
            "UpdateExpression": "SET #n = :v",
            "ExpressionAttributeNames": {"#n": name},
            "ExpressionAttributeValues": {":v": {"S": value}},
        },
    )


def test_a_plan_needs_nothing_of_the_application(club: Club) -> None:
    club.fill()
    moved = USER.replace('design.table("Club")', 'design.table("Members")')
    plan = club.plan(USER, moved.replace("USER#", "MEMBER#"))
    assert "club" not in plan.read_text()
    known = set(sys.modules)
    migrator = club.migrator(plan)
    migrator.apply("contract")
    assert not [name for name in set(sys.modules) - known if "club" in name]
    found = club.client.call("Scan", {"TableName": "Members"})["Items"]
    assert {item["PK"]["S"] for item in found} == {f"MEMBER#u{n}" for n in range(6)}
    assert all(item["odd"] == {"NS": ["1", "2"]} for item in found)


def test_another_type_is_asked_for_and_nothing_is_rewritten_by_default(club: Club) -> None:
    club.fill()
    plan = club.plan(USER, USER.replace('phone: str = ""', "phone: int = 0"))
    text = plan.with_suffix(".py").read_text()
    assert "what does a string become as a number?" in text
    with pytest.raises(MigrationError, match="user_phone is undecided"):
        load(plan)


def test_a_type_changes_there_and_back(club: Club) -> None:
    club.fill()
    for number in range(3):
        set_attribute(club, f"u{number}", "phone", f"0{number}")
    before = club.items()
    plan = club.plan(USER, USER.replace('phone: str = ""', "phone: int = 0"))
    decide(plan, "user_phone", "int(value)")
    decide(plan, "user_phone_back", "str(value)")
    migrator = club.migrator(plan)
    migrator.apply("hold")
    assert club.items()["USER#u2", "USER"]["phone"] == {"N": "2"}
    migrator.rollback()
    assert club.items() == before
    set_attribute(club, "u2", "phone", "none")
    with pytest.raises(MigrationError, match=r"u2.*invalid literal for int"):
        migrator.apply("contract")
    assert club.items()["USER#u2", "USER"]["phone"] == {"S": "none"}


TWO_TABLES = (
    USER
    + """
class Visit(Entity, table=design.table("Visits")):
    visit_id: str
    key = Key("VISIT#{visit_id}", "VISIT")
"""
)


def visits(club: Club) -> int:
    return int(club.client.call("Scan", {"TableName": "Visits"})["Count"])


def fill_visits(club: Club) -> None:
    design = club.design(TWO_TABLES)
    db = design.open(club.client)
    visit: Any = design.entities["Visit"]
    for number in range(3):
        db.create(visit(visit_id=f"v{number}"))


def test_a_dropped_table_is_asked_for_and_stays_by_default(club: Club) -> None:
    fill_visits(club)
    plan = club.plan(TWO_TABLES, USER)
    with pytest.raises(MigrationError, match=r"no step moves Visit out of it\. Should it be"):
        load(plan)
    plan.write_text(plan.read_text().replace("answer: null", "answer: none"))
    club.migrator(plan).apply("contract")
    assert visits(club) == 3


def test_a_table_is_dropped_empty_or_with_its_items_as_it_was_answered(club: Club) -> None:
    fill_visits(club)
    plan = club.plan(TWO_TABLES, USER)
    asked = plan.read_text()
    answer(plan, "drop table")
    with pytest.raises(MigrationError, match="Visits has 3 items that no step moves"):
        club.migrator(plan).apply("contract")
    assert visits(club) == 3
    club.migrator(plan).rollback()
    plan.write_text(asked.replace("answer: null", "answer: 2"))
    migrator = club.migrator(plan)
    assert "drop the table Visits with all of its items" in list(migrator.migration.words())
    migrator.apply("contract")
    assert "Visits" not in club.client.call("ListTables", {})["TableNames"]


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("{rename: phone, to: fone, of: User}", r"2:3: User has no field 'fone'.*mean 'phone'"),
        ("{drop: addres, of: User}", r"no field 'addres'.*did you mean 'address'"),
        ("{derive: nam, of: User, value: user_nam}", r"no field 'nam'.*'name'"),
        ("{derive: name, of: User, value: user_name}", "'user_name' is not a function of 0001_"),
        ("{derive: name, of: User}", "2:3: derive needs value"),
        ("{derive: name, of: User, valeu: x}", "2:28: derive has no 'valeu'; did you mean 'value'"),
        ("{derrive: name, of: User}", "2:3: 'derrive' is not a step; did you mean 'derive'"),
        ("{drop: name, of: Usr}", "the new design has no entity 'Usr'; did you mean 'User'"),
        ("{drop index: ByName, of: Club}", "Club of the old design has no index 'ByName'"),
        ("{create table: Clubs}", "the new design has no table 'Clubs'; did you mean 'Club'"),
        ("{decide: what, answers: [{drop: name, of: User}], answer: 2}", "an answer, 1 to 1"),
        ("{}", "'' is not a step"),
        ("drop", "expected a step, found 'drop'"),
    ],
)
def test_a_wrong_step_of_a_plan_is_named_with_its_place(
    tmp_path: Path, written: str, message: str
) -> None:
    plan = tmp_path / "0001_change.yaml"
    Club(tmp_path).plan(USER, APART)
    plan.with_suffix(".py").write_text("def user_nam(item):\n    return None\n")
    plan.write_text(f"steps:\n- {written}\n")
    with pytest.raises(MigrationError, match=message):
        load(plan)
