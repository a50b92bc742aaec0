"""The studio as an ASGI application."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from keyfold.errors import KeyfoldError, TableNotFound, TransportError
from keyfold_workbench.studio import (
    data,
    document,
    drift,
    edit,
    home,
    layout,
    map,
    migrations,
    patterns,
    review,
    search,
    streams,
)
from keyfold_workbench.studio.asset import KEPT, asset
from keyfold_workbench.studio.gate import HEADERS, Gate
from keyfold_workbench.studio.late import LatePages
from keyfold_workbench.studio.markup import Html, el, text
from keyfold_workbench.studio.parts import banner, head, link, panel
from keyfold_workbench.studio.system import StudioSystem
from keyfold_workbench.studio.view import NotWritable, PageMissing, PageView

log = logging.getLogger("keyfold_workbench.studio")
Page = Callable[[PageView], Html | Response]
FORM_BYTES: Final = 2_000_000
TOKEN_WORDS: Final = (
    "Open the address that keyfold printed in the terminal, or enter its token: the text after "
    "the last equals sign."
)


def create_studio(
    systems: Sequence[StudioSystem], gate: Gate, patience: float | None = None
) -> Starlette:
    """The pages of some systems, behind a gate.

    A page that takes more than `patience` seconds arrives as a notice in its frame, and the browser
    asks again until it is ready. Without `patience`, every page is waited for.
    """
    return _Studio(systems, gate, patience).app()


class _Studio:
    def __init__(self, systems: Sequence[StudioSystem], gate: Gate, patience: float | None) -> None:
        self.systems = {system.slug: system for system in systems}
        self.gate = gate
        self.late = None if patience is None else LatePages(patience)

    def app(self) -> Starlette:
        pages: list[tuple[str, Page, str]] = [
            ("/", home.home, "GET"),
            ("/s/{system}/map", map.design_map, "GET"),
            ("/s/{system}/map/{picture}", map.picture, "GET"),
            ("/s/{system}/data", data.data, "GET"),
            ("/find", search.find_everywhere, "GET"),
            ("/s/{system}/value", data.value, "GET"),
            ("/s/{system}/find", search.find, "GET"),
            ("/s/{system}/patterns", patterns.patterns, "GET"),
            ("/s/{system}/patterns/{name}", patterns.patterns, "GET"),
            ("/s/{system}/edit", edit.edit, "GET"),
            ("/s/{system}/new", edit.new, "GET"),
            ("/s/{system}/plan", edit.plan, "POST"),
            ("/s/{system}/send", edit.send_plan, "POST"),
            ("/s/{system}/streams", streams.streams, "GET"),
            ("/s/{system}/verify", drift.verify, "POST"),
            ("/s/{system}/repair", drift.repair_chosen, "POST"),
            ("/s/{system}/letters", streams.decide_letter, "POST"),
            ("/s/{system}/document", document.document, "GET"),
            ("/s/{system}/document", document.answer_line, "POST"),
            ("/s/{system}/review", review.review, "GET"),
            ("/s/{system}/rules/{code}", review.rule, "GET"),
            ("/s/{system}/migrations", migrations.migrations, "GET"),
            ("/s/{system}/migrations", migrations.take_step, "POST"),
        ]
        routes = [
            Route("/assets/{name}", _asset),
            Route("/sign-in", self._sign_in, methods=["POST"]),
            *(Route(path, self._endpoint(page), methods=[verb]) for path, page, verb in pages),
        ]
        return Starlette(
            routes=routes, exception_handlers={404: self._not_found, 405: self._not_found}
        )

    def _endpoint(self, page: Page) -> Callable[[Request], object]:
        async def answer(request: Request) -> Response:
            response = await self._answer(request, page)
            response.headers.update(HEADERS)
            response.headers.setdefault("cache-control", "no-store")
            return response

        return answer

    async def _answer(self, request: Request, page: Page) -> Response:
        gate = self.gate
        if not gate.is_expected_host(request):
            return HTMLResponse(
                _refusal(request, "This studio only accepts requests for localhost."), 421
            )
        if (admitted := gate.exchange(request)) is not None:
            return admitted
        session = gate.session(request)
        if session is None:
            tried = "token" in request.query_params
            wrong = tried and not gate.password
            return HTMLResponse(_closed(request, password=bool(gate.password), wrong=wrong), 401)
        view = self._view(request, gate.csrf(session))
        if request.method == "POST":
            refused = await self._read_form(request, view, session)
            if refused is not None:
                return refused
        if self.late is None or request.method == "POST" or view.partial:
            return await run_in_threadpool(self._render, page, view)
        asked = session, str(request.url)
        made = await self.late.get(asked, partial(self._render, page, view))
        return await run_in_threadpool(_waiting, view) if made is None else made

    def _view(self, request: Request, csrf: str) -> PageView:
        return PageView(
            base=_base(request),
            csrf=csrf,
            systems=self.systems,
            query=dict(request.query_params),
            path={name: str(value) for name, value in request.path_params.items()},
            partial="x-part" in request.headers,
            asked=frozenset(request.headers.get("x-part", "").split()),
        )

    async def _read_form(self, request: Request, view: PageView, session: str) -> Response | None:
        if not self.gate.is_same_origin(request):
            return HTMLResponse(_refusal(request, "This request came from another site."), 403)
        fields = await _form(request)
        if fields is None:
            return HTMLResponse(_refusal(request, "The form is too large."), 413)
        lists: dict[str, list[str]] = defaultdict(list)
        for name, value in fields:
            lists[name].append(value)
        view.form, view.lists = dict(fields), lists
        if not self.gate.is_genuine(session, view.form.get("csrf", "")):
            return HTMLResponse(_refusal(request, "This form is too old. Load it again."), 403)
        return None

    def _render(self, page: Page, view: PageView) -> Response:
        try:
            made = page(view)
        except PageMissing as problem:
            return HTMLResponse(_problem(view, "Not found", str(problem)), 404)
        except NotWritable as problem:
            return HTMLResponse(_problem(view, "Read-only", str(problem)), 403)
        except TransportError as problem:
            says = f"The backend does not answer: {problem} Pages of the design still work."
            return HTMLResponse(_problem(view, "Backend unreachable", says), 503)
        except TableNotFound:
            return HTMLResponse(_problem(view, "Table missing", _missing_tables(view)), 404)
        except KeyfoldError as problem:
            return HTMLResponse(_problem(view, "Request failed", str(problem)), 400)
        except Exception:
            log.exception("a page of the studio failed")
            says = "This page failed; see the log of the studio."
            return HTMLResponse(_problem(view, "Error", says), 500)
        return HTMLResponse(made) if isinstance(made, str) else made

    async def _sign_in(self, request: Request) -> Response:
        response: Response
        if not self.gate.is_same_origin(request):
            response = HTMLResponse(_refusal(request, "This request came from another site."), 403)
        else:
            fields = dict(await _form(request) or [])
            given = fields.get("password", "")
            home_page = f"{_base(request)}/"
            admitted = self.gate.sign_in(request, given, home_page)
            response = admitted or HTMLResponse(_closed(request, password=True, wrong=True), 401)
        response.headers.update(HEADERS)
        return response

    async def _not_found(self, request: Request, _problem: Exception) -> Response:
        response: Response = RedirectResponse(f"{_base(request)}/", 303)
        if self.gate.session(request) is not None:
            says = f"No page has the address {request.url.path}."
            response = HTMLResponse(_refusal(request, says, "Not found"), 404)
        response.headers.update(HEADERS)
        return response


async def _form(request: Request) -> list[tuple[str, str]] | None:
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > FORM_BYTES:
            return None
    return parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True)


async def _asset(request: Request) -> Response:
    name = request.path_params["name"]
    found = asset(name)
    if found is None:
        return Response(status_code=404, headers=HEADERS)
    named = request.query_params.get("v") == found.digest
    headers = {**HEADERS, "cache-control": KEPT if named else "no-cache"}
    return Response(found.content, media_type=found.media_type, headers=headers)


def _base(request: Request) -> str:
    return str(request.scope.get("root_path", ""))


def _refusal(request: Request, says: str, title: str = "Refused") -> Html:
    base = _base(request)
    crumbs = [("All systems", f"{base}/"), (title, None)]
    return layout.document(base, title, head(title, says), crumbs=crumbs)


def _closed(request: Request, *, password: bool, wrong: bool = False) -> Html:
    base = _base(request)
    name, way = ("password", f"{base}/sign-in") if password else ("token", f"{base}/")
    says = "This studio needs a password." if password else TOKEN_WORDS
    box = el(
        "form.panel.pad.stack.tight.gate",
        el("label", name.capitalize(), for_=name),
        el("input", type=name if password else "text", id=name, name=name, autocomplete="off"),
        el("p.err", f"This is not the {name} of this studio.") if wrong else None,
        el("div.acts", el("button.btn.main", "Sign in", type="submit")),
        action=way,
        method="post" if password else "get",
    )
    return layout.document(base, "Sign in", text(head("Sign in", says), box))


def _missing_tables(view: PageView) -> str:
    system = view.system
    seen = system.survey.describe()
    missing = [system.physical(one.table) for one in seen.values() if one.missing]
    return (
        f"{', '.join(missing) or 'A table of this page'} is not in {system.place}. Opening the "
        "design creates missing tables; a migration may have dropped it."
    )


def _waiting(view: PageView) -> Response:
    """The frame of a page that is not ready, with links to pages that need no data."""
    systems = list(view.systems.values())
    says = (
        f"{', '.join(sorted({one.place for one in systems}))} has not answered yet. This page "
        "loads when it does. Pages of the design already work. "
    )
    again = link("", "Load it again", class_="link", data_late=True)
    maps = (el("li", link(view.of(one).at("map"), one.title, class_="link")) for one in systems)
    listed = None if "system" in view.path else panel("Maps", el("ul.links.pad", maps))
    title = "Waiting for the backend"
    body = text(head(title, ""), el("div.stack", banner("warn", says, again), listed))
    return HTMLResponse(_framed(view, title, body), 202)


def _problem(view: PageView, title: str, says: str) -> Html:
    if view.partial:
        return banner("bad", says)
    return _framed(view, title, text(head(title, ""), banner("bad", says)))


def _framed(view: PageView, title: str, body: Html) -> Html:
    """A page in the frame of its system, or of all."""
    if view.path.get("system") in view.systems:
        return view.page(title, body)
    crumbs = [("All systems", view.home()), (title, None)]
    return layout.document(view.base, title, body, crumbs=crumbs)
