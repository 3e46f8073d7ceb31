"""Define the routes.

Everything under ``/v1`` is for clients' programs, with a token.
"""

# No "from __future__ import annotations": routes are made in functions, and FastAPI reads their
# annotations as they are.

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Path, Query, Request, Security
from fastapi.responses import Response
from fastapi.security import HTTPBearer
from starlette.concurrency import run_in_threadpool

import privet
from privet.outsource.anatomy import STATEMENT
from privet.outsource.server import page, requests
from privet.outsource.server.handlers import ServerHandlers
from privet.outsource.server.packing import pack
from privet.outsource.server.state import ServerLimits, ServerState
from privet.service.http import AuthenticationMiddleware, JsonRoute

_PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string", "pattern": "^urn:privet:problem:"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "version": {
            "type": ["integer", "null"],
            "description": "With a conflict: the version that is there.",
        },
        "data": {
            "type": "integer",
            "description": "With a conflict about the rows: their data version.",
        },
    },
}
_PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"description": told, "content": {"application/problem+json": {"schema": _PROBLEM}}}
    for status, told in {
        401: "The token is not known",
        403: "The token is not good for that",
        404: "There is no such tree, leaf or object",
        408: "The request did not arrive in time",
        409: "Somebody else was faster, or there is no room; nothing was changed",
        413: "The request, or what is sealed in it, is too large",
        422: "The request is not what it may be; nothing was changed",
        429: "Too many requests; Retry-After says how long to wait",
        503: "The store cannot be used",
    }.items()
}


def create_app(state: ServerState, limits: ServerLimits | None = None) -> FastAPI:
    """Make the server of a folder, and open its store."""
    handlers = ServerHandlers(state, limits)

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(handlers.close)

    app = FastAPI(
        title="Privet outsourced table",
        version=privet.__version__,
        description=f"Decision trees on a table in two halves that this server cannot join. {STATEMENT}",  # noqa: E501
        lifespan=life,
        docs_url=None,  # they load scripts from elsewhere
        redoc_url=None,
        # a path with a slash too many is not found, rather than sent elsewhere
        redirect_slashes=False,
        openapi_url="/v1/openapi.json",
        responses=_PROBLEMS,
    )
    app.state.handlers = handlers
    requests.install(app)
    app.include_router(_routes(handlers))
    app.include_router(page.routes())
    app.add_middleware(AuthenticationMiddleware, handlers=handlers)
    return app


async def _answer(ask: Callable[[], Any], status: int = 200, *, packed: bool = False) -> Response:
    """Ask, and write the answer, in a thread: both may take a while."""
    return await run_in_threadpool(lambda: _json_response(ask(), status, packed=packed))


