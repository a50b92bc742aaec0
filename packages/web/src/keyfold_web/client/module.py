"""The source of a client module: models, errors, and a method for each operation."""

from __future__ import annotations

import re
from collections import defaultdict

from pydantic.alias_generators import to_snake

from keyfold import literals
from keyfold_web.client.types import TypeWriter
from keyfold_web.parameters import Operation, Parameter
from keyfold_web.service import Service

_HEAD = '''"""A client of {name}, written by `keyfold client`.

Needs httpx and pydantic. Write it again when the service changes.
"""

from __future__ import annotations

{imports}

Item = TypeVar("Item")
Kind = TypeVar("Kind")
_JSON: TypeAdapter[Any] = TypeAdapter(Any)


class Model(BaseModel):
    """A value that the service takes or gives."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True)

    def model_post_init(self, _: object) -> None:
        # The discriminator of a union is sent even if it was not given.
        for name, field in type(self).model_fields.items():
            if get_origin(field.annotation) is Literal and len(get_args(field.annotation)) == 1:
                self.__pydantic_fields_set__.add(name)


class Page(Model, Generic[Item]):
    """Items, and the cursor to go on with."""

    items: list[Item]
    cursor: str | None = None


class FieldProblem(Model):
    """What is wrong with one field."""

    path: str
    message: str


class Problem(Exception):
    """The service said no: `status`, `code`, `detail`, and `fields` where input was wrong."""

    def __init__(self, answer: httpx.Response) -> None:
        try:
            given = answer.json()
        except ValueError:
            given = None
        # A proxy may answer in its own format.
        body = given if isinstance(given, dict) else {{}}
        self.status = answer.status_code
        self.code = str(body.get("code", "UNKNOWN"))
        self.detail = str(body.get("detail", answer.reason_phrase))
        self.fields = [FieldProblem.model_validate(one) for one in body.get("errors") or []]
        self.retry_after = answer.headers.get("retry-after")
        super().__init__(f"{{self.status}} {{self.code}}: {{self.detail}}")


'''

_CLIENT = """class {name}Client:
    {documentation}

    def __init__(
        self,
        base_url: str,
        *,
        token: str | None = None,
        transport: httpx.{transport} | None = None,
        timeout: float = 10.0,
    ) -> None:
        headers = {{"authorization": f"Bearer {{token}}"}} if token else {{}}
        self._http = httpx.{client}(
            base_url=base_url.rstrip("/"), headers=headers, transport=transport, timeout=timeout
        )

    async def close(self) -> None:
        await self._http.{close}()

    async def __{enter}__(self) -> {name}Client:
        return self

    async def __{exit}__(self, *_: object) -> None:
        await self.close()

    async def _send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str | None] | None = None,
        body: object = None,
    ) -> bytes:
        kept = {{name: value for name, value in (query or {{}}).items() if value is not None}}
        sent = {{name: value for name, value in (headers or {{}}).items() if value is not None}}
        content = None
        if body is not None:
            content = _JSON.dump_json(body, by_alias=True, exclude_unset=True)
            sent["content-type"] = "application/json"
        answer = await self._http.request(
            method, path, params=kept, headers=sent, content=content
        )
        if not answer.is_success:
            raise Problem(answer)
        return answer.content

    def _read(self, kind: TypeAdapter[Kind], content: bytes) -> Kind:
        return kind.validate_json(content)
"""

_TAIL = """

def _part(value: object) -> str:
    text = str(_plain(value))
    if text in ("", ".", ".."):
        raise ValueError(f"{text!r} cannot be a part of a path: it would lead elsewhere")
    return quote(text, safe="")


def _given(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _plain(value: object) -> Any:
    return to_jsonable_python(value)


def _tag(version: int | None) -> str | None:
    return None if version is None else f'"{version}"'
"""

_IMPORTS = {
    ("collections.abc", "Mapping"),
    ("typing", "Any"),
    ("typing", "Generic"),
    ("typing", "Literal"),
    ("typing", "TypeVar"),
    ("typing", "get_args"),
    ("typing", "get_origin"),
    ("urllib.parse", "quote"),
}
_PACKAGES = """
import httpx
from pydantic import BaseModel, ConfigDict, TypeAdapter
from pydantic.alias_generators import to_camel
from pydantic_core import to_jsonable_python"""


