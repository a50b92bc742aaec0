"""A plain FastAPI application around keyfold: it knows its design, and nothing of moves."""

from typing import Annotated, Any

from fastapi import Depends, FastAPI

from keyfold import AsyncDb, new_ulid
from keyfold_web.application import DesignInApp, keyfold_errors


def shop(database: DesignInApp, order: Any, orders_of_season: Any) -> FastAPI:
    app = FastAPI(lifespan=database.lifespan, exception_handlers=keyfold_errors)
    shop_db = Annotated[AsyncDb, Depends(database)]

    @app.get("/seasons/{season_id}/orders")
    async def orders(season_id: str, db: shop_db) -> list[order]:
        return (await orders_of_season(db, season_id)).items  # type: ignore[no-any-return]

    @app.post("/seasons/{season_id}/orders")
    async def place(season_id: str, total: int, db: shop_db) -> order:
        return await db.create(order(order_id=new_ulid(), season_id=season_id, total=total))

    return app
