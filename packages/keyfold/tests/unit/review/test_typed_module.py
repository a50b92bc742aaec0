"""`keyfold types`: files beside the design's modules, stable, and found when they are stale."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from keyfold.cli import main

DESIGN = """
from datetime import datetime
from decimal import Decimal
from enum import Enum
from typing import Annotated, Literal
from keyfold import Counter, Design, Entity, Index, Key, On, Pointer, Timestamp, Version
import {name}_types as typed

design = Design("shops")
table = design.table("main", indexes=[Index("GSI1", "GSI1PK", "GSI1SK")])

class Kind(Enum):
    SMALL = "small"

class Shop(typed.Shop, Entity, table=table):
    shop_id: str
    kind: Kind = Kind.SMALL
    opened: Timestamp | None = None
    tags: set[str] = set()
    log: list[str] = []
    debt: Decimal = Decimal(0)
    state: Literal["open", "shut"] = "open"
    orders: Annotated[int, Counter("Order")] = 0
    tag_list: list[str] = []
    version: Annotated[int, Version()] = 0
    key = Key("SHOP#{{shop_id}}", "SHOP")
    by_kind = On("GSI1", "KIND#{{kind}}", "{{opened}}#{{shop_id}}", when="opened")

class Order(typed.Order, Entity, table=table):
    shop_id: str
    order_id: str
    key = Key("SHOP#{{shop_id}}", "ORDER#{{order_id}}")

class Untyped(Entity, table=table):
    shop_id: str
    key = Key("SHOP#{{shop_id}}", "UNTYPED")
"""
names = iter(f"shops_{number}" for number in range(100))


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A design whose types nobody has written, in the working directory."""
    name = next(names)
    (tmp_path / f"{name}.py").write_text(DESIGN.format(name=name))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield name
    for loaded in (name, f"{name}_types"):
        sys.modules.pop(loaded, None)


def written(name: str) -> str:
    return Path(f"{name}_types.pyi").read_text()


def test_a_design_that_imports_its_types_before_they_are_written_gets_them(module: str) -> None:
    assert main(["types", f"{module}:design"]) == 0
    text = written(module)
    assert "class Shop(Entity):" in text
    assert "def __call__(self, *, shop_id: str, order_id: str) -> Ref[of.Order]: ..." in text
    assert "def query(self, *, kind: of.Kind) -> ByOpened[of.Shop]: ..." in text
    assert "opened: Given[datetime.datetime] | Clear | None = ...," in text
    assert "debt: GivenNumber[decimal.Decimal] = ...," in text
    assert "state: Given[typing.Literal['open', 'shut']] = ...," in text
    assert "tags: GivenSet[str] = ...," in text


def test_counters_versions_and_key_fields_are_no_changes(module: str) -> None:
    main(["types", f"{module}:design"])
    shop = written(module).partition("class Shop(Entity):")[2]
    changes = shop.partition("def __changes__(")[2].partition(") -> of.Shop")[0]
    assert [one for one in ("shop_id", "orders", "version") if f" {one}:" in changes] == []


def test_an_entity_without_the_base_is_named_and_not_written(
    module: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["types", f"{module}:design"])
    assert "without types: Untyped; write class Untyped(typed.Untyped, ...)" in (
        capsys.readouterr().err
    )
    assert "class Untyped(" not in written(module)


def test_the_same_design_gives_the_same_text(module: str) -> None:
    main(["types", f"{module}:design"])
    before = Path(f"{module}_types.pyi").stat().st_mtime_ns
    main(["types", f"{module}:design"])
    assert Path(f"{module}_types.pyi").stat().st_mtime_ns == before
    assert main(["types", f"{module}:design", "--check"]) == 0


