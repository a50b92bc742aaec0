"""The commands that follow streams, verify, repair and rebuild."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import orjson
import pytest

from keyfold.cli import main
from keyfold_engine.engine import Engine

DESIGN = """
from typing import Annotated
from keyfold import Counter, Design, Entity, Id, Key

design = Design("shop")
table = design.table("Shop", stream="NEW_AND_OLD_IMAGES")


class Post(Entity, table=table):
    post_id: Id
    likes: Annotated[int, Counter("Like", sync="stream")] = 0
    key = Key("POST#{post_id}", "POST")


class Like(Entity, table=table):
    post_id: Id
    user_id: Id
    key = Key("POST#{post_id}", "LIKE#{user_id}")


@design.on(Like, "insert")
def greet(old, new, work):
    if new.user_id == "bad" and not __import__("os").environ.get("SHOP_FIXED"):
        raise ValueError("cannot greet bad")
    work.emit("liked", {"by": new.user_id})
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    name = f"shop_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(textwrap.dedent(DESIGN))
    (tmp_path / "keyfold.toml").write_text(f'design = "{name}:design"\nbackend = "shop.db"\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    module = import_module(name)
    with module.design.open("shop.db") as db:
        db.create(module.Post(post_id="p"))
        for user in ("ada", "bad"):
            db.create(module.Like(post_id="p", user_id=user))
    yield tmp_path
    sys.modules.pop(name)


def set_likes(folder: Path, number: int) -> None:
    with Engine.open(folder / "shop.db") as engine:
        engine.call(
            "UpdateItem",
            {
                "TableName": "Shop",
                "Key": {"PK": {"S": "POST#p"}, "SK": {"S": "POST"}},
                "UpdateExpression": "SET likes = :n",
                "ExpressionAttributeValues": {":n": {"N": str(number)}},
            },
        )


def test_a_consumer_runs_until_nothing_is_left(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["streams", "run", "--once", "--queue", "news"]) == 0
    assert "1 dead letters" in capsys.readouterr().out
    assert main(["streams", "status"]) == 1
    assert "lag 0 s, 1 dead letters, 0 waiting events" in capsys.readouterr().out


def test_dead_letters_are_listed_shown_replayed_and_dropped(
    shop: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    main(["streams", "run", "--once"])
    capsys.readouterr()
    assert main(["streams", "letters"]) == 0
    line = capsys.readouterr().out
    assert "processor greet  ValueError: cannot greet bad" in line
    name = line.partition("  ")[0]
    assert main(["streams", "letters", "--show", name]) == 0
    shown = capsys.readouterr().out
    assert "Traceback" in shown
    assert '"eventName": "INSERT"' in shown
    assert main(["streams", "letters", "--show", name.partition("#")[0]]) == 0
    assert capsys.readouterr().out == shown
    assert main(["streams", "letters", "--show", "9"]) == 2
    assert "dead letter 9 not found" in capsys.readouterr().err
    assert main(["streams", "letters", "--replay", "all"]) == 1
    monkeypatch.setenv("SHOP_FIXED", "1")
    assert main(["streams", "letters", "--replay", name]) == 0
    capsys.readouterr()
    assert main(["streams", "letters", "--drop", "all"]) == 0
    assert main(["streams", "letters"]) == 0
    assert capsys.readouterr().out == ""


def test_drift_is_reported_with_exit_code_one(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", "--drain"]) == 0
    set_likes(shop, 9)
    capsys.readouterr()
    assert main(["verify", "--format", "json"]) == 1
    (drift,) = orjson.loads(capsys.readouterr().out)["drifts"]
    assert (drift["structure"], drift["expected"], drift["found"]) == (
        "counter Post.likes",
        "2",
        "9",
    )


def test_reports_for_programs_are_there_also_where_nothing_is_to_report(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def told(*command: str) -> Any:
        assert main([*command, "--format", "json"]) == 0, command
        return orjson.loads(capsys.readouterr().out)

    assert main(["verify", "--drain"]) == 0
    assert main(["streams", "letters", "--drop", "all"]) == 0
    capsys.readouterr()
    assert told("verify")["drifts"] == []
    assert told("repair")["clean"] is True
    assert told("rebuild")["clean"] is True
    assert told("streams", "letters") == []
    assert [event["name"] for event in told("streams", "events")] == ["liked"]
    assert main(["streams", "events", "--drop", told("streams", "events")[0]["id"]]) == 0
    capsys.readouterr()
    assert told("streams", "events") == []
    assert told("streams", "status")["dead_letters"] == 0


def test_repair_shows_its_plan_and_writes_only_when_told(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["verify", "--drain"])
    set_likes(shop, 9)
    assert main(["repair"]) == 1
    assert "set it to the expected value" in capsys.readouterr().out
    assert main(["verify"]) == 1
    assert main(["repair", "--apply", "--rate", "1000"]) == 0
    assert "1 fixed, 0 left" in capsys.readouterr().out
    assert main(["verify"]) == 0


def test_rebuild_makes_a_structure_anew(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["verify", "--drain"])
    set_likes(shop, 9)
    assert main(["rebuild", "--only", "counter Post.likes"]) == 0
    assert main(["verify"]) == 0
    assert "no drift" in capsys.readouterr().out


def test_an_unknown_structure_and_a_bad_rate_are_user_errors(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", "--only", "counter Nothing.x"]) == 2
    assert "it has index, counter Post.likes" in capsys.readouterr().err
    assert main(["repair", "--rate", "0"]) == 2
    assert main(["streams", "run", "--once", "--webhook", "http://x"]) == 2
    assert "KEYFOLD_WEBHOOK_SECRET" in capsys.readouterr().err


def test_a_design_has_to_be_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["verify"]) == 2
    assert "name a design" in capsys.readouterr().err


def test_a_running_consumer_stops_cleanly_on_a_signal(shop: Path) -> None:
    command = [sys.executable, "-m", "keyfold", "streams", "run"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, cwd=shop, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        assert "records" in process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0


def unreadable(shop: Path) -> None:
    """Two likes that nobody can read, and a post with an attribute of somebody else."""
    engine = Engine.open(shop / "shop.db")
    for user, extra in (("eve", {}), ("mal", {"at": {"N": "1"}})):
        key = {"PK": {"S": "POST#p"}, "SK": {"S": f"LIKE#{user}"}}
        item = {**key, "type": {"S": "Like"}, "userId": {"N": "7"}, **extra}
        engine.call("PutItem", {"TableName": "Shop", "Item": item})
    engine.call(
        "UpdateItem",
        {
            "TableName": "Shop",
            "Key": {"PK": {"S": "POST#p"}, "SK": {"S": "POST"}},
            "UpdateExpression": "SET theirs = :x",
            "ExpressionAttributeValues": {":x": {"S": "x"}},
        },
    )
    engine.close()


def test_items_that_cannot_be_read_are_put_away_and_can_be_brought_back(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unreadable(shop)
    assert main(["repair"]) == 1
    assert "move the item to a file (--quarantine)" in capsys.readouterr().out
    assert main(["repair", "--apply", "--quarantine", "away"]) == 0
    assert main(["verify", "--drain"]) == 0
    lines = (shop / "away" / "Shop.json").read_bytes().splitlines()
    assert [orjson.loads(line)["Item"]["SK"]["S"] for line in lines] == ["LIKE#eve", "LIKE#mal"]
    assert main(["load", "shop.db", "Shop", "away/Shop.json"]) == 0
    assert main(["verify"]) == 1
    assert "2 undecodable" in capsys.readouterr().out


def test_verify_tells_of_attributes_that_no_entity_declares(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unreadable(shop)
    main(["verify", "--drain"])
    shown = capsys.readouterr().out
    assert "Post does not declare theirs, which 1 item has; updates keep it" in shown
    assert "Like does not declare at, which 1 item has" in shown
