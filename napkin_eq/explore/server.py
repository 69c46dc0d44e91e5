"""The pages and their addresses, and the verb that serves them: on this machine's own address unless told otherwise."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import json
import socket
import sys
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from napkin_eq.explore.guard import Guard
from napkin_eq.explore.state import State, checked
from napkin_eq.explore.workers import Workers
from napkin_eq.lang.errors import NapkinError

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

FOLDER = Path(__file__).resolve().parent
# Every file that is served, by its whole address: no path of a request is ever a path of this machine.
FILES = {
    "/explorer.js": (FOLDER / "explorer.js", "text/javascript"),
    "/explorer.css": (FOLDER / "explorer.css", "text/css"),
    "/report.css": (FOLDER.parent / "report" / "style.css", "text/css"),
}


def serve(address: str, port: int, workers: int, seconds: float, expose: bool = False) -> None:
    """Serve the explorer until it is interrupted; raises NapkinError for an address or a port that cannot be had."""
    import uvicorn

    listening = bound(address, port, expose)
    real = listening.getsockname()[1]
    app = Guard(application(Workers(workers, seconds)), address, real)
    name = f"[{address}]" if ":" in address else address
    print(f"napkin-eq: http://{name}:{real}/ (Ctrl-C ends it)", flush=True)
    config = uvicorn.Config(
        app, log_level="error", access_log=False, server_header=False, lifespan="on", ws="none",
        limit_concurrency=64, timeout_keep_alive=5, timeout_graceful_shutdown=1, h11_max_incomplete_event_size=16384,
    )  # fmt: skip
    server = uvicorn.Server(config)
    with contextlib.suppress(KeyboardInterrupt):
        server.run(sockets=[listening])


def bound(address: str, port: int, expose: bool = False) -> socket.socket:
    """Return a socket that listens at an address of this machine; any but a loopback one only if asked for."""
    try:
        number = ipaddress.ip_address(address)
    except ValueError:
        raise NapkinError(f"serve: {address!r:.60} is not an address such as 127.0.0.1 or ::1") from None
    if not number.is_loopback and not expose:
        raise NapkinError(f"serve: {address} can be reached by others; --expose lets them, the default is 127.0.0.1")
    if not 0 <= port <= 65535:
        raise NapkinError(f"serve: port {port} is out of range; expected 0 (any) to 65535")
    if not number.is_loopback:
        said = "whoever reaches it can have this machine derive for them; nothing asks who they are"
        print(f"napkin-eq: warning: {address} is no loopback address: {said}", file=sys.stderr)
    listening = socket.socket(socket.AF_INET6 if number.version == 6 else socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((address, port))
        listening.listen(64)
    except OSError as error:
        listening.close()
        said = error.strerror or str(error)
        raise NapkinError(
            f"serve: {address} port {port}: {said}; name another with --port, 0 takes a free one"
        ) from None
    return listening


def application(workers: Workers) -> Starlette:
    """Return the application: the page, its files, what it may choose from, and derivations as lines of JSON."""
    from starlette.applications import Starlette
    from starlette.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse, StreamingResponse
    from starlette.routing import Route

    choices = _choices()

    async def home(request: Request) -> Response:
        return HTMLResponse((FOLDER / "explorer.html").read_bytes())

    async def file(request: Request, address: str) -> Response:
        place, kind = FILES[address]
        return FileResponse(place, media_type=kind)

    async def chosen(request: Request) -> Response:
        return JSONResponse(choices)

    async def derive(request: Request) -> Response:
        try:
            state = checked(json.loads(await request.body()), choices["hardware"])
        except (ValueError, RecursionError) as reason:
            said = str(reason) if isinstance(reason, NapkinError) else "the body is not JSON"
            return PlainTextResponse(said + "\n", status_code=400)
        return StreamingResponse(_lines(workers, state), media_type="application/x-ndjson")

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        starting = asyncio.create_task(workers.start())
        yield
        starting.cancel()
        await workers.stop()

    files = [Route(address, partial(_file, file, address)) for address in FILES]
    routes = [Route("/", home), *files, Route("/choices", chosen), Route("/derive", derive, methods=["POST"])]
    return Starlette(routes=routes, lifespan=lifespan)


async def _file(file: Any, address: str, request: Request) -> Response:
    response: Response = await file(request, address)
    return response


async def _lines(workers: Workers, state: State) -> AsyncIterator[bytes]:
    """Yield what is read of a text, and unless it is wrong what is derived of it."""
    wrong = False
    for event in await workers.read(state):
        wrong |= event["event"] == "wrong"
        yield _line(event)
        if event["event"] == "read":
            state = State(event["text"], (), state.dtype, state.hardware, state.without)
    if not wrong:
        async for event in workers.derived(state):
            yield _line(event)


def _line(event: dict[str, Any]) -> bytes:
    return json.dumps(event, ensure_ascii=False).encode() + b"\n"


def _choices() -> dict[str, Any]:
    """Return what a page may choose from: diagrams as text, GPUs, types, and the laws by family."""
    from napkin_eq.frontend.gallery import DIAGRAMS
    from napkin_eq.frontend.spelled import spelled
    from napkin_eq.lang.dtypes import STORAGE
    from napkin_eq.laws.law import REGISTRY
    from napkin_eq.laws.loader import load_rules
    from napkin_eq.machine.gpu import known, load

    load_rules()
    families: dict[str, list[list[str]]] = {}
    for statement in REGISTRY.statements.values():
        families.setdefault(statement.family, []).append([statement.name, statement.reading])
    return {
        "diagrams": {name: spelled(DIAGRAMS[name]()) for name in sorted(DIAGRAMS)},
        "hardware": {name: load(name).title for name in known()},
        "dtypes": list(STORAGE),
        "families": dict(sorted(families.items())),
    }
