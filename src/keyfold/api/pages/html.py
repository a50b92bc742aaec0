"""The HTML of the pages.

Links are relative, so that the pages work under any prefix: the index and the sign-in are at the
top, a service's pages one level below.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from keyfold.api.identity import Identity

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
    description: str
    operations: int
    links: Sequence[Link]


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands around a service's page for people."""

    title: str
    description: str
    people: Sequence[Identity] = ()
    """Whom one may sign in as, on a development server."""
    development: bool = False
    sockets: bool = True
    """Whether the server has WebSockets; else changes come as server-sent events."""
    has_script: bool = True
    has_style: bool = True


def index(systems: Sequence[ListedService], *, development: bool) -> str:
    """The first page: what is served here and where its documentation is."""
    cards = "".join(_card(one) for one in systems)
    sign_in = f"<p>{_who()}</p>" if development else ""
    body = f"""
<header><h1>keyfold</h1><p>Your DynamoDB design document, running.</p>{sign_in}</header>
<main class="cards">{cards}</main>
<footer><a href="health">health</a> <a href="ready">ready</a>
<a href="metrics">metrics</a></footer>"""
    return _page("keyfold", body)


def _card(system: ListedService) -> str:
    links = "".join(
        f'<li><a href="{escape(one.url)}">{escape(one.text)}</a></li>' for one in system.links
    )
    return f"""<section class="card" id="{escape(system.name)}">
<h2>{escape(system.name)}</h2><p>{escape(system.description)}</p>
<p class="quiet">{system.operations} operations</p><ul>{links}</ul></section>"""


def swagger(name: str, *, development: bool) -> str:
    """Swagger UI on a service's OpenAPI document."""
    styles = '<link rel="stylesheet" href="../assets/swagger-ui.css">'
    body = f"""<nav class="bar"><a href="../">keyfold</a> <b>{escape(name)}</b>
<a href="redoc">ReDoc</a> <a href="graphql">GraphQL</a> {_who(_BELOW) if development else ""}</nav>
<div id="docs" data-openapi="openapi.json"></div>
<script src="../assets/swagger-ui-bundle.js"></script><script src="../assets/docs.js"></script>"""
    return _page(f"{name}: REST", body, styles, kind="light", top=_BELOW)


def redoc(name: str) -> str:
    """ReDoc on a service's OpenAPI document."""
    body = """<redoc spec-url="openapi.json"></redoc>
<script src="../assets/redoc.standalone.js"></script>"""
    return _page(f"{name}: REST", body, kind="light", top=_BELOW)


def explorer(name: str, *, development: bool) -> str:
    """A page to write and run GraphQL queries on, with the schema beside."""
    body = f"""<nav class="bar"><a href="../">keyfold</a> <b>{escape(name)}</b>
<a href="docs">REST</a> {_who(_BELOW) if development else ""}</nav>
<main class="explorer">
<section><label for="query">Query</label>
<div class="editor"><pre id="paint" aria-hidden="true"></pre>
<textarea id="query" spellcheck="false" autofocus role="combobox" aria-expanded="false"
aria-controls="offers" aria-autocomplete="list" wrap="off"></textarea></div>
<ul id="offers" role="listbox" aria-label="What can stand here" hidden></ul>
<label for="variables">Variables (JSON)</label>
<textarea id="variables" spellcheck="false">{{}}</textarea>
<label for="token">Token</label><input id="token" autocomplete="off" placeholder="from sign-in">
<details><summary>Headers</summary><textarea id="headers" spellcheck="false"
aria-label="Headers (JSON)" placeholder='{{"idempotency-key": "..."}}'></textarea></details>
<p class="choices"><button id="run">Run (Ctrl+Enter)</button>
<button id="stop" hidden>Stop</button> <button id="prettify" title="Ctrl+Shift+P">Prettify</button>
<button id="copy-link">Copy link</button></p>
<details id="past" hidden><summary>History</summary><div id="runs"></div>
<button id="forget">Forget all</button></details></section>
<section><label for="answer">Answer</label> <span id="took" class="quiet" role="status"></span>
<pre id="answer" tabindex="0"></pre></section>
<section><label for="filter">Schema</label><input id="filter" placeholder="find a field">
<div id="schema"></div></section>
</main><script type="module" src="../assets/explorer.js"></script>"""
    return _page(f"{name}: GraphQL", body, top=_BELOW)


def sign_in(people: Mapping[str, Sequence[Identity]]) -> str:
    """The development sign-in: choose or name a user, get a token."""
    choices = "".join(
        f"<h2>{escape(where)}</h2><ul class='people'>{''.join(map(_person, those))}</ul>"
        for where, those in people.items()
    )
    body = f"""<nav class="bar"><a href="./">keyfold</a> <b>development sign-in</b></nav>
<main class="card"><p>Tokens from here work on this development server only.</p>
{choices}
<form id="sign-in"><label>User id <input name="user" required maxlength="200"></label>
<label>Groups <input name="groups" placeholder="admin"></label>
<button>Sign in</button></form>
<label for="token">Your token</label><textarea id="token" readonly></textarea>
<p class="quiet">It is kept in this browser and used by the REST and GraphQL pages.</p></main>
<script src="assets/sign-in.js"></script>"""
    return _page("keyfold: sign in", body)


def frame_page(frame: Frame, content: str) -> str:
    """A page for people: what a service brings, in the shared frame.

    Where the content begins with `<nav class="tabbar">`, its places stand in the bar.
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
<main id="main">{rest}</main>
<dialog id="people" aria-labelledby="people-title"><header><h2 id="people-title">Who are you?</h2>
<button class="icon" type="button" data-close aria-label="Close">✕</button></header>
<div class="rows"></div><form class="stack">{_naming(frame)}
<div class="acts"><button class="btn main">Sign in</button>
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
    body = """<nav class="bar"><a href="services">keyfold</a> <b>domain events</b></nav>
<main class="wide"><p><b id="taken">0</b> events were taken since the start. The newest:</p>
<p id="sources" class="choices"></p>
<div class="scroll" tabindex="0"><table><thead><tr><th>At</th><th>Source</th><th>Event</th>
<th>Payload</th></tr></thead><tbody id="rows"></tbody></table></div></main>
<script src="assets/events.js"></script>"""
    return _page("keyfold: domain events", body)


def _person(one: Identity) -> str:
    groups = escape(" ".join(sorted(one.groups)))
    id = escape(one.id)
    note = f" <small>{groups}</small>" if groups else ""
    return (
        f'<li><button type="button" data-user="{id}" data-groups="{groups}">{id}{note}'
        "</button></li>"
    )


def _who(top: str = "") -> str:
    return (
        f'<a href="{top}sign-in" id="who">Sign in as a demo user</a>'
        f'<script src="{top}assets/who.js"></script>'
    )


def _page(title: str, body: str, head: str = "", *, kind: str = "", top: str = "") -> str:
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">{head}<link rel="stylesheet" href="{top}assets/colours.css">
<link rel="stylesheet" href="{top}assets/site.css">
</head><body class="{kind}">{body}</body></html>"""
