"""The names of `keyfold` are few; the others say which module has them."""

from __future__ import annotations

from importlib import import_module

import pytest

import keyfold


def test_the_top_has_at_most_sixty_names() -> None:
    assert len(keyfold.__all__) <= 60
    assert all(hasattr(keyfold, name) for name in keyfold.__all__)


@pytest.mark.parametrize("home", keyfold.MODULES)
def test_a_name_of_another_module_says_which(home: str) -> None:
    assert sorted(import_module(home).__all__) == sorted(keyfold.MODULES[home])
    for name in keyfold.MODULES[home]:
        with pytest.raises(AttributeError, match=f"write from {home} import {name}$"):
            getattr(keyfold, name)


def test_a_name_that_is_nowhere_is_refused() -> None:
    with pytest.raises(AttributeError, match="module 'keyfold' has no attribute 'Nothing'"):
        keyfold.Nothing  # noqa: B018
