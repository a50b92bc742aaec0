"""Input from strangers: whatever comes, it is answered or refused, quickly and in little memory.

Expressions, PartiQL and request bodies have fuzz tests beside their own tests; here are the rest.
"""

from __future__ import annotations

import base64
import string
from pathlib import Path

import jwt
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from keyfold import Design, Entity, Id, Key
from keyfold.design.file import loads
from keyfold.errors import CursorRefused, KeyfoldError
from keyfold.runtime.cursor import CursorKey, seal, unseal
from keyfold_engine.clock import SystemClock
from keyfold_engine.expressions import parser
from keyfold_web.development import DevelopmentTokens
from keyfold_web.problems import NotAuthenticated

KEY = CursorKey((b"k" * 32,), SystemClock())
design = Design("fuzz")
table = design.table("fuzz")


class Thing(Entity, table=table):
    thing_id: Id
    key = Key("THING#{thing_id}", "THING")


@given(st.text() | st.text(alphabet=string.ascii_letters + string.digits + "-_=", max_size=400))
@example("")
@example("=" * 1000)
def test_any_text_is_refused_as_a_cursor(text: str) -> None:
    with pytest.raises(CursorRefused):
        unseal(KEY, "scope", text)


@given(st.binary(max_size=200), st.integers(0, 400), st.integers(1, 255))
def test_a_cursor_with_one_changed_byte_is_refused(body: bytes, place: int, change: int) -> None:
    sealed = seal(KEY, "scope", {"at": base64.b64encode(body).decode()})
    raw = bytearray(base64.urlsafe_b64decode(sealed + "=" * (-len(sealed) % 4)))
    raw[place % len(raw)] ^= change
    with pytest.raises(CursorRefused):
        unseal(KEY, "scope", base64.urlsafe_b64encode(bytes(raw)).rstrip(b"=").decode())


tokens = DevelopmentTokens("secret-of-at-least-thirty-two-bytes!")


@given(st.text() | st.text(alphabet=string.ascii_letters + string.digits + ".-_", max_size=600))
@example("..")
@example("a.b.c")
@example(jwt.encode({"sub": "ada"}, "", algorithm="none"))
@example(jwt.encode({"sub": "ada"}, "another secret of thirty-two bytes", algorithm="HS256"))
async def test_any_text_is_refused_as_a_token(text: str) -> None:
    with pytest.raises(NotAuthenticated):
        await tokens.identity(text)


@given(st.text(max_size=300))
@example("design: x\ntables: [")
@example("a: &a [*a]")
@example("design: x\n" + "  " * 500 + "deep: 1")
@example("tables: {T: {key: [PK, SK, XK]}}")
@example("!!python/object/apply:os.system ['true']")
def test_any_text_is_a_design_file_or_an_explained_error(text: str) -> None:
    assert _explained(text, "fuzz.yaml") != ""


SHIPPED = sorted(Path("systems/src/keyfold_systems").glob("*/as_written.yaml"))


@given(st.sampled_from(SHIPPED), st.integers(0, 10**6), st.text(max_size=6))
def test_a_damaged_design_file_is_explained(path: Path, place: int, inserted: str) -> None:
    text = path.read_text()
    cut = place % len(text)
    assert _explained(text[:cut] + inserted + text[cut + len(inserted) :], path.name) != ""


def _explained(text: str, file: str) -> str | None:
    """Why a design file was refused; None where it was read."""
    try:
        loads(text, file=file)
    except KeyfoldError as refused:
        return str(refused)
    return None


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5000 + "a = :a" + ")" * 5000,
        " AND ".join(["a = :a"] * 2000),
        "NOT " * 3000 + "a = :a",
        "a IN (" + ", ".join(":a" for _ in range(3000)) + ")",
        "a[" + "9" * 3000 + "] = :a",
    ],
)
def test_expressions_built_to_hurt_are_refused(text: str) -> None:
    with pytest.raises(KeyfoldError):
        parser.condition(text)


@given(st.text(max_size=50))
def test_any_id_addresses_one_item_or_is_refused(text: str) -> None:
    try:
        key = Thing.key(thing_id=text).wire()
    except KeyfoldError:
        return
    assert key["PK"]["S"] == f"THING#{text}"
    assert "#" not in text
