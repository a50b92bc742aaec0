"""The documents of the five systems, as they are generated."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.unit.review.test_docs import page

from keyfold.design.file import load
from keyfold.review import docs

SYSTEMS = Path(__file__).parents[3] / "src" / "keyfold_systems"
NAMES = ("inviter", "search_room", "tamafriends", "gg_core", "sellers")


class Checker(HTMLParser):
    """Every element that is opened is closed, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.ids: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "br", "wbr"):
            self.open.append(tag)
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            if name == "id" and value:
                self.ids.add(value)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("name", NAMES)
def test_the_documents_of_the_five_systems_are_whole_and_self_contained(name: str) -> None:
    text = page(load(SYSTEMS / name / "as_written.yaml"))
    checker = Checker()
    checker.feed(text)
    assert checker.open == []
    assert all(link.startswith("#") and link[1:] in checker.ids for link in checker.links)
    assert not re.search(r"url\((?!#)|@import|<script", text)


@pytest.mark.parametrize("name", NAMES)
def test_pictures_are_xml_and_follow_the_reader_into_the_dark(name: str) -> None:
    for picture in docs.document(load(SYSTEMS / name / "as_written.yaml")).pictures:
        ElementTree.fromstring(picture.svg)
        assert "prefers-color-scheme:dark" in picture.svg
