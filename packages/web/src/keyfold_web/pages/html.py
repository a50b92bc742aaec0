"""The HTML of the pages.

Links are relative, so that the pages work under any prefix: the index at the top, a service's
pages one level below.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from keyfold_web.identity import Identity

MARK = (
    '<svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">'
    '<path d="M3 2h9l5 5v11H3z" fill="none" stroke="var(--text)" stroke-width="1.5" '
    'stroke-linejoin="round"/><path d="M12 2v5h5z" fill="var(--accent)" stroke="var(--accent)" '
    'stroke-width="1.5" stroke-linejoin="round"/><path d="M6.5 9.5v5.5M6.5 12.5l4-3M8 11.5l3 3.5" '
    'fill="none" stroke="var(--text)" stroke-width="1.5" stroke-linecap="round" '
    'stroke-linejoin="round"/></svg>'
)
_BELOW = "../"
_PLACES = '<nav class="tabbar"'


@dataclass(frozen=True, slots=True)
class Link:
    text: str
    url: str


@dataclass(frozen=True, slots=True)
class ListedService:
    """A served service, as the index lists it."""

    name: str
    title: str
    description: str
    operations: int
    links: Sequence[Link]


@dataclass(frozen=True, slots=True)
class DocumentedService:
    """A service, as its pages for developers name it and lead to one another."""

    title: str
    pages: Sequence[Link]
    people: Sequence[Identity] = ()
    """A user to sign in as."""
    development: bool = False


@dataclass(frozen=True, slots=True)
class Frame:
    """The frame around a service's page."""

    title: str
    description: str
    people: Sequence[Identity] = ()
    """The users offered for sign-in on a development server."""
    development: bool = False
    sockets: bool = True
    """Whether the server has WebSockets; otherwise changes come as server-sent events."""
    has_script: bool = True
    has_style: bool = True


def index(
    systems: Sequence[ListedService], people: Sequence[Identity] = (), *, development: bool
) -> str:
    """The index page: the services and their documentation."""
    cards = "".join(_card(one) for one in systems)
    body = f"""{_top("", (), people, development=development)}
<main><div class="intro"><h1>Services</h1><p>Your DynamoDB design document, running.</p></div>
<div class="cards">{cards}</div></main>
<footer><a href="health">health</a> <a href="ready">ready</a>
<a href="metrics">metrics</a></footer>"""
    return _page("keyfold", body)


def _card(system: ListedService) -> str:
    links = "".join(
        f'<li><a href="{escape(one.url)}">{escape(one.text)}</a></li>' for one in system.links
    )
    return f"""<section class="card" id="{escape(system.name)}">
<h2>{escape(system.title)}</h2><p>{escape(system.description)}</p>
<p class="quiet">{system.operations} operations</p><ul>{links}</ul></section>"""


def swagger(service: DocumentedService) -> str:
    """Swagger UI on a service's OpenAPI document."""
    styles = '<link rel="stylesheet" href="../assets/swagger-ui.css">'
    body = f"""{_service_top(service, "docs")}
<main id="docs" data-openapi="openapi.json"></main>
<script src="../assets/swagger-ui-bundle.js" defer></script>
<script type="module" src="../assets/docs.js"></script>"""
    return _page(f"{service.title}: REST", body, styles, top=_BELOW)


def explorer(service: DocumentedService) -> str:
    """A page to write and run GraphQL queries, with the schema beside them."""
    body = f"""{_service_top(service, "graphql")}
<main class="explorer"><h1 class="hide">{escape(service.title)}: GraphQL</h1>
<section class="panel"><header><h2><label for="query">Query</label></h2>
<button id="prettify" class="quiet" title="Ctrl+Shift+P">Prettify</button>
<button id="copy-link" class="quiet">Copy link</button>
<button id="stop" hidden>Stop</button>
<button id="run" class="main">Run <kbd>Ctrl ⏎</kbd></button></header>
<div class="editor"><pre id="paint" aria-hidden="true"></pre>
<textarea id="query" spellcheck="false" autofocus
aria-controls="offers" aria-autocomplete="list" wrap="off"></textarea>
<ul id="offers" role="listbox" aria-label="What can stand here" hidden></ul></div>
<ul id="problems" aria-label="Problems of the query" aria-live="polite" hidden></ul>
<details open><summary>Variables</summary><textarea id="variables" spellcheck="false"
aria-label="Variables (JSON)">{{}}</textarea></details>
<details><summary>Headers</summary><textarea id="headers" spellcheck="false"
aria-label="Headers (JSON)" placeholder='{{"idempotency-key": "..."}}'></textarea>
<label for="token">Token</label><input id="token" autocomplete="off" placeholder="of who you are">
</details>
<details id="past" hidden><summary>History</summary><div id="runs"></div>
<button id="forget" class="quiet">Forget all</button></details></section>
<section class="panel"><header><h2><label for="answer">Answer</label></h2>
<span id="took" class="quiet" role="status"></span></header>
<pre id="answer" tabindex="0"></pre></section>
<section class="panel"><header><h2><label for="filter">Schema</label></h2></header>
<div class="strip"><input id="filter" placeholder="find a field"></div>
<div id="schema"></div></section>
</main><script type="module" src="../assets/explorer.js"></script>"""
    return _page(f"{service.title}: GraphQL", body, top=_BELOW)