def client_source(service: type[Service], *, asynchronous: bool = True) -> str:
    """The whole module, with the service's operations and types."""
    types = TypeWriter()
    methods = [_method(one, types) for one in service.operations.values()]
    adapters = [_adapter(one, types) for one in service.operations.values()]
    name = "".join(part.title() for part in re.split(r"\W+", service.name))
    doc = (service.__doc__ or f"Operations of {service.name}.").strip().partition("\n")[0]
    client = _CLIENT.format(
        name=name,
        documentation=literals.docstring(doc),
        transport="AsyncBaseTransport" if asynchronous else "BaseTransport",
        client="AsyncClient" if asynchronous else "Client",
        close="aclose" if asynchronous else "close",
        enter="aenter" if asynchronous else "enter",
        exit="aexit" if asynchronous else "exit",
    )
    if not asynchronous:
        client, methods = _synchronous(client), [_synchronous(one) for one in methods]
    head = _HEAD.format(name=service.name, imports=_imports(types))
    classes = "\n\n\n".join(types.classes.values())
    read = "\n".join(one for one in adapters if one)
    return head + classes + "\n\n\n" + read + "\n\n\n" + client + "\n" + "\n".join(methods) + _TAIL


def _synchronous(source: str) -> str:
    return source.replace("async def", "def").replace("await ", "")


def _imports(types: TypeWriter) -> str:
    by_module: dict[str, set[str]] = defaultdict(set)
    for module, name in types.imports | _IMPORTS:
        by_module[module].add(name)
    lines = [f"from {module} import {', '.join(sorted(by_module[module]))}" for module in by_module]
    return "\n".join(sorted(lines)) + "\n" + _PACKAGES


def _method_name(one: Operation) -> str:
    """An operation's method name; `close` is reserved for the client's connections."""
    name = to_snake(one.name)
    return f"{name}_" if name == "close" else name


def _constant(one: Operation) -> str:
    return f"_{to_snake(one.name).upper()}"


def _answer_type(one: Operation, types: TypeWriter) -> str:
    if one.item is not None:
        return f"Page[{types.source_of(one.item)}]"
    return types.source_of(one.result)


def _adapter(one: Operation, types: TypeWriter) -> str:
    if one.result is type(None):
        return ""
    written = _answer_type(one, types)
    return f"{_constant(one)}: TypeAdapter[{written}] = TypeAdapter({written})"


def _method(one: Operation, types: TypeWriter) -> str:
    required = [_argument(parameter, types) for parameter in one.parameters if parameter.required]
    optional = [
        _argument(parameter, types) for parameter in one.parameters if not parameter.required
    ]
    if one.page is not None:
        optional += ["limit: int | None = None", "cursor: str | None = None"]
    if one.takes_request_id:
        optional.append("request_id: str | None = None")
    if one.takes_version:
        optional.append("expected_version: int | None = None")
    arguments = ["self", *required, *(["*"] if optional else []), *optional]
    signature = "".join(f"        {argument},\n" for argument in arguments)
    send = "".join(f"            {argument},\n" for argument in _request_arguments(one))
    returned = _answer_type(one, types)
    lines = [f"    async def {_method_name(one)}(\n{signature}    ) -> {returned}:"]
    if one.summary:
        lines.append(f"        {literals.docstring(one.summary)}")
    call = f"await self._send(\n{send}        )"
    if one.result is type(None):
        lines.append(f"        {call}")
    else:
        lines += [
            f"        content = {call}",
            f"        return self._read({_constant(one)}, content)",
        ]
    return "\n".join(lines) + "\n"


def _argument(parameter: Parameter, types: TypeWriter) -> str:
    written = types.source_of(parameter.annotation)
    if parameter.required:
        return f"{parameter.name}: {written}"
    # Omitted arguments are not sent: the service has the default.
    written = written if "None" in written.split(" | ") else f"{written} | None"
    return f"{parameter.name}: {written} = None"


def _request_arguments(one: Operation) -> list[str]:
    by_public = {parameter.public: parameter.name for parameter in one.parameters}
    path = re.sub(r"\{(\w+)\}", lambda match: f"{{_part({by_public[match[1]]})}}", one.path)
    sent = [f'"{one.verb}"', f'f"{path}"' if "{" in path else f'"{path}"']
    query = {p.public: p.name for p in one.parameters if p.place == "query"}
    if one.page is not None:
        query |= {"limit": "limit", "cursor": "cursor"}
    if query:
        pairs = ", ".join(f'"{public}": _plain({name})' for public, name in query.items())
        sent.append(f"query={{{pairs}}}")
    headers = []
    if one.takes_request_id:
        headers.append('"idempotency-key": request_id')
    if one.takes_version:
        headers.append('"if-match": _tag(expected_version)')
    if headers:
        sent.append(f"headers={{{', '.join(headers)}}}")
    if one.body_parameter is not None:
        sent.append(f"body={one.body_parameter}")
    elif given := [parameter for parameter in one.parameters if parameter.place == "body"]:
        fields = [f'"{p.public}": {p.name}' for p in given if p.required]
        if optional := [f'"{p.public}": {p.name}' for p in given if not p.required]:
            fields.append(f"**_given({{{', '.join(optional)}}})")
        sent.append(f"body={{{', '.join(fields)}}}")
    return sent
