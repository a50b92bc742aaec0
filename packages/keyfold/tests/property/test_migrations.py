"""Any design becomes any other, and boto3 finds on both sides what plain dictionaries say.

What must be there is computed from the items as they are on the wire, by a few lines that know
nothing of keyfold's entities, moves or rewrites.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.migrations.witness import contents, frozen_items, witness

from keyfold import Design
from keyfold.migrations import (
    Backend,
    Migration,
    Migrator,
    ScanPace,
    add,
    derive,
    drop,
    move,
    remove,
    rename,
    transform_attribute,
)
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.engine import Engine

Item = dict[str, Any]

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
numbers = st.decimals(-(10**12), 10**12, allow_nan=False, places=4).map(str) | st.integers(
    -(10**37), 10**37
).map(str)
values = st.recursive(
    st.one_of(
        texts.map(lambda text: {"S": text}),
        numbers.map(lambda number: {"N": number}),
        st.booleans().map(lambda truth: {"BOOL": truth}),
        st.just({"NULL": True}),
        st.just({"B": "AAEC"}),
        st.sets(texts.filter(bool), min_size=1, max_size=3).map(lambda m: {"SS": sorted(m)}),
        st.sets(st.integers(-99, 99), min_size=1, max_size=3).map(
            lambda m: {"NS": [str(one) for one in sorted(m)]}
        ),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2).map(lambda many: {"L": many}),
        st.dictionaries(texts, inner, max_size=2).map(lambda many: {"M": many}),
    ),
    max_leaves=4,
)


@dataclass(frozen=True)
class Change:
    """What becomes of one entity."""

    name: str
    place: str
    """stay, move (to another table) or rekey."""
    dropped: bool
    renamed: bool
    derived: bool
    shouted: bool
    """Its mark is written in capitals, in the group x alone."""

    @property
    def stays(self) -> bool:
        return self.place == "stay"

    def source(self, side: str) -> str:
        new = side == "new"
        fields = ["id: str", "group: str", "mark: str | None = None", "color: Any = None"]
        fields += [] if new and self.dropped else ["note: Any = None"]
        fields += ["address: Any = None" if new and self.renamed else "mail: Any = None"]
        fields += ["level: str | None = None"] if new and self.derived else []
        table = "moved" if new and self.place == "move" else "things"
        key = ", ".join(map(repr, self.templates(side)))
        lines = "".join(f"    {line}\n" for line in [*fields, f"key = Key({key})"])
        return f"class {self.name}(Entity, table={table}):\n{lines}"

    def templates(self, side: str) -> tuple[str, str]:
        if side == "old" or self.stays:
            return f"{self.name}#{{id}}", "GROUP#{group}"
        return f"GROUP#{{group}}#{self.place}", f"{self.name}#{{id}}"

    def steps(self, old: Design, new: Design) -> list[Any]:
        was, now = old.entities[self.name], new.entities[self.name]
        if not self.stays:
            renamed = {"mail": "address"} if self.renamed else {}
            return [move(was, now, rename=renamed, drops=["note"] if self.dropped else [])]
        steps: list[Any] = []
        if self.renamed:
            steps.append(rename(now, "mail", "address"))
        if self.dropped:
            steps.append(drop(now, "note"))
        if self.derived:
            steps.append(derive(now, "level", lambda item: f"of {item['id']}"))
        if self.shouted:
            steps.append(transform_attribute(now, "mark", str.upper, where='group = "x"'))
        return steps

    def expected(self, item: Item) -> tuple[str, Item]:
        """Where an item is afterwards, and what it is: the oracle."""
        made = dict(item)
        names = {"id": item["id"]["S"], "group": item["group"]["S"]}
        made["pk"], made["sk"] = ({"S": part.format(**names)} for part in self.templates("new"))
        if self.dropped:
            made.pop("note", None)
        if self.renamed and "mail" in made:
            made["address"] = made.pop("mail")
        if self.stays and self.derived:
            made["level"] = {"S": f"of {names['id']}"}
        if self.stays and self.shouted and names["group"] == "x" and "mark" in made:
            made["mark"] = {"S": made["mark"]["S"].upper()}
        return ("Moved" if self.place == "move" else "Things"), made


@st.composite
def changes(draw: st.DrawFn, name: str) -> Change:
    place = draw(st.sampled_from(["stay", "stay", "move", "rekey"]))
    stays = place == "stay"
    dropped, renamed, derived, shouted = (draw(st.booleans()) for _ in range(4))
    return Change(name, place, dropped, renamed, stays and derived, stays and shouted)


@st.composite
def things(draw: st.DrawFn, change: Change, number: int) -> Item:
    group = draw(st.sampled_from(["x", "y"]))
    names = {"id": f"{number}", "group": group}
    pk, sk = (part.format(**names) for part in change.templates("old"))
    item: Item = {"pk": {"S": pk}, "sk": {"S": sk}, "type": {"S": change.name}}
    item |= {"id": {"S": names["id"]}, "group": {"S": group}}
    if draw(st.booleans()):
        item["mark"] = {"S": draw(st.sampled_from(["", "abc", "Abc", "ABC"]))}
    for one in ("color", "note", "mail", "odd one", "nobody's"):
        if draw(st.booleans()):
            item[one] = draw(values)
    return item


@st.composite
def worlds(draw: st.DrawFn) -> tuple[list[Change], list[tuple[Change, Item]]]:
    named = ["Ant", "Bee", "Cow"][: draw(st.integers(1, 3))]
    found = [draw(changes(name)) for name in named]
    owners = draw(st.lists(st.sampled_from(found), max_size=8))
    return found, [(owner, draw(things(owner, n))) for n, owner in enumerate(owners)]


def declared(side: str, changed: list[Change]) -> Design:
    text = (
        "from typing import Any\nfrom keyfold import Design, Entity, Key\n"
        "design = Design('zoo')\nthings = design.table('Things', partition='pk', sort='sk')\n"
    )
    if side == "new" and any(change.place == "move" for change in changed):
        text += "moved = design.table('Moved', partition='pk', sort='sk')\n"
    text += "".join(change.source(side) for change in changed)
    namespace: dict[str, Any] = {"__name__": f"zoo_{side}"}
    exec(compile(text, f"{side}.py", "exec", dont_inherit=True), namespace)
    made: Design = namespace["design"]
    return made


def planned(changed: list[Change], old: Design, new: Design) -> Migration:
    steps: list[Any] = []
    if "Moved" in new.tables:
        steps.append(add(new.tables["Moved"].schema))
    for change in changed:
        steps += change.steps(old, new)
    if all(change.place == "move" for change in changed):
        steps.append(remove(old.tables["Things"].schema))
    return Migration("zoo", steps)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(worlds())
def test_any_change_of_a_design_there_and_back_and_there(
    world: tuple[list[Change], list[tuple[Change, Item]]],
) -> None:
    changed, items = world
    old, new = declared("old", changed), declared("new", changed)
    with Engine.open(":memory:") as engine, witness(engine) as boto:
        client = EmbeddedClient(engine)
        old.open(client)
        for _, item in items:
            client.call("PutItem", {"TableName": "Things", "Item": item})
        before = contents(boto)
        assert before == frozen_items([("Things", item) for _, item in items])
        plan = planned(changed, old, new)

        def migrator() -> Migrator:
            pace = ScanPace(segments=2, page=3)
            return Migrator(plan, Backend(client), pace=pace, without_routers=True)

        migrator().apply("hold")
        migrator().rollback()
        assert contents(boto) == before
        migrator().apply("contract")
        assert contents(boto) == frozen_items([change.expected(item) for change, item in items])