def frame_page(frame: Frame, content: str) -> str:
    """A service's page in the shared frame.

    If the content begins with `<nav class="tabbar">`, its links move into the bar.
    """
    places, end, rest = ("", "", content)
    if content.lstrip().startswith(_PLACES):
        places, end, rest = content.partition("</nav>")
    offered = json.dumps(
        [{"id": one.id, "name": one.name, "groups": sorted(one.groups)} for one in frame.people]
    )
    mode = " data-development" if frame.development else ""
    mode += " data-sockets" if frame.sockets else ""
    style = '<link rel="stylesheet" href="page.css">' if frame.has_style else ""
    script = '<script type="module" src="page.js"></script>' if frame.has_script else ""
    title = escape(frame.title)
    return f"""<!doctype html>
<html lang="en" data-people="{escape(offered)}"{mode}><head><meta charset="utf-8">
<title>{title}</title><meta name="description" content="{escape(frame.description)}">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">
<script src="../../assets/theme.js"></script>
<link rel="stylesheet" href="../../assets/colours.css">
<link rel="stylesheet" href="../../assets/app.css">{style}
<script type="module" src="../../assets/app.js"></script>{script}</head><body>
<a class="skip" href="#main">To the content</a>
<header class="top"><a class="brand" href="./">{title}</a>{places}{end}<span class="grow"></span>
<button class="icon" id="theme" type="button" aria-label="Light or dark">◐</button>
<button id="who" type="button">Sign in</button></header>
<p id="offline" role="status" hidden>The connection is gone; it will be back.</p>
<main id="main">{rest}<section id="lost"></section></main>
<dialog id="people" aria-labelledby="people-title"><header><h2 id="people-title">Who are you?</h2>
<button class="icon" type="button" data-close aria-label="Close">✕</button></header>
<div class="rows"></div><form class="stack">{_naming(frame)}
<div class="acts"><button class="btn main">Sign in</button>
<a class="btn" id="own" href="#/you" hidden>Your account</a>
<button class="btn quiet" id="sign-out" type="button" hidden>Sign out</button></div></form></dialog>
<div id="toasts" popover="manual" role="status"></div>
<noscript><p class="note">This page needs JavaScript.</p></noscript>
</body></html>"""


def _naming(frame: Frame) -> str:
    if frame.development:
        label = "Somebody else" if frame.people else "Your user id"
        return (
            f'<div class="field"><label for="people-id">{label}</label>'
            '<input id="people-id" name="id" required maxlength="200" autocomplete="off" '
            'placeholder="a user id">'
            '<span class="hint">Anybody, on this development server.</span></div>'
        )
    return (
        '<div class="field"><label for="people-token">Your token</label>'
        '<input id="people-token" name="token" type="password" required autocomplete="off">'
        '<span class="hint">From the issuer that this server trusts.</span></div>'
    )


def events() -> str:
    """The demo's page of domain events, newest first."""
    body = f"""{_top("Events", ())}
<main class="wide"><h1>Domain events</h1>
<p><b id="taken">0</b> events were taken since the start. The newest:</p>
<p id="sources" class="choices"></p>
<div class="scroll" tabindex="0"><table><thead><tr><th>At</th><th>Source</th><th>Event</th>
<th>Payload</th></tr></thead><tbody id="rows"></tbody></table></div></main>
<script src="assets/events.js"></script>"""
    return _page("keyfold: domain events", body)


def _option(one: Identity) -> str:
    groups = escape(" ".join(sorted(one.groups)))
    called = escape(one.name or one.id)
    return f'<option value="{escape(one.id)}" data-groups="{groups}">{called}</option>'


def _service_top(service: DocumentedService, here: str) -> str:
    pages = [
        f'<a href="{escape(one.url)}"{" aria-current=page" if one.url == here else ""}>'
        f"{escape(one.text)}</a>"
        for one in service.pages
    ]
    return _top(service.title, pages, service.people, development=service.development, top=_BELOW)


def _top(
    title: str,
    pages: Sequence[str],
    people: Sequence[Identity] = (),
    *,
    development: bool = False,
    top: str = "",
) -> str:
    """The bar above every page: the way back, the other pages, and who you are."""
    crumb = f'<li><span aria-current="page">{escape(title)}</span></li>' if title else ""
    tabs = f'<nav class="tabs" aria-label="Pages">{"".join(pages)}</nav>' if pages else ""
    who = ""
    if development:
        known = "".join(map(_option, people))
        who = (
            f'<label class="who">You are <select id="who" data-sign-in="{top}sign-in">'
            f'<option value="">nobody</option>{known}<option value="…">somebody else…</option>'
            "</select></label>"
        )
    back = top or "./"
    return f"""<header class="top">
<a class="brand" href="{back}" aria-label="keyfold, all systems">{MARK}<b>keyfold</b></a>
<nav aria-label="Where you are"><ol class="crumbs"><li><a href="{back}">All systems</a></li>
{crumb}</ol></nav>{tabs}<span class="grow"></span>{who}
<button class="icon" id="theme" type="button" aria-label="Switch between light and dark">◐</button>
</header>"""


def _page(title: str, body: str, head: str = "", *, kind: str = "", top: str = "") -> str:
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,"><script src="{top}assets/theme.js"></script>{head}
<link rel="stylesheet" href="{top}assets/colours.css">
<link rel="stylesheet" href="{top}assets/site.css">
<script src="{top}assets/bar.js" defer></script>
</head><body class="{kind}">{body}</body></html>"""
