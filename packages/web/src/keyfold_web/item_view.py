"""Views: the fields of an entity that callers see, and what a service adds to them."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import get_annotations
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import Field

from keyfold import Entity
from keyfold.design.codes import UNKNOWN_REFERENCE
from keyfold.errors import DeclarationError
from keyfold_web.names import Payload


class ItemView(Payload):
    """An item as callers see it.

    class PostView(ItemView, of=Post, without=("author_id",)):
        author: Person
        liked: bool

    `PostView.of(post, author=ada, liked=True)` has the fields of Post and its own two. `only` names
    the fields that are shown, `without` those that are not. A field that the class declares itself
    keeps its own type.
    """

    def __init_subclass__(
        cls,
        *,
        of: type[Entity] | None = None,
        only: Sequence[str] = (),
        without: Sequence[str] = (),
        **config: Any,
    ) -> None:
        if of is not None:
            declared, own = of.model_fields, get_annotations(cls)
            for name in (*only, *without):
                if name not in declared:
                    raise DeclarationError(
                        UNKNOWN_REFERENCE,
                        f"the view {cls.__name__} names {name!r}, which {of.__name__} does not "
                        "have.",
                        suggestion=f"Its fields are: {', '.join(declared)}.",
                    )
            shown = [name for name in only or declared if name not in {*without, *own}]
            cls.__annotations__ = {name: _output_type(declared[name]) for name in shown} | own
        super().__init_subclass__(**config)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """A field of the entity, which a type checker does not see."""

    @classmethod
    def of(cls, item: Any, **more: Any) -> Self:
        """The view of an item: its fields of the same names, and what is given beside them."""
        own = {name: getattr(item, name) for name in cls.model_fields if name not in more}
        return cls(**own, **more)


def _output_type(field: Any) -> Any:
    """A field without what limits input: what is stored is shown."""
    return Annotated[field.annotation, Field(description=field.description)]
