"""`keyfold check` and `keyfold rule` as a user meets them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from types import FunctionType

import pytest

from keyfold.cli import main
from keyfold.design.file import loads
from keyfold.design.schema import Place
from keyfold.review.check import check
from keyfold.review.check.domains import DESIGN
from keyfold.review.check.page import page
from keyfold.review.check.report import Crash
from keyfold.review.check.rule import RULES, DesignRule
from keyfold.review.check.text import text

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)

    def go(*arguments: str) -> tuple[int, str]:
        code = main(arguments)
        printed = capsys.readouterr()
        return code, printed.out + printed.err

    return go


@pytest.fixture
def bleeding(tmp_path: Path) -> str:
    (tmp_path / "rooms.yaml").write_text(page("Q1").wrong, encoding="utf-8")
    return "rooms.yaml"


def test_a_finding_is_shown_with_line_example_and_remedy(run: Run, bleeding: str) -> None:
    code, out = run("check", bleeding)
    assert code == 1
    assert "rooms.yaml" in out
    assert "    8  error    Q1   Activities after  range-bleed" in out
    assert "also returns Listing (`LISTING#…`)" in out
    assert "→ Close the range" in out
    assert "rooms: 1 error. Run `keyfold rule Q1` for details." in out


def test_a_good_design_says_so_and_exits_with_zero(run: Run, tmp_path: Path) -> None:
    (tmp_path / "d.yaml").write_text(page("Q1").right, encoding="utf-8")
    assert run("check", "d.yaml") == (0, "rooms: nothing to report.\n")


def test_rules_are_chosen_by_code_and_family(run: Run, bleeding: str) -> None:
    assert run("check", bleeding, "--select", "K")[0] == 0
    assert run("check", bleeding, "--ignore", "Q1")[0] == 0
    assert run("check", bleeding, "--select", "Q,K4")[0] == 1
    code, out = run("check", bleeding, "--select", "Q99")
    assert (code, "unknown rule 'Q99'" in out) == (2, True)


def test_the_severity_that_fails_is_chosen(run: Run, tmp_path: Path) -> None:
    (tmp_path / "d.yaml").write_text(page("X3").wrong, encoding="utf-8")
    assert run("check", "d.yaml")[0] == 1
    assert run("check", "d.yaml", "--fail-on", "error")[0] == 0
    assert run("check", "d.yaml", "--fail-on", "never")[0] == 0


def test_json_has_everything(run: Run, bleeding: str) -> None:
    _, out = run("check", bleeding, "--format", "json")
    (finding,) = json.loads(out)["findings"]
    assert finding["code"] == "Q1"
    assert (finding["file"], finding["line"]) == ("rooms.yaml", 8)


def test_sarif_names_rule_and_line(run: Run, bleeding: str) -> None:
    _, out = run("check", bleeding, "--format", "sarif")
    (result,) = json.loads(out)["runs"][0]["results"]
    assert result["ruleId"] == "Q1"
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "rooms.yaml"
    assert place["region"] == {"startLine": 8, "startColumn": 3}
    (rule,) = json.loads(out)["runs"][0]["tool"]["driver"]["rules"]
    assert rule["helpUri"].endswith("/pages/Q1.md")
    assert rule["help"]["markdown"].startswith("# Q1")
    assert len(result["partialFingerprints"]["keyfold/v2"]) == 32


def test_a_baseline_leaves_out_what_was_there(run: Run, bleeding: str, tmp_path: Path) -> None:
    assert run("check", bleeding, "--write-baseline", "known.json")[0] == 0
    assert run("check", bleeding, "--baseline", "known.json") == (
        0,
        "rooms: nothing to report. 1 in the baseline.\n",
    )
    more = page("Q1").wrong.replace(
        "patterns:", "patterns:\n  All: {query: Listing, partition: ROOM#<roomId>, limit: 1}"
    )
    (tmp_path / "rooms.yaml").write_text(more, encoding="utf-8")
    code, out = run("check", bleeding, "--baseline", "known.json")
    assert code == 1
    assert "Q2" in out
    assert "range-bleed" not in out


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, "does not exist; make it with"),
        ("[]", "is not a baseline"),
        ('{"version": 9}', "version 9"),
    ],
)
def test_a_wrong_baseline_is_named(
    run: Run, bleeding: str, tmp_path: Path, content: str | None, expected: str
) -> None:
    if content is not None:
        (tmp_path / "b.json").write_text(content, encoding="utf-8")
    code, out = run("check", bleeding, "--baseline", "b.json")
    assert (code, expected in out) == (2, True), out


def test_an_accepted_finding_is_counted_not_shown(run: Run, tmp_path: Path) -> None:
    (tmp_path / "d.yaml").write_text(page("X9").right, encoding="utf-8")
    assert run("check", "d.yaml") == (0, "listings: nothing to report. 1 accepted in place.\n")


def test_a_silence_that_silences_nothing_is_named(run: Run, tmp_path: Path) -> None:
    text = page("Q1").right + "silence: [{code: K4, reason: was needed once}]\n"
    (tmp_path / "d.yaml").write_text(text, encoding="utf-8")
    code, out = run("check", "d.yaml")
    assert code == 0
    line = len(text.splitlines())
    assert f"d.yaml:{line}:18: Unused suppression: K4." in out
    assert "Unused" not in run("check", "d.yaml", "--select", "Q")[1]


def test_a_python_design_is_checked_where_it_is_declared(run: Run, tmp_path: Path) -> None:
    (tmp_path / "made_of_data.py").write_text(
        "from keyfold.design.schema import Schema, TableSchema\n"
        "plan = Schema('plain', tables=(TableSchema('t'),))\n"
    )
    assert run("check", "made_of_data:plan") == (0, "plain: nothing to report.\n")
    code, out = run("check", "made_of_data:plam")
    assert (code, "did you mean 'plan'?" in out) == (2, True)


def test_a_broken_python_file_gives_its_place(run: Run, tmp_path: Path) -> None:
    (tmp_path / "unfinished.py").write_text("x = (\n")
    (tmp_path / "failing.py").write_text("x = 1\ny = x / 0\n")
    code, out = run("check", "unfinished:design")
    assert (code, "unfinished.py:1: '(' was never closed" in out) == (2, True)
    code, out = run("check", "failing:design")
    assert (code, "failing.py:2: ZeroDivisionError: division by zero" in out) == (2, True)
    code, out = run("check", "not_there:design")
    assert (code, "unknown module 'not_there'" in out) == (2, True)
    code, out = run("check", "what is this")
    assert (code, "give package.module:design" in out) == (2, True)


def test_no_target_asks_for_one(run: Run) -> None:
    code, out = run("check")
    assert (code, "name a design" in out) == (2, True)


def test_a_rule_that_fails_is_reported_and_the_others_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing() -> bool:
        raise ZeroDivisionError("oh")

    assert isinstance(failing, FunctionType)

    monkeypatch.setitem(RULES, "K1", DesignRule("K1", DESIGN, failing))
    report = check(loads(page("Q1").wrong))
    assert report.crashes == (Crash("K1", "ZeroDivisionError: oh"),)
    assert [finding.code for finding in report.findings] == ["Q1"]
    assert report.fails("error")
    assert "Rule K1 failed: ZeroDivisionError: oh" in text(report)


def test_colours_set_off_severity_and_templates() -> None:
    report = check(loads(page("Q1").wrong))
    shown = text(report, colour=True)
    assert "\x1b[31;1merror" in shown
    assert "\x1b[1mLISTING#…\x1b[0m" in shown


def test_a_finding_keeps_its_fingerprint_when_lines_move() -> None:
    first = check(loads(page("Q1").wrong)).findings[0]
    moved = check(loads("# a comment\n" + page("Q1").wrong)).findings[0]
    assert first.place == Place("design.yaml", 8, 3)
    assert moved.place.line == 9
    assert first.fingerprint == moved.fingerprint


def test_rule_prints_a_page_or_all_titles(run: Run) -> None:
    code, out = run("rule", "K4")
    assert code == 0
    assert out.startswith("# K4 key-collision")
    code, out = run("rule")
    assert all(rule.title in out for rule in RULES.values())
    assert run("rule", "Z9")[0] == 2


def test_a_fingerprint_has_no_words() -> None:
    first = check(loads(page("Q1").wrong)).findings[0]
    other = page("Q1").wrong.replace("LISTING#<listingId>", "LODGING#<listingId>")
    second = check(loads(other)).findings[0]
    assert first.message != second.message
    assert first.fingerprint == second.fingerprint == "Q1 Activities after"


def test_an_unknown_code_in_a_suppression_is_an_error(run: Run, tmp_path: Path) -> None:
    text = page("Q1").right + "silence: [{code: K99, reason: no such rule}]\n"
    (tmp_path / "d.yaml").write_text(text, encoding="utf-8")
    code, out = run("check", "d.yaml")
    expected = f"d.yaml:{len(text.splitlines())}:18: unknown rule 'K99'; did you mean 'K9'?"
    assert (code, expected in out) == (1, True)


def test_explain_shows_a_page_that_bleeds_and_a_key_that_collides(run: Run, tmp_path: Path) -> None:
    (tmp_path / "d.yaml").write_text(page("Q1").wrong, encoding="utf-8")
    _, out = run("check", "d.yaml", "--explain")
    assert "For example:" in out
    assert re.search(r"  `LISTING#listing1` +Listing, not asked for\n", out)
    (tmp_path / "d.yaml").write_text(page("K4").wrong, encoding="utf-8")
    _, out = run("check", "d.yaml", "--explain")
    assert re.search(r"`CUSTOMER#customer1` / `\S+` +\S+ in main\n", out)


def test_questions_are_one_list_and_fail_nothing(run: Run, tmp_path: Path) -> None:
    (tmp_path / "d.yaml").write_text(page("Q4").wrong, encoding="utf-8")
    code, out = run("check", "d.yaml")
    assert code == 0
    assert "Questions for the author" in out
    assert "1. Q4" in out
    assert run("check", "d.yaml", "--fail-on", "question")[0] == 1


CONFIGURED = [
    ('ignore = ["Q1"]', 0),
    ('select = ["K"]', 0),
    ('severity = {Q1 = "note"}', 0),
    ('severity = {Q = "warning"}', 1),
    ('fail-on = "never"', 0),
    ('paths = {"*.yaml" = {ignore = ["Q1"]}}', 0),
    ('paths = {"rooms" = {severity = {Q1 = "note"}}}', 0),
    ('paths = {"**/*.yaml" = {ignore = ["Q1"]}}', 0),
    ('paths = {"other/*.yaml" = {ignore = ["Q1"]}}', 1),
]


@pytest.mark.parametrize(("line", "expected"), CONFIGURED)
def test_a_project_chooses_its_rules(
    run: Run, bleeding: str, tmp_path: Path, line: str, expected: int
) -> None:
    (tmp_path / "keyfold.toml").write_text(f"[check]\n{line}\n", encoding="utf-8")
    assert run("check", bleeding)[0] == expected


@pytest.mark.parametrize("pattern", ["old", "old/", "old/*", "old/*.yaml", "old/**/*.yaml"])
def test_paths_are_relative_to_the_settings(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pattern: str
) -> None:
    (tmp_path / "keyfold.toml").write_text(
        f'[check.paths."{pattern}"]\nignore = ["Q1"]\n', encoding="utf-8"
    )
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "rooms.yaml").write_text(page("Q1").wrong, encoding="utf-8")
    monkeypatch.chdir(tmp_path / "new")
    assert run("check", "../old/rooms.yaml")[0] == 0
    assert run("check", "rooms.yaml")[0] == 1


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('ignore = ["Q99"]', "check.ignore: unknown rule 'Q99'"),
        ('ignor = ["Q1"]', "unknown setting check.ignor; did you mean 'ignore'?"),
        ('severity = {Q1 = "eror"}', "check.severity.Q1 cannot be 'eror'; did you mean 'error'?"),
        ('select = "Q1"', "check.select must be a list of codes"),
        ('fail-on = "warn"', "check.fail-on cannot be 'warn'; did you mean 'warning'?"),
        ('fail-on = "nevre"', "check.fail-on cannot be 'nevre'; did you mean 'never'?"),
        ('select = ["k7"]', "unknown rule 'k7'; did you mean 'K7'?"),
        ("baseline = 5", "check.baseline must be a file's name, not 5"),
        ('paths = {"*.yaml" = {select = ["Q1"]}}', "unknown setting check.paths.'*.yaml'.select"),
    ],
)
def test_a_wrong_choice_is_refused(
    run: Run, bleeding: str, tmp_path: Path, line: str, words: str
) -> None:
    (tmp_path / "keyfold.toml").write_text(f"[check]\n{line}\n", encoding="utf-8")
    code, out = run("check", bleeding)
    assert (code, words in out) == (2, True), out


def test_a_wrong_name_of_the_table_of_choices_is_told_with_the_right_one(
    run: Run, bleeding: str, tmp_path: Path
) -> None:
    (tmp_path / "keyfold.toml").write_text('[chek]\nselect = ["K7"]\n', encoding="utf-8")
    code, out = run("check", bleeding)
    assert (code, "unknown setting 'chek'; did you mean 'check'?" in out) == (2, True), out


FIXED = {
    "K8": "entities:\n  Bid:\n    key: {PK: ITEM#<itemId>, SK: BID#<amount>#<bidId>}\n"
    "    attributes: {itemId: id, amount: fixed number, bidId: id}\n",
    "K6": "entities:\n  Tag:\n    key: {PK: USER#<userId>, SK: TAG#<group>#<name>}\n"
    "    attributes: {userId: id, group: string, name: string}\n",
    "K13": "entities:\n  User:\n    key: {PK: USER#<email:lower>, SK: USER}\n"
    "    attributes: {email: fixed string}\n"
    "  Login:\n    key: {PK: LOGIN#<email>, SK: LOGIN}\n    attributes: {email: fixed string}\n",
    "W16": "tables: {main: {key: [PK, SK], ttl: ttl}}\nentities:\n  Session:\n"
    "    key: {PK: SESSION#<sessionId>, SK: SESSION}\n    ttl: {attribute: ttl}\n"
    "    attributes: {sessionId: id, ttl: timestamp epoch_ms}\n",
    "X10": "tables:\n  main:\n    key: [PK, SK]\n    indexes:\n"
    "      ByTag: {key: [GSI1PK, GSI1SK]}\n"
    "entities:\n  Post:\n    key: {PK: POST#<postId>, SK: POST}\n"
    "    attributes: {postId: id, tagId: id, title: string, body: string}\n"
    "    indexes: {ByTag: {GSI1PK: TAG#<tagId>, GSI1SK: POST#<postId>}}\n"
    "patterns:\n  By tag: {query: Post, index: ByTag, where: GSI1PK = TAG#<tagId>, limit: 9, "
    "projection: [title]}\n",
}


@pytest.mark.parametrize("rule", FIXED)
def test_what_needs_no_guess_is_fixed_in_the_file(run: Run, tmp_path: Path, rule: str) -> None:
    (tmp_path / "d.yaml").write_text(f"design: d\n{FIXED[rule]}", encoding="utf-8")
    assert rule in run("check", "d.yaml", "--fail-on", "note")[1]
    code, out = run("check", "d.yaml", "--fix", "--fail-on", "note")
    assert (code, "d.yaml: 1 fixed" in out) == (0, True), out
    assert run("check", "d.yaml", "--fix")[1] == "d: nothing to report.\n"


def test_a_python_declaration_is_fixed_in_its_file(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "mails_to_fix.py"
    source.write_text(
        "from keyfold import Design, Entity, Key\n"
        "design = Design('mails')\n"
        "table = design.table('Mails')\n"
        "class User(Entity, table=table):\n"
        "    email: str\n"
        "    key = Key('USER#{email:lower}', 'USER')\n"
        "class Login(Entity, table=table):\n"
        "    email: str\n"
        "    key = Key('LOGIN#{email}', 'LOGIN')\n",
        encoding="utf-8",
    )
    code, out = run("check", "mails_to_fix:design", "--fix")
    assert (code, "1 fixed" in out) == (0, True), out
    assert "Key('LOGIN#{email:lower}', 'LOGIN')" in source.read_text(encoding="utf-8")


def test_a_refused_declaration_is_fixed_in_its_file(run: Run, tmp_path: Path) -> None:
    """The package is imported anew after each fix: its table module held half of the design."""
    package = tmp_path / "auctions_to_fix"
    package.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "tables.py").write_text(
        "from keyfold import Design, Index\n"
        "design = Design('auctions')\n"
        "table = design.table('Auctions', indexes=[Index('ByAmount', 'gsi1pk', 'gsi1sk')])\n",
        encoding="utf-8",
    )
    source = package / "entities.py"
    source.write_text(
        "from keyfold import Entity, Id, Key, On\n"
        "from auctions_to_fix.tables import design, table\n"
        "class Sale(Entity, table=table):\n"
        "    sale_id: Id\n"
        "    key = Key('SALE#{sale_id}', 'SALE')\n"
        "class Bid(Entity, table=table):\n"
        "    sale_id: Id\n"
        "    number: int\n"
        "    amount: int\n"
        "    key = Key('SALE#{sale_id}', 'BID#{number}')\n"
        "    by_amount = On('ByAmount', 'SALE#{sale_id}', 'BID#{amount}')\n",
        encoding="utf-8",
    )
    code, out = run("check", "auctions_to_fix.entities:design", "--fix", "--fail-on", "error")
    assert (code, "entities.py: 1 fixed" in out) == (0, True), out
    fixed = source.read_text(encoding="utf-8")
    assert "'BID#{number:012d}'" in fixed
    assert "'BID#{amount:012d}'" in fixed


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("{query: Note", "{query: Nte", "reads Nte, which the design does not declare: did you"),
        ("-> Room", "-> Rom", "holds ids of Rom, which the design does not declare: did you mean"),
        ("create Note", "create Notes", "names Notes, which the design does not declare: did you"),
    ],
)
def test_a_misspelled_name_is_told_with_the_likely_one(
    run: Run, tmp_path: Path, old: str, new: str, expected: str
) -> None:
    text = """
design: rooms
entities:
  Room: {key: {PK: ROOM#<roomId>, SK: ROOM}, attributes: {roomId: id}}
  Note:
    key: {PK: ROOM#<roomId>, SK: NOTE#<noteId>}
    attributes: {roomId: id -> Room, noteId: id}
patterns:
  Notes of a room: {query: Note, where: "PK = ROOM#<roomId>, SK begins_with NOTE#", limit: 5}
operations:
  add: {does: [create Note guarded]}
"""
    (tmp_path / "d.yaml").write_text(text.replace(old, new, 1), encoding="utf-8")
    code, out = run("check", "d.yaml")
    assert (code, expected in " ".join(out.split())) == (1, True), out


def test_json_has_the_example_as_rows(run: Run, tmp_path: Path) -> None:
    (tmp_path / "d.yaml").write_text(page("Q1").wrong, encoding="utf-8")
    _, out = run("check", "d.yaml", "--format", "json")
    [finding] = json.loads(out)["findings"]
    assert finding["example"] == [
        ["`ROOM#room1` / gt `ACTIVITY#activity1`", "is what Activities after asks for"],
        ["`ACTIVITY#activity1`", "Activity"],
        ["`LISTING#listing1`", "Listing, not asked for"],
    ]
