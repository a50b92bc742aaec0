"""Whatever the design and its rates: every alternative serves every pattern, and can be made."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from keyfold.design.file import loads
from keyfold.design.schema import Schema
from keyfold.design.yaml_writer import dumps
from keyfold.review.check.reach import Reach
from keyfold.runtime.tables import create_request
from keyfold_engine.engine import Engine
from keyfold_workbench.advise import advise
from keyfold_workbench.advise.differences import lost_reads
from keyfold_workbench.cost import loads as workload

PARENTS = ("owner", "group", "city")
RATES = st.sampled_from([0, 1, 5, 60, 400])


@st.composite
def designs(draw: st.DrawFn) -> tuple[Schema, str]:
    """Tables of one entity each, keyed by id or under a parent, with indexes by other parents."""
    design: list[str] = ["design: any", "tables:"]
    entities: list[str] = ["entities:"]
    patterns: list[str] = ["patterns:"]
    rates: list[str] = ["patterns:"]
    writes: list[str] = ["writes:"]
    for number in range(draw(st.integers(1, 3))):
        name = f"Thing{number}"
        parents = draw(st.lists(st.sampled_from(PARENTS), min_size=1, max_size=3, unique=True))
        ordered = [draw(st.booleans()) for _ in parents]
        nested = draw(st.booleans())
        key = f"[{parents[0]}Id, thing{number}Id]" if nested else f"[thing{number}Id]"
        design.append(f"  Table{number}:")
        design.append(f"    key: {key}")
        indexed = list(zip(parents, ordered, strict=True))[1 if nested else 0 :]
        if indexed:
            design.append("    indexes:")
        for parent, by_time in indexed:
            sort = ", createdAt" if by_time else ""
            design.append(f"      {parent}-index: {{key: [{parent}Id{sort}]}}")
        own = f"thing{number}Id: <thing{number}Id>"
        whole = f"{parents[0]}Id: <{parents[0]}Id>, {own}" if nested else own
        fields = ", ".join(f"{parent}Id: id" for parent in PARENTS)
        entities += [
            f"  {name}:",
            f"    table: Table{number}",
            f"    key: {{{whole}}}",
            f"    attributes: {{thing{number}Id: id, {fields}, createdAt: fixed timestamp}}",
        ]
        asked = whole.replace(": ", " = ")
        consistent = "true" if draw(st.booleans()) else "false"
        patterns.append(
            f'  get {number}: {{get: {name}, where: "{asked}", consistent: {consistent}}}'
        )
        rates.append(f"  get {number}: {{rate: {draw(RATES)}}}")
        if nested:
            patterns.append(
                f'  of {number}: {{query: {name}, where: "{parents[0]}Id = <{parents[0]}Id>"}}'
            )
            rates.append(f"  of {number}: {{rate: {draw(RATES)}}}")
        for parent, _ in indexed:
            patterns.append(
                f"  {parent} {number}: {{query: {name}, index: {parent}-index, "
                f'where: "{parent}Id = <{parent}Id>"}}'
            )
            rates.append(f"  {parent} {number}: {{rate: {draw(RATES)}}}")
        for action in ("create", "update", "delete"):
            writes.append(f"  {action} {name}: {{rate: {draw(st.sampled_from([0, 0.01, 5]))}}}")
    schema = loads("\n".join([*design, *entities, *patterns]))
    return schema, "\n".join([*rates, *writes])


@settings(max_examples=20, deadline=None)
@given(designs())
def test_every_alternative_serves_every_pattern_and_can_be_made(made: tuple[Schema, str]) -> None:
    schema, rates = made
    advice = advise(schema, workload(rates, schema))
    for each in advice.alternatives:
        facts = Reach(each.schema)
        assert set(each.schema.by_pattern) == set(schema.by_pattern)
        for pattern in each.schema.patterns:
            assert set(pattern.entities) <= {a.entity.name for a in facts.reached(pattern)}
        if each.name in ("balanced", "consistent"):
            assert not list(lost_reads(advice.before.bill, each.bill))
        assert loads(dumps(each.schema)).tables == each.schema.tables
        with Engine.open(":memory:") as engine:
            for table in each.schema.tables:
                engine.call("CreateTable", create_request(table, table.name))
    assert advice.best.pays
    assert advice.best.score <= min(each.score for each in advice.alternatives if each.pays)