def _json_response(told: Any, status: int, *, packed: bool = False) -> Response:
    body = json.dumps(told, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    if not packed or len(body) < _WORTH_PACKING:
        return Response(body, status, media_type="application/json")
    return Response(pack(body), status, {"Content-Encoding": "gzip"}, media_type="application/json")


#: Bytes of the shortest answer that is packed.
_WORTH_PACKING = 4096


def _may_pack(request: Request) -> bool:
    """Only rows are packed, and only for those who ask: what is sealed does not get shorter."""
    return request.headers.get("accept-encoding") == "gzip"


Leaf = Annotated[int, Path(ge=0, lt=1 << 31)]
Name = Annotated[str, Path(pattern=r"^[a-z0-9-]{1,64}$")]


def _routes(handlers: ServerHandlers) -> APIRouter:
    """Make the routes: a few for every client, the others for those who have the key."""
    everybody = APIRouter(
        prefix="/v1", route_class=JsonRoute, dependencies=[Security(HTTPBearer(auto_error=False))]
    )

    async def check_key_holder(request: Request) -> None:
        await run_in_threadpool(handlers.check_key_holder, request.state.analyst)

    router = APIRouter(route_class=JsonRoute, dependencies=[Depends(check_key_holder)])

    @everybody.get("/about", summary="What is public about the table, and what there is")
    async def about() -> Response:
        return await _answer(handlers.about)

    @router.post("/trees", status_code=201, summary="Grow a tree from what identifies people")
    async def grow(asked: requests.TreeToGrow) -> Response:
        grown = await asyncio.wrap_future(await run_in_threadpool(handlers.grow, asked))
        return _json_response(grown, 201)

    @everybody.get("/trees/{tree}", summary="A tree, and its leaves")
    async def tree(tree: str) -> Response:
        return await _answer(lambda: handlers.tree(tree))

    @router.delete(
        "/trees/{tree}",
        status_code=204,
        response_class=Response,
        summary="Forget a tree and its sealed sub-trees",
    )
    async def remove_tree(tree: str) -> Response:
        await run_in_threadpool(handlers.store.remove_tree, tree)
        return Response(status_code=204)

    @everybody.post("/trees/{tree}/predictions", summary="The classes that a tree gives to rows")
    async def predict(tree: str, asked: requests.RowsToPlace) -> Response:
        return await _answer(lambda: handlers.predict(tree, asked.rows))

    @router.post(
        "/trees/{tree}/leaves", summary="The leaves that rows reach, with their sealed sub-trees"
    )
    async def leaves(tree: str, asked: requests.RowsToRefine, request: Request) -> Response:
        return await _answer(lambda: handlers.leaves(tree, asked), packed=_may_pack(request))

    @router.post(
        "/trees/{tree}/contents", summary="What lies in leaves: sealed sub-trees, or else rows"
    )
    async def contents(tree: str, asked: requests.LeavesToRead, request: Request) -> Response:
        return await _answer(lambda: handlers.read_leaves(tree, asked), packed=_may_pack(request))

    @router.post("/trees/{tree}/subtrees", summary="Keep sealed sub-trees of leaves that have none")
    async def put_subtrees(tree: str, asked: requests.SubtreesToKeep) -> Response:
        return await _answer(lambda: handlers.put_subtrees(tree, asked))

    @router.get(
        "/trees/{tree}/leaves/{leaf}/rows",
        summary="The rows of a leaf, each with the sensitive values of its group",
    )
    async def leaf_rows(
        tree: str, leaf: Leaf, asked: Annotated[requests.Slice, Query()]
    ) -> Response:
        return await _answer(lambda: handlers.rows(asked, (tree, leaf)))

    @router.get("/rows", summary="All rows, each with the sensitive values of its group")
    async def rows(asked: Annotated[requests.Slice, Query()], request: Request) -> Response:
        return await _answer(lambda: handlers.rows(asked), packed=_may_pack(request))

    @router.get("/trees/{tree}/leaves/{leaf}/subtree", summary="The sealed sub-tree of a leaf")
    async def subtree(tree: str, leaf: Leaf) -> Response:
        return await _answer(lambda: handlers.subtree(tree, leaf))

    @router.put(
        "/trees/{tree}/leaves/{leaf}/subtree", status_code=201, summary="Keep a sealed sub-tree"
    )
    async def put_subtree(tree: str, leaf: Leaf, sealing: requests.Sealing) -> Response:
        return await _answer(lambda: handlers.put_subtree(tree, leaf, sealing), 201)

    @router.get("/sealed/{name}", summary="A sealed object")
    async def sealed(name: Name) -> Response:
        return await _answer(lambda: handlers.sealed(name))

    @router.put("/sealed/{name}", status_code=201, summary="Keep a sealed object")
    async def put_sealed(name: Name, sealing: requests.Sealing) -> Response:
        return await _answer(lambda: handlers.put_sealed(name, sealing), 201)

    @router.get("/pending", summary="Sealed rows that wait for a group")
    async def pending(asked: Annotated[requests.PendingSlice, Query()]) -> Response:
        return await _answer(lambda: handlers.pending(asked))

    @router.post("/changes", summary="Rows and values that come and go, all of it or nothing")
    async def change(asked: requests.Changes) -> Response:
        return await _answer(lambda: handlers.change(asked))

    everybody.include_router(router)
    return everybody
