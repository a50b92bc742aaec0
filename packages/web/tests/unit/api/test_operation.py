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
    subscription,
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


def rule_as_text() -> None:
    class Wrong(Service):
        @query("/things", allow="anyone")  # type: ignore[arg-type]
        async def things(self) -> list[Thing]: ...


def function_as_rule() -> None:
    async def member(_service: object, _caller: Identity, _arguments: Arguments) -> bool:
        return True

    class Wrong(Service):
        @query("/things", allow=member)  # type: ignore[arg-type]
        async def things(self) -> list[Thing]: ...


def function_combined_with_a_rule() -> None:
    def member(_service: object, _caller: Identity, _arguments: Arguments) -> bool:
        return True

    class Wrong(Service):
        @query("/things", allow=member | admin)  # type: ignore[arg-type]
        async def things(self) -> list[Thing]: ...


def rule_combined_with_text() -> None:
    class Wrong(Service):
        @query("/things", allow=admin & "anyone")  # type: ignore[operator]
        async def things(self) -> list[Thing]: ...


def itself_without_parameter() -> None:
    class Wrong(Service):
        @query("/things", allow=itself)  # type: ignore[arg-type]
        async def things(self) -> list[Thing]: ...


def itself_of_another_parameter() -> None:
    class Wrong(Service):
        @query("/agents/{agent}", allow=itself("agent_id") | admin)
        async def read(self, agent: str) -> Thing: ...


def itself_of_no_field() -> None:
    class Wrong(Service):
        @mutation("/things", allow=authenticated & itself("input.nam"))
        async def add(self, input: Thing) -> Thing: ...


def itself_of_the_callers_name() -> None:
    class Wrong(Service):
        @query("/agents/{agent_id}", allow=itself("agentId"))
        async def read(self, agent_id: str) -> Thing: ...


def no_rule() -> None:
    class Wrong(Service):
        @query("/things")  # type: ignore[call-arg]
        async def things(self) -> list[Thing]: ...


def no_options() -> None:
    class Wrong(Service):
        @query  # type: ignore[call-arg, arg-type]
        async def things(self) -> list[Thing]: ...  # type: ignore[misc]


def unknown_option() -> None:
    class Wrong(Service):
        @query("/things", alow=anyone)  # type: ignore[call-arg]
        async def things(self) -> list[Thing]: ...


def no_path() -> None:
    class Wrong(Service):
        @mutation(allow=anyone)  # type: ignore[call-arg]
        async def add(self) -> None: ...


def subscription_without_rule() -> None:
    class Wrong(Service):
        @subscription()  # type: ignore[call-arg]
        async def things(self) -> Thing: ...


def unknown_method() -> None:
    class Wrong(Service):
        @mutation("/things", allow=anyone, method="PSOT")  # type: ignore[arg-type]
        async def add(self) -> None: ...


def method_in_lower_case() -> None:
    class Wrong(Service):
        @mutation("/things", allow=anyone, method="put")  # type: ignore[arg-type]
        async def add(self) -> None: ...


def status_as_text() -> None:
    class Wrong(Service):
        @mutation("/things", allow=anyone, status="201")  # type: ignore[arg-type]
        async def add(self) -> None: ...


def status_of_an_error() -> None:
    class Wrong(Service):
        @mutation("/things", allow=anyone, status=404)
        async def add(self) -> None: ...


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
    rule_as_text: "O19 .*things: 'anyone' is not a rule. Give the rule, without quotes: anyone",
    function_as_rule: "O19 .*things: member is not a rule. Decorate it with @rule",
    function_combined_with_a_rule: "O19 member is not a rule. Decorate it with @rule",
    rule_combined_with_text: "O19 'anyone' is not a rule. Give the rule, without quotes",
    itself_without_parameter: "O19 .*things: itself is not a rule. Name the parameter",
    itself_of_another_parameter: "O19 .*read: .*'agent_id'.* Did you mean 'agent'",
    itself_of_no_field: "O19 .*add: .*'input.nam'.* no 'nam'. Did you mean 'name'",
    itself_of_the_callers_name: "O19 .*read: .*'agentId'.* Did you mean 'agent_id'",
    no_rule: "O19 @query.'/things'.: it does not say who may call it. Add allow=anyone",
    no_options: "O19 .*things: it does not say who may call it. Add allow=anyone",
    unknown_option: "O20 @query.'/things'.: there is no option alow=. Did you mean 'allow'",
    no_path: "O20 @mutation.*path.* Write it as @mutation.path, .*, allow",
    subscription_without_rule: "O19 @subscription.*who may call it",
    unknown_method: "O20 .*add: method='PSOT'.* Did you mean 'POST'",
    method_in_lower_case: "O20 .*add: method='put'.* Did you mean 'PUT'",
    status_as_text: "O20 .*add: status='201'.* Choose 200 to 299",
    status_of_an_error: "O20 .*add: status=404.* Choose 200 to 299",
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
        @mutation("/things/{thing_id}/{user_id}", allow=chosen)  # type: ignore[arg-type]
        async def act(self, thing_id: str, user_id: str, input: Thing) -> None: ...

    callers = {one.id: one for one in (ANONYMOUS, MIA, SAM, ROOT)}
    arguments = {"thing_id": "public", "user_id": "sam", "input": Thing(name="mia")}
    verdicts = await Things().verdicts("act", callers, **arguments)
    assert {who for who, verdict in verdicts.items() if verdict == 200} == allowed
    assert verdicts[""] in (200, 401)
