"""One ASGI application for one or several services.

    app = create_app([Inviter(db)], ApiSettings(development=True))

Each service is under its name: `/inviter/docs`, `/inviter/groups/{groupId}/feed`,
`/inviter/graphql`. Beside them are the index at `/`, `/health`, `/ready`, `/metrics` and, in
development, `/sign-in`.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import BaseRoute, Mount, Route

from keyfold.errors import DeclarationError
from keyfold.runtime.budget import OnLoop
from keyfold_engine import prometheus
from keyfold_web import metrics, pages
from keyfold_web.auth import Tokens
from keyfold_web.cors import cross_origin
from keyfold_web.development import DevelopmentTokens, sign_in_route
from keyfold_web.dispatch import Dispatch, OperationMetrics
from keyfold_web.examples import Examples, examples_route
from keyfold_web.graphql import graphql_routes
from keyfold_web.guards import AdminPages, LocalHosts
from keyfold_web.identity import Identity
from keyfold_web.middleware import RequestScope
from keyfold_web.page import PATH as PAGE_PATH
from keyfold_web.page import ServicePage, page_folder
from keyfold_web.ratelimit import RateLimit
from keyfold_web.rest import problem_handlers, rest_app
from keyfold_web.service import Service

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

log = logging.getLogger("keyfold_web")
_PAGES = ("docs", "graphql", "design", "openapi.json")
RESERVED_NAMES = (
    "app",
    "assets",
    "events",
    "events.json",
    "health",
    "metrics",
    "ready",
    "services",
    "sign-in",
    "studio",
)


@dataclass(frozen=True)
class ApiSettings:
    """Configuration of the served application; development mode adds `/sign-in` and
    introspection.

    `people` are the users offered at the development sign-in, and `examples` the values that fill
    its forms, both by service name. `origins` may call the services from a browser. `open_pages`
    shows documentation, designs and metrics to everybody; otherwise only administrators see them,
    except in development.
    """

    development: bool = False
    tokens: Tokens | None = None
    people: Mapping[str, Sequence[Identity]] = field(default_factory=dict)
    examples: Mapping[str, Examples] = field(default_factory=dict)
    limit: RateLimit | None = None
    tracer: Tracer | None = None
    origins: Sequence[str] = ()
    open_pages: bool = False
    on_loop: OnLoop = "log"
    registry: metrics.MetricRegistry = field(default_factory=metrics.MetricRegistry)


def create_app(services: Sequence[Service], settings: ApiSettings | None = None) -> Starlette:
    """The application; it starts and stops the services."""
    chosen = settings or ApiSettings()
    tokens = chosen.tokens
    if tokens is None and chosen.development:
        tokens = DevelopmentTokens()
    counted = OperationMetrics(chosen.registry)
    dispatches = [
        Dispatch(
            one,
            metrics=counted,
            limit=chosen.limit,
            tracer=chosen.tracer,
            on_loop=chosen.on_loop,
        )
        for one in services
    ]
    names = [one.name for one in services]
    if twice := {name for name in names if names.count(name) > 1}:
        raise DeclarationError(
            "O12",
            f"two services are named {', '.join(sorted(twice))}.",
            suggestion='Give one another name: class Clubs(Service, name="...").',
        )
    routes: list[BaseRoute] = []
    for dispatch in dispatches:
        app = _service_app(dispatch, tokens, chosen)
        routes.append(Mount(f"/{_mount_name(dispatch)}", app))
    routes += _own_routes(services, chosen)
    if chosen.development and isinstance(tokens, DevelopmentTokens):
        routes.append(sign_in_route(tokens))
    return Starlette(
        routes=routes,
        middleware=_middleware(chosen, tokens, names),
        exception_handlers=problem_handlers(),
        lifespan=_lifespan(dispatches),
    )


def _middleware(
    settings: ApiSettings, tokens: Tokens | None, names: Sequence[str]
) -> list[Middleware]:
    around = [Middleware(RequestScope)]
    if settings.development:
        around.insert(1, Middleware(LocalHosts))
    elif not settings.open_pages:
        shown = [f"/{name}/{page}" for name in names for page in _PAGES]
        around.append(Middleware(AdminPages, ["/", "/metrics", *shown], tokens))
    if settings.origins:
        around.insert(1, cross_origin(settings.origins))
    if settings.tracer is not None:
        from keyfold_web.spans import Continued

        around.insert(0, Middleware(Continued))
    return around


def _mount_name(dispatch: Dispatch) -> str:
    name = dispatch.service.name
    if name in RESERVED_NAMES:
        raise DeclarationError("O12", f"a service cannot be named {name!r}.")
    return name


def _service_app(dispatch: Dispatch, tokens: Tokens | None, settings: ApiSettings) -> Starlette:
    service = type(dispatch.service)
    app = rest_app(dispatch, tokens)
    app.router.routes += graphql_routes(
        dispatch, tokens, introspection=settings.development, origins=settings.origins
    )

    def page_route(path: str, page: str | Callable[[], str]) -> Route:
        async def show(_request: Request) -> Response:
            return HTMLResponse(page if isinstance(page, str) else page())

        return Route(path, show)

    shown = pages.DocumentedService(
        service.title,
        _links(service),
        settings.people.get(service.name, ()),
        development=settings.development,
    )
    app.router.routes += [
        page_route("/docs", pages.swagger(shown)),
        page_route("/graphql", pages.explorer(shown)),
    ]
    if (examples := settings.examples.get(service.name)) is not None:
        app.router.routes.append(examples_route(service.operations.values(), examples))
    if _has_design(service):
        app.router.routes.append(page_route("/design", cache(partial(_design_document, service))))
    if (page := _page(service, settings)) is not None:
        app.router.routes[:0] = page.routes()
    return app


def _page(service: type[Service], settings: ApiSettings) -> ServicePage | None:
    folder = page_folder(service)
    if folder is None:
        return None
    frame = pages.Frame(
        service.title,
        _description(service),
        settings.people.get(service.name, ()),
        development=settings.development,
        sockets=find_spec("websockets") is not None,
        has_script=(folder / "page.js").is_file(),
        has_style=(folder / "page.css").is_file(),
    )
    return ServicePage(folder, frame)


def _has_design(service: type[Service]) -> bool:
    return getattr(service, "design", None) is not None


def _design_document(service: type[Service]) -> str:
    from keyfold.review import docs

    return docs.html(docs.document(service.design.schema))


def _own_routes(services: Sequence[Service], settings: ApiSettings) -> list[BaseRoute]:
    systems = [_system(type(one)) for one in services]
    with_page = [one.name for one in services if page_folder(type(one)) is not None]

    people = list(dict.fromkeys(one for those in settings.people.values() for one in those))

    async def index(_request: Request) -> Response:
        return HTMLResponse(pages.index(systems, people, development=settings.development))

    async def health(_request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def ready(_request: Request) -> Response:
        verdicts = {one.name: await _is_ready(one) for one in services}
        return JSONResponse(verdicts, 200 if all(verdicts.values()) else 503)

    async def serve_metrics(_request: Request) -> Response:
        return PlainTextResponse(settings.registry.text(), media_type=prometheus.CONTENT_TYPE)

    async def asset(request: Request) -> Response:
        return pages.asset_response(request.path_params["name"])

    async def only_page(_request: Request) -> Response:
        return RedirectResponse(f"{with_page[0]}{PAGE_PATH}", 303)

    return [
        *([Route("/app", only_page)] if len(with_page) == 1 else []),
        Route("/", index),
        Route("/health", health),
        Route("/ready", ready),
        Route("/metrics", serve_metrics),
        Route("/assets/{name}", asset),
    ]


async def _is_ready(service: Service) -> bool:
    try:
        return await service.ready()
    except Exception:
        log.exception("the readiness check of %s failed", service.name)
        return False


def _system(service: type[Service]) -> pages.ListedService:
    links = [pages.Link(one.text, f"{service.name}/{one.url}") for one in _links(service)]
    return pages.ListedService(
        service.name, service.title, _description(service), len(service.operations), links
    )


def _links(service: type[Service]) -> list[pages.Link]:
    """The pages of a service, from below its name."""
    links = [
        pages.Link("REST", "docs"),
        pages.Link("OpenAPI", "openapi.json"),
        pages.Link("GraphQL", "graphql"),
    ]
    if _has_design(service):
        links.append(pages.Link("Design", "design"))
    if page_folder(service) is not None:
        links.insert(0, pages.Link("Use it", PAGE_PATH.removeprefix("/")))
    return links


def _description(service: type[Service]) -> str:
    return (service.__doc__ or "").strip().partition("\n")[0]


def _lifespan(
    dispatches: Sequence[Dispatch],
) -> Callable[[Starlette], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for one in dispatches:
                await one.service.start()
                stack.push_async_callback(one.service.stop)
                stack.push_async_callback(one.watchers.close)
            yield

    return lifespan
