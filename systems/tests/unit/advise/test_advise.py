"""The adviser: what it finds, what it never does, and what it says about it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from keyfold.cli import main
from keyfold.design.file import load, loads
from keyfold.design.schema import Schema
from keyfold.design.target import load_schema
from keyfold.review.check.reach import Reach
from keyfold.runtime.tables import create_request
from keyfold_engine.engine import Engine
from keyfold_workbench.advise import Advice, advise, report
from keyfold_workbench.advise.advice import Alternative
from keyfold_workbench.advise.differences import lost_reads
from keyfold_workbench.advise.proof import Proof
from keyfold_workbench.advise.recommendation import for_table
from keyfold_workbench.advise.redesign import redesign
from keyfold_workbench.cost import Workload, bill
from keyfold_workbench.cost import load as load_workload

SYSTEMS = Path(__file__).parents[4] / "systems" / "src" / "keyfold_systems"
CURRENT = "keyfold_systems.sellers.current:design"


def system(name: str) -> tuple[Schema, Workload]:
    module = "current" if name == "sellers" else "design"
    schema = load_schema(f"keyfold_systems.{name}.{module}:design")
    return schema, load_workload(SYSTEMS / name / "workload.yaml", schema)


@cache
def advice_for(name: str) -> Advice:
    """The search of a system's designs, made once for all tests."""
    return advise(*system(name))


@pytest.fixture
def sellers() -> Advice:
    return advice_for("sellers")


def alternative(advice: Advice, name: str) -> Alternative:
    return next(each for each in advice.alternatives if each.name == name)


def key(made: Alternative, entity: str) -> str:
    return str(made.schema.by_entity[entity].key)


def verbs(advice: Advice, table: str) -> list[str]:
    found = advice.before.schema.by_table[table]
    return [each.verb for each in for_table(advice.before, advice.best, found)]


# The sellers' document: its good decisions are found, its bad ones are not repeated.


def test_profiles_go_under_their_owner(sellers: Advice) -> None:
    assert key(sellers.best, "Profile") == "ACCOUNT#{owner_account_id} / PROFILE#{profile_id}"
    assert "re-key" in verbs(sellers, "SellersProfiles")


def test_profiles_shares_and_invites_part(sellers: Advice) -> None:
    homes = {sellers.best.schema.by_entity[e].table for e in ("Profile", "Share", "Invite")}
    assert len(homes) == 3
    assert "split" in verbs(sellers, "SellersProfiles")
    assert key(sellers.best, "Invite").startswith("INVITE#{invite_code}")


def test_seasons_go_under_their_profile_and_orders_under_their_season_by_creation(
    sellers: Advice,
) -> None:
    best = sellers.best
    assert key(best, "Season") == "PROFILE#{profile_id} / SEASON#{created_at:iso}#{season_id}"
    assert key(best, "Order") == "SEASON#{season_id} / ORDER#{created_at:iso}#{order_id}"


def test_accounts_and_catalogs_keep_their_keys(sellers: Advice) -> None:
    before = sellers.before.schema.by_entity
    for name in ("Account", "Catalog"):
        assert sellers.best.schema.by_entity[name].key == before[name].key
    assert verbs(sellers, "SellersAccounts") == ["keep"]


def test_lookups_by_id_stay_consistent(sellers: Advice) -> None:
    patterns = sellers.best.schema.by_pattern
    for name in ("profile_by_id", "season_by_id", "order_by_id"):
        assert (patterns[name].kind, patterns[name].index) == ("get", None)
        assert patterns[name].consistent
    assert list(lost_reads(sellers.before.bill, sellers.best.bill)) == []


def test_indexes_are_counted_and_not_claimed(sellers: Advice) -> None:
    assert sellers.before.bill.indexes == 10
    assert sellers.best.bill.indexes == sum(len(t.indexes) for t in sellers.best.schema.tables) == 6


def test_the_documents_own_way_is_an_alternative_with_its_regressions(sellers: Advice) -> None:
    told = alternative(sellers, "without copies")
    assert told.bill.indexes == 10
    lost = {name for name, _ in lost_reads(sellers.before.bill, told.bill)}
    assert lost == {"profile_by_id", "season_by_id", "order_by_id", "invites_of_profile"}
    for name in lost:
        assert any(name in loss and "stale" in loss for loss in told.losses)


def test_gains_and_regressions_are_both_named(sellers: Advice) -> None:
    assert any("my_profiles" in gain and "consistent" in gain for gain in sellers.best.gains)
    assert any("create Order takes 5 write units instead of 3" in x for x in sellers.best.losses)
    assert any("updates or deletes Order by order_id" in loss for loss in sellers.best.losses)


def test_the_report_says_all_of_it(sellers: Advice) -> None:
    from keyfold_workbench.cost.text import text

    told = text(report.document(sellers))
    for words in ("Before and after", "What gets worse", "Alternatives", "my_profiles dominates"):
        assert words in told
    data = report.as_json(sellers)
    indexes = next(m for m in data["measures"] if m["name"] == "Indexes")
    assert (indexes["before"], indexes["after"]) == (10, 6)


# What holds for every design and alternative.


@pytest.mark.parametrize("name", ["sellers", "inviter", "search_room", "tamafriends", "gg_core"])
def test_every_alternative_serves_every_pattern(name: str) -> None:
    advice = advice_for(name)
    schema = advice.before.schema
    assert advice.alternatives
    proof = Proof(schema)
    for made in advice.alternatives:
        facts = Reach(made.schema)
        for pattern in made.schema.patterns:
            reached = {a.entity.name for a in facts.reached(pattern)}
            assert set(pattern.entities) <= reached, (made.name, pattern.name)
        assert set(made.schema.by_pattern) == set(schema.by_pattern)
        assert proof.against(made.schema) == []


