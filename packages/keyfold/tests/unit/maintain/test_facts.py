"""Facts and their difference: what is one address, and how little is rendered."""

from __future__ import annotations

from typing import Annotated, Any

import pytest

from keyfold import Counter, Design, Entity, Id, Key, Pointer, Unique
from keyfold.design.keys import Key as DeclaredKey
from keyfold.errors import PlanError
from keyfold.runtime.intent import Delete, Intent, Put, Update

design = Design("special")
table = design.table("Special")


class Note(Entity, table=table):
    note_id: Id
    text: str = ""
    readers: list[str] = []
    lists: set[str] = set()
    shelf: int = 0
    key = Key("NOTE#{note_id}", "NOTE")


class NoteOf(Pointer[Note], table=table, each="readers"):
    """Two spellings of one reader are one key."""

    reader: str
    note_id: Id
    text: str
    key = Key("READER#{reader:lower}", "NOTE#{note_id}")


class NoteIn(Pointer[Note], table=table, each="lists"):
    one_list: str
    note_id: Id
    text: str
    key = Key("LIST#{one_list}", "NOTE#{note_id}")


class Shelf(Entity, table=table):
    shelf: str
    books: Annotated[int, Counter("Book", via={"shelf": "stands_on"})] = 0
    key = Key("SHELF#{shelf:lower}", "SHELF")


class Book(Entity, table=table):
    book_id: Id
    stands_on: str | None = None
    isbn: str | None = None
    key = Key("BOOK#{book_id}", "BOOK")
    one_isbn = Unique("isbn", normalise=str.lower)


design.complete()
STRUCTURES = {m.label: m for m in design.maintainers}


def writes(label: str, old: Entity | None, new: Entity | None) -> list[Intent]:
    return list(STRUCTURES[label].writes(old, new))


def note(**values: Any) -> Note:
    return Note(note_id="n", **values)


def test_a_reader_in_another_spelling_keeps_its_copy() -> None:
    (write,) = writes("pointer NoteOf", note(readers=["ada"]), note(readers=["Ada"]))
    assert not isinstance(write, Delete)


def test_two_spellings_of_one_reader_are_refused() -> None:
    with pytest.raises(PlanError, match="'Ada' and 'ada' have the same key, NoteOf"):
        writes("pointer NoteOf", None, note(readers=["Ada", "ada"]))


def test_one_of_two_spellings_taken_away_leaves_the_copy() -> None:
    """Such items may be stored: from another program, or from before they were refused."""
    stored = note(readers=["Ada", "ada"])
    assert writes("pointer NoteOf", stored, note(readers=["ada"])) == []
    (gone,) = writes("pointer NoteOf", stored, None)
    assert isinstance(gone, Delete)


def test_a_target_named_twice_is_one_copy() -> None:
    assert len(writes("pointer NoteOf", None, note(readers=["a", "a"]))) == 1


def test_a_holder_in_another_spelling_is_the_same_holder() -> None:
    old, new = Book(book_id="b", stands_on="A"), Book(book_id="b", stands_on="a")
    assert writes("counter Shelf.books", old, new) == []


def test_a_claim_in_another_spelling_is_the_same_claim() -> None:
    old, new = Book(book_id="b", isbn="X"), Book(book_id="b", isbn="x")
    assert writes("unique Book.isbn", old, new) == []


@pytest.fixture
def rendered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The attributes of keys that are rendered, in order."""
    seen: list[str] = []
    render = DeclaredKey._render

    def counted(self: Any, values: Any) -> Any:
        seen.extend(f"{self.owner} {one.attribute}" for one in self.attributes)
        return render(self, values)

    monkeypatch.setattr(DeclaredKey, "render", counted)
    return seen


TEN = {f"l{n}" for n in range(10)}


def test_what_stays_as_it_is_is_not_rendered(rendered: list[str]) -> None:
    assert writes("pointer NoteIn", note(lists=TEN), note(lists=TEN, shelf=2)) == []
    assert rendered == []


def test_only_what_is_written_is_rendered(rendered: list[str]) -> None:
    changed = writes("pointer NoteIn", note(lists=TEN), note(lists=TEN, text="new"))
    assert len(changed) == 10
    for write in changed:
        (write.new.ref() if isinstance(write, Put) else write.ref).wire()  # type: ignore[union-attr]
    assert len(rendered) == 20, "two attributes for each of ten copies"


def test_a_target_that_goes_renders_its_own_key_alone(rendered: list[str]) -> None:
    gone = writes("pointer NoteIn", note(lists=TEN), note(lists=TEN - {"l0"}))
    assert [type(write) for write in gone] == [Delete]
    assert len(rendered) == 2


def test_a_number_that_does_not_move_renders_nothing(rendered: list[str]) -> None:
    old, new = Book(book_id="b", stands_on="a"), Book(book_id="b", stands_on="a", isbn="1")
    assert writes("counter Shelf.books", old, new) == []
    assert rendered == []
    assert isinstance(writes("counter Shelf.books", None, new)[0], Update)


def test_a_write_renders_the_key_of_each_item_once(rendered: list[str]) -> None:
    with design.open(":memory:") as db:
        db.create(note(lists={"a", "b"}))
        assert sorted(rendered) == ["Note PK", "Note SK", *["NoteIn PK"] * 2, *["NoteIn SK"] * 2]
        rendered.clear()
        db.update(Note.key(note_id="n"), text="new")
        assert sorted(rendered) == ["Note PK", "Note SK", *["NoteIn PK"] * 2, *["NoteIn SK"] * 2]
