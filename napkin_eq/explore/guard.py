"""Who may ask, and what the browser may load: a Host and an Origin of ours, bounded bodies, nothing from elsewhere."""

from __future__ import annotations

import ipaddress
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MAX_BODY = 256 * 1024
HEADERS = {
    # Pictures bring styles of their own; scripts are the page's one file, so that no markup in a name ever runs.
    "content-security-policy": "default-src 'none'; script-src 'self'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Guard:
    """Refuses, before the application sees it, what does not come from a page of ours."""

    def __init__(self, app: App, address: str, port: int) -> None:
        self.app, self.address, self.port = app, address, port

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        problem = self._problem(scope)
        if problem is not None:
            await _refuse(send, *problem)
            return
        body, whole = await _body(receive)
        if not whole:
            await _refuse(send, 413, f"a body has at most {MAX_BODY} bytes")
            return
        sent = False

        async def again() -> MutableMapping[str, Any]:
            nonlocal sent
            if sent:
                return await receive()
            sent = True
            return {"type": "http.request", "body": body, "more_body": False}

        async def with_headers(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                ours = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*message.get("headers", []), *ours]
            await send(message)

        await self.app(scope, again, with_headers)

    def _problem(self, scope: Scope) -> tuple[int, str] | None:
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        hosts = headers.get("host", [])
        if len(hosts) != 1 or not self.is_ours(hosts[0]):
            return 421, f"this is 127.0.0.1:{self.port}; other names for it are not answered"
        for origin in headers.get("origin", []):
            if not origin.startswith("http://") or origin.removeprefix("http://") != hosts[0]:
                return 403, "only the page itself may ask"
        if (
            any(site not in ("same-origin", "none") for site in headers.get("sec-fetch-site", []))
            and scope["path"] != "/"
        ):
            return 403, "only the page itself may ask"
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return 405, "expected GET or POST"
        if scope["method"] == "POST" and headers.get("content-type", [""])[0].partition(";")[0] != "application/json":
            return 415, "expected application/json"
        lengths = headers.get("content-length", [])
        if lengths and not (lengths[0].isascii() and lengths[0].isdigit() and int(lengths[0]) <= MAX_BODY):
            return 413, f"a body has at most {MAX_BODY} bytes"
        return None

    def is_ours(self, host: str) -> bool:
        """Tell whether a Host header names this server by a number or as localhost: other names may lead here too."""
        name, colon, port = host.rpartition(":")
        if not colon or port != str(self.port):
            return False
        if name == "localhost" or name == self.address:
            return True
        try:
            number = ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
        except ValueError:
            return False
        return number.is_loopback or not ipaddress.ip_address(self.address).is_loopback


async def _body(receive: Receive) -> tuple[bytes, bool]:
    """Return a body, and whether it was of a bounded size."""
    parts, size = list[bytes](), 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return b"", True
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > MAX_BODY:
            return b"", False
        if not message.get("more_body"):
            return b"".join(parts), True


async def _refuse(send: Send, status: int, why: str) -> None:
    headers = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
    body = (why + "\n").encode()
    headers += [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