@pytest.mark.parametrize("name", ["sellers", "gg_core"])
def test_an_alternative_is_a_design_file_whose_tables_the_engine_makes(
    name: str, tmp_path: Path
) -> None:
    from keyfold.design.yaml_writer import dump

    for number, made in enumerate(advice_for(name).alternatives):
        file = tmp_path / f"{number}.yaml"
        dump(made.schema, file)
        again = load(file)
        assert again.tables == made.schema.tables
        assert [e.key for e in again.entities] == [e.key for e in made.schema.entities]
        with Engine.open(":memory:") as engine:
            for table in again.tables:
                engine.call("CreateTable", create_request(table, table.name))


def test_a_design_that_would_stop_serving_a_pattern_is_seen_through(sellers: Advice) -> None:
    from dataclasses import replace

    good = sellers.best.schema
    broken = replace(
        good, patterns=(replace(good.patterns[0], index="nowhere"), *good.patterns[1:])
    )
    found = Proof(sellers.before.schema).against(broken)
    assert [finding.code for finding in found] == ["Q10"]


def test_keeping_every_choice_changes_nothing() -> None:
    schema, load_ = system("inviter")
    from keyfold_workbench.advise.search import Search
    from keyfold_workbench.cost.design_numbers import DesignNumbers

    search = Search(DesignNumbers(schema, load_))
    made = redesign(schema, {entity.name: search.today(entity.name) for entity in schema.entities})
    assert (made.tables, made.entities, made.patterns) == (
        schema.tables,
        schema.entities,
        schema.patterns,
    )


@pytest.mark.parametrize("name", ["sellers", "inviter", "search_room", "tamafriends", "gg_core"])
def test_no_new_key_lets_two_items_collide(name: str) -> None:
    advice = advice_for(name)
    schema = advice.before.schema
    for made in advice.alternatives:
        for entity in made.schema.entities:
            source = entity.copy.of if entity.copy else entity.name
            pricing = advice.search.pricing(source)
            if entity.name in schema.by_entity and entity.key == schema.by_entity[entity.name].key:
                continue
            assert entity.key is not None
            fields = set(entity.key.fields)
            uniques = [set(unique.fields) for unique in schema.by_entity[source].uniques]
            told_apart = [set(pricing.identity), *uniques]
            assert any(each <= fields for each in told_apart), (made.name, entity.name)


def test_a_copied_name_is_not_taken_for_an_id() -> None:
    advice = advise(*system("inviter"))
    identity = advice.search.pricing("GroupMembership").identity
    assert identity == ("group_id", "user_id")


def large(entities: int, patterns: int) -> Schema:
    lines = ["design: large", "tables:", "  T: {key: [PK, SK], indexes: {"]
    lines[-1] += ", ".join(f"GSI{n}: {{key: [GSI{n}PK, GSI{n}SK]}}" for n in range(1, 6)) + "}}"
    lines.append("entities:")
    for n in range(entities):
        lines += [
            f"  E{n}:",
            f"    key: {{PK: E{n}#<e{n}Id>, SK: E{n}}}",
            "    indexes:",
            f"      GSI1: {{GSI1PK: OWN{n}#<owner>, GSI1SK: 'AT{n}#<at>#<e{n}Id>'}}",
            f"      GSI2: {{GSI2PK: GRP{n}#<group>, GSI2SK: 'AT{n}#<at>#<e{n}Id>'}}",
            f"    attributes: {{e{n}Id: id, owner: id, group: id, at: fixed timestamp}}",
        ]
    lines.append("patterns:")
    for n in range(patterns):
        e, kind = n % entities, n // entities % 4
        owned = f"index: GSI1, where: 'GSI1PK = OWN{e}#<owner>, GSI1SK begins_with AT{e}#'"
        grouped = f"index: GSI2, where: 'GSI2PK = GRP{e}#<group>, GSI2SK begins_with AT{e}#'"
        where = [
            f"get: E{e}, where: 'PK = E{e}#<e{e}Id>, SK = E{e}'",
            f"query: E{e}, {owned}",
            f"query: E{e}, {grouped}",
            f"latest: E{e}, {owned}",
        ][kind]
        lines.append(f"  p{n}: {{{where}, limit: 20, rate: {1 + n % 7}}}")
    return loads("\n".join(lines))


@pytest.mark.long
def test_fifty_entities_with_two_hundred_patterns_are_searched() -> None:
    schema = large(50, 200)
    advice = advise(schema, Workload())
    assert bill(advice.best.schema, Workload()).index_share <= advice.before.bill.index_share


# The command.


@pytest.mark.parametrize("format", ["text", "json", "markdown"])
def test_the_command_writes_report_and_design(format: str, tmp_path: Path) -> None:
    made, out = tmp_path / "better.yaml", tmp_path / "report"
    load_ = str(SYSTEMS / "sellers" / "workload.yaml")
    asked = ["advise", CURRENT, "-w", load_, "--format", format, "-o", str(out)]
    assert main([*asked, "--write-design", str(made)]) == 0
    assert "my_profiles" in out.read_text(encoding="utf-8")
    assert main(["check", str(made), "--fail-on", "never"]) == 0


def test_another_alternative_can_be_chosen_by_name(capsys: Any) -> None:
    load_ = str(SYSTEMS / "sellers" / "workload.yaml")
    assert main(["advise", CURRENT, "-w", load_, "--choose", "without copies"]) == 0
    assert "without copies: the main reads" in capsys.readouterr().out
    assert main(["advise", CURRENT, "-w", load_, "--choose", "best"]) == 2
    assert "use one of balanced" in capsys.readouterr().err