def test_stale_types_fail_the_check_and_show_what_differs(
    module: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["types", f"{module}:design"])
    file = Path(f"{module}_types.pyi")
    file.write_text(file.read_text().replace("tags: GivenSet[str]", "tags: GivenSet[int]"))
    capsys.readouterr()
    assert main(["types", f"{module}:design", "--check"]) == 1
    shown = capsys.readouterr().out
    assert f"{module}_types.pyi is stale; run: keyfold types {module}:design" in shown
    assert "-        tags: GivenSet[int] = ...," in shown
    assert "GivenSet[int]" in file.read_text()


def test_stale_types_are_a_finding_of_the_reviewer(
    module: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["types", f"{module}:design"])
    main(["check", f"{module}:design", "--select", "D5"])
    assert "D5" not in capsys.readouterr().out
    Path(f"{module}_types.pyi").write_text("")
    assert main(["check", f"{module}:design", "--select", "D5"]) == 1
    assert f"{module}_types.pyi" in capsys.readouterr().out


def test_the_python_half_gives_an_empty_class_for_every_name(module: str) -> None:
    main(["types", f"{module}:design"])
    typed = sys.modules[f"{module}_types"]
    assert vars(typed.Shop)["__slots__"] == ()
    assert typed.Shop.__bases__ == (object,)


def test_an_entity_that_inherits_a_key_takes_it_from_its_parent(
    module: str, tmp_path: Path
) -> None:
    source = tmp_path / f"{module}.py"
    shared = """
class Shared(Entity):
    shop_id: str
    key = Key("SHOP#{shop_id}", "SHARED")

class Heir(typed.Heir, Shared, table=table):
    note: str = ""
"""
    source.write_text(source.read_text() + shared)
    main(["types", f"{module}:design"])
    text = written(module)
    assert "class Heir(of.Shared):" in text
    assert "key: ClassVar[Key[HeirKey]]  # type: ignore[assignment]" in text


def test_a_design_without_any_typed_entity_says_how_to_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bare_design.py").write_text("from keyfold import Design\ndesign = Design('x')\n")
    monkeypatch.chdir(tmp_path)
    assert main(["types", "bare_design:design"]) == 2
    assert "class Room(typed.Room, Entity, ...)" in capsys.readouterr().err
    assert list(tmp_path.glob("*_types*")) == []


def test_a_design_file_has_no_types(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["types", "design.yaml"]) == 2
    assert "name a design" in capsys.readouterr().err


def test_a_type_without_a_name_is_refused_in_words(module: str, tmp_path: Path) -> None:
    source = tmp_path / f"{module}.py"
    local = """
def made():
    class Inner(Enum):
        A = "a"
    return Inner

Inner = made()

class Odd(typed.Odd, Entity, table=table):
    odd_id: str
    inner: Inner
    key = Key("ODD#{odd_id}", "ODD")
"""
    source.write_text(source.read_text() + local)
    assert main(["types", f"{module}:design"]) == 2
    assert not Path(f"{module}_types.pyi").exists()


@pytest.fixture
def watching(module: str, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "keyfold", "types", f"{module}:design", "--watch"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        limit = threading.Timer(60, process.kill)
        limit.start()
        yield process
        limit.cancel()
        process.kill()


def test_watching_writes_again_when_the_module_is_saved(
    watching: subprocess.Popen[str], module: str, tmp_path: Path
) -> None:
    read_until(watching, "written")
    source = tmp_path / f"{module}.py"
    source.write_text(source.read_text().replace("tag_list:", "labels:"))
    read_until(watching, "written")
    assert "labels: GivenList[str] = ...," in written(module)


def test_what_is_saved_while_watching_starts_is_noticed(
    module: str, tmp_path: Path, watching: subprocess.Popen[str]
) -> None:
    later = time.time() + 3
    os.utime(tmp_path / f"{module}.py", (later, later))
    read_until(watching, "written")
    read_until(watching, "up to date")


def read_until(process: subprocess.Popen[str], words: str) -> None:
    assert process.stderr is not None
    assert any(words in line for line in process.stderr), f"{words!r} was never said"
