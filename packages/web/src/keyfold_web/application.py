"""A design inside your own FastAPI or Starlette application, without keyfold's server.

The handle is opened once, when the application starts; keyfold's errors become answers.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response

from keyfold.errors import KeyfoldError
from keyfold.runtime import AsyncDb, Design
from keyfold_engine.tracing import new_instance
from keyfold_web.exchange import problem_answer
from keyfold_web.problems import INTERNAL, FieldError, Invalid, problem_for
from keyfold_web.rest import response

_LOG = logging.getLogger(__name__)


class DesignInApp:
    """A dependency that provides the application's handle: `Depends(DesignInApp(design,
    "app.db"))`.

    `options` are passed to `design.open_async`.
    """

    def __init__(self, design: Design, backend: Any, **options: Any) -> None:
        self.design, self.backend, self.options = design, backend, options
        self._db: AsyncDb | None = None

    async def __call__(self) -> AsyncDb:
        if self._db is None:
            raise KeyfoldError(
                f"the design {self.design.name} is not open; give the application its lifespan, as "
                "FastAPI(lifespan=database.lifespan)"
            )
        return self._db

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:  # noqa: ARG002
        """Keep the handle open while the application runs."""
        async with await self.design.open_async(self.backend, **self.options) as self._db:
            yield
        self._db = None


async def answer_error(request: Request, error: Exception) -> Response:
    """A keyfold error as problem+json: 404 for not found, 409 or 412 for conflicts, and so on."""
    problem = problem_for(error)
    # Such an application has no request ids of keyfold's; a proxy may have given one.
    instance = new_instance(request.headers.get("x-request-id"))
    if problem.status == INTERNAL.status:
        _LOG.error("%s %s failed: %s", request.method, request.url.path, instance, exc_info=error)
    return response(problem_answer(problem))


async def answer_text_error(request: Request, error: Exception) -> Response:
    """422 for a body that is not text; other text that cannot be decoded is not the caller's."""
    assert isinstance(error, UnicodeDecodeError)
    if error.object != vars(request).get("_body"):  # where Starlette keeps a body that was read
        raise error
    return await answer_error(request, Invalid("body", "is not UTF-8 text"))


async def answer_input_error(request: Request, error: Any) -> Response:
    """Input that FastAPI refuses: its own answer repeats the input, and fails if that is no
    text.
    """
    fields = [FieldError(".".join(map(str, one["loc"])), one["msg"]) for one in error.errors()]
    return await answer_error(request, Invalid(fields))


keyfold_errors: dict[Any, Any] = {
    KeyfoldError: answer_error,
    UnicodeDecodeError: answer_text_error,
}
"""For `FastAPI(exception_handlers=keyfold_errors)`."""
if find_spec("fastapi") is not None:
    from fastapi.exceptions import RequestValidationError

    keyfold_errors[RequestValidationError] = answer_input_error
