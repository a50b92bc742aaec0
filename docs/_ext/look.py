"""The frame of the site: six entries on top, the groups of a section at the side, and tabs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

HOME = "index"


class Entry(NamedTuple):
    title: str
    page: str


class Group(NamedTuple):
    title: str
    about: str
    entries: list[Entry]


class Section(NamedTuple):
    title: str
    page: str
    groups: list[Group]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("tabs", Tabs)
    app.connect("source-read", _offer_files)
    app.connect("html-page-context", _add_frame)
    return {"parallel_read_safe": True}


def _offer_files(app: Sphinx, page: str, source: list[str]) -> None:
    """Links to pages that the site leaves out, such as decisions, lead to their files."""
    folder = Path(app.env.doc2path(page)).parent

    def link(at: re.Match[str]) -> str:
        path = (folder / at[1]).resolve()
        left_out = path.is_file() and app.project.path2doc(path) not in app.project.docnames
        return f"](path:{at[1]}" if left_out else at[0]

    source[0] = re.sub(r"\]\(([\w./-]+\.md)", link, source[0])


class Tabs(SphinxDirective):
    """Code blocks that say the same in several languages; the choice holds on the whole site."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        box = nodes.container(classes=["tabs-of-code"])
        self.state.nested_parse(self.content, self.content_offset, box)
        return [box]


def sections(env: BuildEnvironment) -> list[Section]:
    """The entries on top: each list of the home page is a section, led by its first page."""
    found = []
    for tree in _trees(env, HOME):
        pages = [page for _, page in tree["entries"]]
        groups = [Group(tree["caption"], "", [_entry(env, page) for page in pages])]
        if len(pages) == 1:
            groups = [_group(env, inner) for inner in _trees(env, pages[0])]
        found.append(Section(tree["caption"], pages[0], groups))
    return found


def _trees(env: BuildEnvironment, page: str) -> list[addnodes.toctree]:
    return list(env.get_doctree(page).findall(addnodes.toctree))


def _group(env: BuildEnvironment, tree: addnodes.toctree) -> Group:
    around = tree.parent.parent if isinstance(tree.parent, nodes.compound) else tree.parent
    first = next((child for child in around.children if isinstance(child, nodes.paragraph)), None)
    heading = next((child for child in around.children if isinstance(child, nodes.title)), None)
    title = tree["caption"] or (heading.astext() if heading else "")
    entries = [_entry(env, page) for _, page in tree["entries"] if page in env.titles]
    return Group(title, first.astext() if first else "", entries)


def _entry(env: BuildEnvironment, page: str) -> Entry:
    return Entry(env.titles[page].astext(), page)


def _add_frame(
    app: Sphinx,
    pagename: str,
    _template: str,
    context: dict[str, Any],
    _tree: nodes.document | None,
) -> None:
    found = sections(app.env)
    context["sections"] = found
    context["section"] = next((one for one in found if _holds(one, pagename)), None)


def _holds(section: Section, page: str) -> bool:
    folder = Path(section.page).parent
    inside = folder != Path() and Path(page).is_relative_to(folder)
    listed = any(page == entry.page for group in section.groups for entry in group.entries)
    return listed or page == section.page or (inside and section.title != "Start")
