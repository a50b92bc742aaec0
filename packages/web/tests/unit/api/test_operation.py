"""Declaring operations."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from keyfold.design import Page
from keyfold.errors import DeclarationError
from keyfold_web import (
    ANONYMOUS,
    Arguments,
    Identity,
    PageRequest,
    Payload,
    Service,
    admin,
    anyone,
    authenticated,
    itself,
    mutation,
    query,
    rule,
)


class Thing(Payload):
    name: str


def not_async() -> None:
    class Wrong(Service):
        @query("/things", allow=anyone)  # type: ignore[arg-type]
        def things(self) -> list[Thing]:
            return []


def path_without_parameter() -> None:
    class Wrong(Service):
        @query("/things/{thing_id}", allow=anyone)
        async def thing(self) -> Thing: ...


def no_result_type() -> None:
    class Wrong(Service):
        @query("/things", allow=anyone)
        async def things(self): ...  # type: ignore[no-untyped-def]


def no_parameter_type() -> None:
    class Wrong(Service):
        @query("/things", allow=anyone)
        async def things(self, kind) -> list[Thing]: ...  # type: ignore[no-untyped-def]


def page_without_page_result() -> None:
    class Wrong(Service):
        @query("/things", allow=anyone)
        async def things(self, page: PageRequest) -> list[Thing]: ...


def relative_path() -> None:
    class Wrong(Service):
        @query("things", allow=anyone)
        async def things(self) -> list[Thing]: ...


def path_of_a_page() -> None:
    class Wrong(Service):
        @query("/docs", allow=anyone)
        async def things(self) -> list[Thing]: ...


def model_in_a_query() -> None:
    class Wrong(Service):
        @query("/things", allow=anyone)
        async def things(self, like: Thing) -> list[Thing]: ...


def model_beside_others_in_the_body() -> None:
    class Wrong(Service):
        @mutation("/things", allow=anyone)
        async def add(self, thing: Thing, note: str) -> Thing: ...


def one_name_twice() -> None:
    class Wrong(Service):
        @query("/things", allow=anyone, name="things")
        async def first(self) -> list[Thing]: ...

        @query("/other", allow=anyone, name="things")
        async def second(self) -> list[Thing]: ...


def one_path_twice() -> None:
    class Wrong(Service):
        @query("/things/{one}", allow=anyone)
        async def first(self, one: str) -> Thing: ...

        @query("/things/{other}", allow=anyone)
        async def second(self, other: str) -> Thing: ...


def unknown_type() -> None:
    class Wrong(Service):
        @query("/things", allow=anyone)
        async def things(self) -> Nowhere: ...  # type: ignore[name-defined]  # noqa: F821


WRONG: dict[Callable[[], None], str] = {
    not_async: "O1 .*things.*async def",
    path_without_parameter: r"O3 .*thing_id",
    no_result_type: "O4 .*result",
    no_parameter_type: "O4 .*kind",
    page_without_page_result: "O5 .*Page",
    relative_path: "O6 .*things",
    path_of_a_page: "O7 .*docs",
    model_in_a_query: "O8 .*like",
    model_beside_others_in_the_body: "O9 .*note",
    one_name_twice: "O10 .*things",
    one_path_twice: "O10 .*second and first",
    unknown_type: "O4 .*Nowhere",
}


@pytest.mark.parametrize(
    ("declare", "message"), WRONG.items(), ids=[declare.__name__ for declare in WRONG]
)
def test_a_wrong_declaration_fails_when_the_class_is_made(
    declare: Callable[[], None], message: str
) -> None:
    with pytest.raises(DeclarationError, match=message):
        declare()


def test_an_operation_is_read_from_its_signature() -> None:
    class GoodThings(Service):
        @query("/things/{thing_id}/parts", allow=authenticated)
        async def parts_of(
            self, thing_id: str, page: PageRequest, caller: Identity, kind: str = "any"
        ) -> Page[Thing]:
            """The parts.

            All of them.
            """
            return Page([])

    (operation,) = GoodThings.operations.values()
    assert GoodThings.name == "good-things"
    assert (operation.name, operation.verb) == ("partsOf", "GET")
    assert operation.path == "/things/{thingId}/parts"
    assert (operation.summary, operation.description) == ("The parts.", "All of them.")
    assert [(one.public, one.place) for one in operation.parameters] == [
        ("thingId", "path"),
        ("kind", "query"),
    ]
    assert (operation.caller, operation.page, operation.item) == ("caller", "page", Thing)


def test_a_service_inherits_operations() -> None:
    class First(Service):
        @query("/things", allow=anyone)
        async def things(self) -> list[Thing]: ...

    class Second(First):
        @query("/more", allow=anyone)
        async def more(self) -> list[Thing]: ...

    assert list(Second.operations) == ["things", "more"]


@rule
def named_mia(_service: object, caller: Identity, _arguments: Arguments) -> bool:
    return caller.id == "mia"


@rule(anonymous=True)
async def public_thing(_service: object, _caller: Identity, arguments: Arguments) -> bool:
    return bool(arguments["thing_id"] == "public")


MIA, SAM, ROOT = Identity.of("mia"), Identity.of("sam"), Identity.of("root", "admin")


@pytest.mark.parametrize(
    ("chosen", "allowed"),
    [
        (anyone, {"", "mia", "sam", "root"}),
        (authenticated, {"mia", "sam", "root"}),
        (admin, {"root"}),
        (named_mia, {"mia"}),
        (named_mia | admin, {"mia", "root"}),
        (named_mia & admin, set()),
        (authenticated & (named_mia | admin), {"mia", "root"}),
        (public_thing, {"", "mia", "sam", "root"}),
        (public_thing & authenticated, {"mia", "sam", "root"}),
        (itself("user_id"), {"sam"}),
        (itself("input.name"), {"mia"}),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
async def test_rules_combine(chosen: object, allowed: set[str]) -> None:
    class Things(Service):
        @mutation("/things/{thing_id}", allow=chosen)  # type: ignore[arg-type]
        async def act(self, thing_id: str) -> None: ...

    callers = {one.id: one for one in (ANONYMOUS, MIA, SAM, ROOT)}
    arguments = {"thing_id": "public", "user_id": "sam", "input": Thing(name="mia")}
    verdicts = await Things().verdicts("act", callers, **arguments)
    assert {who for who, verdict in verdicts.items() if verdict == 200} == allowed
    assert verdicts[""] in (200, 401)
