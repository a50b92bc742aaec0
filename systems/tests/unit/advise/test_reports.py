"""The reports in the documentation are what the adviser says today."""

from __future__ import annotations

import importlib.util
from difflib import unified_diff
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[4] / "docs"
AGAIN = "make docs writes them again"


@pytest.fixture(scope="module")
def pages() -> dict[Path, str]:
    files: dict[Path, str] = extension().files(DOCS / "advice")
    return files


def extension() -> ModuleType:
    spec = importlib.util.spec_from_file_location("advice", DOCS / "_ext" / "advice.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reports_of_all_systems_are_as_a_new_one_would_be(pages: dict[Path, str]) -> None:
    stale = [
        line
        for path, text in pages.items()
        for line in unified_diff(
            path.read_text(encoding="utf-8").splitlines() if path.is_file() else [],
            text.splitlines(),
            path.relative_to(DOCS).as_posix(),
            "as it would be now",
            lineterm="",
            n=0,
        )
    ]
    assert not stale, "\n".join([AGAIN, *stale[:20]])
    systems = {path.stem.removesuffix("-cost") for path in pages if path.suffix == ".md"}
    assert systems == {"gg_core", "inviter", "search_room", "sellers", "tamafriends"}


def test_no_report_is_left_of_what_is_gone(pages: dict[Path, str]) -> None:
    kept = {path for path in (DOCS / "advice").rglob("*") if path.is_file()}
    assert kept == set(pages), AGAIN


def test_reports_name_no_place_on_this_machine(pages: dict[Path, str]) -> None:
    for path, text in pages.items():
        assert str(DOCS.parent) not in text, path


def test_what_the_overview_says_of_the_sellers_is_counted() -> None:
    from keyfold.design.target import load_schema
    from keyfold_workbench.advise import advise
    from keyfold_workbench.advise.differences import lost_reads
    from keyfold_workbench.cost import load

    schema = load_schema("keyfold_systems.sellers.current:design")
    file = DOCS.parent / "systems" / "src" / "keyfold_systems" / "sellers" / "workload.yaml"
    advice = advise(schema, load(file, schema))
    before, best = advice.before.bill, advice.best.bill
    proposed = next(a for a in advice.alternatives if a.name == "without copies")
    told = (DOCS / "systems" / "index.md").read_text(encoding="utf-8")
    assert (before.indexes, proposed.bill.indexes, best.indexes, best.copies) == (10, 10, 6, 4)
    assert "| Indexes | 10, then 6 | 10, then 10 | 10, then 6, with 4 copies |" in told
    shares = [f"{b.index_share:.0%}" for b in (before, proposed.bill, best)]
    assert f"| {shares[0]}, then {shares[1]} | {shares[0]}, then {shares[2]} |" in told
    assert len(list(lost_reads(before, proposed.bill))) == 4
    assert list(lost_reads(before, best)) == []
    assert f"{1 - proposed.dollars / advice.before.dollars:.0%} less | the same |" in told
    for entity in ("Season", "Order"):
        assert "created_at" in str(proposed.schema.by_entity[entity].key)
