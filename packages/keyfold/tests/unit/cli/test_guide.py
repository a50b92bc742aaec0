"""`keyfold guide`: complete, and its example runs."""

from __future__ import annotations

import itertools
import re
import sys
import types

import pytest

import keyfold
from keyfold.cli import command_names, main
from keyfold.review.check import RULES


def test_it_names_everything_that_is_public(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["guide"]) == 0
    text = capsys.readouterr().out
    for name in (*keyfold.__all__, *itertools.chain(*keyfold.MODULES.values())):
        assert re.search(rf"^- `{name}\b", text, re.M), name
    for code in RULES:
        assert f"- {code} " in text
    for command in command_names():
        assert f"`keyfold {command}`" in text
    assert " at 0x" not in text


def test_its_example_runs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["guide"]) == 0
    found = re.search(r"```python\n(.*?)```", capsys.readouterr().out, re.S)
    assert found
    module = types.ModuleType("example")
    monkeypatch.setitem(sys.modules, "example", module)
    exec(found[1].replace('"shop.db"', '":memory:"'), vars(module))
    assert [one.order_id for one in module.page] == ["1"]
    module.db.close()
