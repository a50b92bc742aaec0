"""One price: the commands, the studio and the tools of assistants find the same workload."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from keyfold.cli import main
from keyfold_engine.clients import connect
from keyfold_workbench.mcp.cost_tools import CostTools
from keyfold_workbench.mcp.workspace import Workspace
from keyfold_workbench.studio.process import StudioOptions, open_systems

SHOP = "design: shop\nentities:\n  Order: {key: {PK: ORDER#<id>, SK: O}, attributes: {id: id}}\n"
SHOP += "patterns:\n  order: {get: Order, where: 'PK = ORDER#<id>, SK = O'}\n"
BUSY = "design: shop\npatterns: {order: {rate: 500}}\n"


def prices(target: str, capsys: pytest.CaptureFixture[str]) -> tuple[float, float, float | None]:
    """By the command, by the tool of assistants, and in the studio."""
    assert main(["cost", target, "--format", "json"]) == 0
    by_command = json.loads(capsys.readouterr().out)["dollars"]["on_demand"]
    # A tool rounds to cents.
    by_tool = CostTools(Workspace(target)).estimate_cost().dollars["on_demand"]
    client = connect(":memory:")
    try:
        (system,) = open_systems(StudioOptions(target, ":memory:"), client)
        return by_command, by_tool, system.bill.dollars if system.bill else None
    finally:
        client.close()


def documented(target: str) -> str:
    """The design's document."""
    with TemporaryDirectory() as folder:
        assert main(["docs", target, "-o", f"{folder}/design.md"]) == 0
        return Path(folder, "design.md").read_text()


@pytest.mark.parametrize(
    "name",
    [
        "gg_core.design",
        "inviter.design",
        "search_room.design",
        "sellers.current",
        "tamafriends.design",
    ],
)
def test_a_system_has_one_price(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    target = f"keyfold_systems.{name}:design"
    by_command, by_tool, in_studio = prices(target, capsys)
    assert by_command == in_studio
    assert round(by_command, 2) == by_tool
    assert f"${by_command:,.2f} a month" in documented(target)


def test_a_design_file_is_priced_under_the_workload_beside_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "shop.yaml"
    file.write_text(SHOP)
    alone, _, in_studio = prices(str(file), capsys)
    assert in_studio is None, "without a workload no dollars stand on a page"
    assert "$" not in documented(str(file))
    (tmp_path / "workload.yaml").write_text(BUSY.replace("shop", "other"))
    assert prices(str(file), capsys)[0] == alone, "a workload of another design says nothing"
    (tmp_path / "workload.yaml").write_text(BUSY)
    by_command, by_tool, in_studio = prices(str(file), capsys)
    assert by_command == in_studio != alone
    assert round(by_command, 2) == by_tool


@pytest.mark.parametrize("command", ["cost", "advise", "simulate"])
def test_without_a_workload_the_headline_says_what_is_assumed(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "shop.yaml"
    file.write_text(SHOP)
    assert main([command, str(file)]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert (
        "Assumed: every read 1 time a second where the design states no rate, "
        "every write 0.1 times a second." in told
    )
    assert told.count("every read") == 1, "it is said once, and holds for every call"
    (tmp_path / "workload.yaml").write_text(BUSY)
    assert main([command, str(file)]) == 0
    assert "Assumed: every read" not in capsys.readouterr().out


@pytest.mark.parametrize("name", ["gg_core", "inviter", "search_room", "tamafriends", "sellers"])
def test_every_write_of_a_system_is_priced_with_what_follows(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cost", f"keyfold_systems.{name}.design:design", "--format", "json"]) == 0
    assert "without what follows" not in capsys.readouterr().out


def test_a_workload_of_other_names_is_no_reason_to_write_no_document(tmp_path: Path) -> None:
    (tmp_path / "shop.yaml").write_text(SHOP)
    (tmp_path / "workload.yaml").write_text(BUSY.replace("order:", "orders:"))
    told = "unknown: workload.yaml does not fit this design, see `keyfold cost`"
    assert told in documented(str(tmp_path / "shop.yaml"))
