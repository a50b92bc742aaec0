"""One word, one meaning: a class name stands once in the whole tree."""

from __future__ import annotations

import ast
import re
from collections import defaultdict

from tests.parts import DISTRIBUTED, files, module

NAMELESS = {"utils", "util", "helpers", "helper", "common", "base", "misc", "manager", "support"}
# A participle says that something is done, not what the module holds.
NAMELESS |= {"reading", "merging", "looking", "counting", "posting", "switching", "reaching"}
NAMELESS |= {"verifying", "following", "scanning", "shaping", "carrying", "restoring", "writing"}

# A participle alone is a riddle as the name of a function: what was told, kept, made?
RIDDLES = {"told", "said", "kept", "found", "made", "taken", "known", "seen", "shown", "left"}
RIDDLES |= {"gone", "sent", "held", "brought", "carried", "asked", "called", "moved", "joined"}


def _public_classes() -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for path in files("*.py", DISTRIBUTED):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].add(module(path))
    return found


def test_a_class_name_means_one_thing() -> None:
    assert {name: places for name, places in _public_classes().items() if len(places) > 1} == {}


def test_modules_are_nouns_of_what_they_hold() -> None:
    assert [path for path in files("*.py") if path.stem in NAMELESS] == []


def test_functions_say_what_they_do_or_return() -> None:
    riddle = re.compile(rf"^ *(?:async )?def (_*(?:{'|'.join(sorted(RIDDLES))})_*)\(", re.MULTILINE)
    riddles = [
        f"{module(path)}: {name}"
        for path in files("*.py")
        for name in riddle.findall(path.read_text())
    ]
    assert riddles == []
