"""A design by its name on the command line, and what is said where there is none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from keyfold.design.file import loads
from keyfold.design.follows import FITS
from keyfold.design.target import load_design, load_schema
from keyfold.errors import KeyfoldError

MODULE = """
from keyfold import Design

class Kind:
    schema = Design("inner").schema

shop = Design("shop")
shop.table("shop")
stated = shop.schema
number = 7
"""
Write = Callable[[str, str], str]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)

    def written(name: str, text: str) -> str:
        (tmp_path / f"{name}.py").write_text(text)
        return name

    return written


def test_a_design_and_a_schema_are_found_by_name(write: Write) -> None:
    module = write("target_found", MODULE)
    assert load_schema(f"{module}:shop") == load_schema(f"{module}:stated")
    assert load_design(f"{module}:shop").schema == load_schema(f"{module}:shop")


def test_another_name_is_answered_with_the_nearest(write: Write) -> None:
    module = write("target_near", MODULE)
    with pytest.raises(KeyfoldError, match=r"has no design 'shops'; .*shop"):
        load_schema(f"{module}:shops")
    with pytest.raises(KeyfoldError, match=r"has no design 'number'") as raised:
        load_schema(f"{module}:number")
    assert "Kind" not in str(raised.value)
    with pytest.raises(KeyfoldError, match=r"has no design 'stated'; .*shop"):
        load_design(f"{module}:stated")


def test_a_module_without_a_design_says_so(write: Write) -> None:
    module = write("target_empty", "number = 7\n")
    for load in (load_schema, load_design):
        with pytest.raises(KeyfoldError, match="has no design 'design'; no design is declared"):
            load(module)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import nowhere_at_all", "unknown module 'nowhere_at_all'"),
        ("x = (", r"target_broken.*\.py:1: "),
        ("raise SystemExit(3)", "ends the program when it is imported .exit code 3."),
        ("1 / 0", "target_broken.*:1: ZeroDivisionError"),
    ],
)
def test_a_module_that_cannot_be_imported_is_named(write: Write, text: str, message: str) -> None:
    with pytest.raises(KeyfoldError, match=message):
        load_schema(write(f"target_broken_{abs(hash(text))}", text))


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("some/shop.py:design", "name its module, as some.shop:design"),
        ("DESIGN.md", "'DESIGN.md' is not a design: give package.module:design"),
        ("no-module:design", "give package.module:design, or a file that ends in .yaml"),
    ],
)
def test_a_file_or_nonsense_is_told_how_to_say_it(target: str, message: str) -> None:
    with pytest.raises(KeyfoldError, match=message):
        load_schema(target)


CONSUMERS = """
design: shop
tables: {shop: {key: [PK, SK], stream: NEW_AND_OLD_IMAGES}}
entities:
  Shop: {key: {PK: "SHOP#<shopId>", SK: SHOP}, attributes: {shopId: id, name: string}}
  Sale:
    key: {PK: "SHOP#<shopId>", SK: "SALE#<saleId>"}
    attributes: {shopId: id, saleId: id, shopName: string}
consumers:
  names: {entities: Shop, events: [MODIFY], watches: [name], does: update each Sale (shopName)}
  gone: {entities: Shop, events: [REMOVE], sync: transaction, does: delete each Sale}
  late: {entities: Shop, events: [REMOVE], does: delete each Sale}
  other: {entities: Shop, events: [INSERT], does: create Sale}
"""


def test_consumers_of_a_design_file_are_the_copies_and_cascades_that_they_describe() -> None:
    follows = {one.name: one for one in loads(CONSUMERS).follows}
    copied, cascade, orphans = (follows[name] for name in ("names", "gone", "gone orphans"))
    assert (copied.kind, copied.source, copied.target) == ("copied", "Shop", "Sale")
    assert (copied.fields, copied.writes, copied.fits) == (("name",), ("shopName",), None)
    assert (cascade.kind, cascade.on, cascade.deletes) == ("cascade", ("REMOVE",), True)
    assert (cascade.fits, follows["late"].fits) == (FITS, None)
    assert (orphans.fact, orphans.source, orphans.target) == ("need", "Sale", "Shop")
    assert "other" not in follows
