"""Who may ask the server, and what a browser may do with its answers.

The server has no way to change anything. What must be kept from others is what the knowledge base holds. A page of
another site must not read it: not by a request of its own, not in a frame, and not by a name of its own that leads to
this machine (DNS rebinding).
"""

import hmac
import ipaddress
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, urlencode

LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "[::1]"})
ANY_ADDRESS = "any address"
"""Among the names of a server: every number address. No name of another site is one, so none can lead here."""
METHODS = ("GET", "HEAD")
COOKIE = "metaml_token"
LEAST_TOKEN = 16
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
"""Nothing inline, nothing evaluated, nothing from elsewhere, in no frame."""
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
Message = MutableMapping[str, Any]
App = Callable[[Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]], Awaitable[None]]


class RequestFilter:
    """Refuses what a server on this machine must not answer, before any page is made; adds headers to all answers.

    `hosts` are the names by which it may be asked; `token` is demanded if it is given.
    """

    def __init__(self, app: App, *, hosts: frozenset[str] = LOCAL_HOSTS, token: str | None = None) -> None:
        self.app, self.hosts, self.token = app, hosts, token

    async def __call__(
        self, scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
    ) -> None:
        """Answer, or refuse."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                added = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*message.get("headers", ()), *added]
            await send(message)

        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        refused = refusal(scope["method"], headers, self.hosts)
        if refused is not None:
            await _answer(send_safely, *refused)
            return
        if self.token is not None and not has_token(headers, self.token):
            await self._demand_token(scope, send_safely)
            return
        await self.app(scope, receive, send_safely)

    async def _demand_token(self, scope: Message, send: Callable[[Message], Awaitable[None]]) -> None:
        """Take a token from the address once and keep it in a cookie, so that it is in no later address."""
        words = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = dict(words).get("token", "")
        if not _is_same(given, self.token or ""):
            await _answer(send, 401, "This server wants its token. Open the address that metaml web printed.")
            return
        others = urlencode([(name, value) for name, value in words if name != "token"])
        # The path as it came, without a second slash at its start, which would name another host.
        place = "/" + scope.get("raw_path", b"/").decode("latin-1").split("?")[0].lstrip("/\\")
        cookie = f"{COOKIE}={self.token}; Path=/; HttpOnly; SameSite=Strict"
        headers = {"location": place + (f"?{others}" if others else ""), "set-cookie": cookie}
        await _answer(send, 303, "", headers)


def refusal(method: str, headers: dict[str, str], hosts: frozenset[str]) -> tuple[int, str] | None:
    """Return why a request is refused, as a status and a sentence; None if it is answered."""
    if not is_known_host(headers.get("host", ""), hosts):
        return 403, "This server answers only to its own name. Open the address that metaml web printed."
    if method not in METHODS:
        return 405, "This server only reads: GET and HEAD are answered."
    if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        return 403, "A page of another site asked for this. Type or paste the address into the browser instead."
    origin = headers.get("origin")
    if origin is not None and origin.partition("://")[2] != headers.get("host"):
        return 403, "A page of another site asked for this."
    return None


def is_known_host(header: str, hosts: frozenset[str]) -> bool:
    """Return whether the Host header names this server, on any port.

    >>> is_known_host("localhost:8765", LOCAL_HOSTS), is_known_host("evil.example:8765", LOCAL_HOSTS)
    (True, False)
    """
    name, separator, port = header.rpartition(":")
    if not separator or not port.isdigit() or (name.startswith("[") and not name.endswith("]")):
        name = header
    name = name.lower().rstrip(".")
    return (name in hosts and name != ANY_ADDRESS) or (ANY_ADDRESS in hosts and _is_address(name))


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name[1:-1] if name.startswith("[") and name.endswith("]") else name)
    except ValueError:
        return False
    return True


def hosts_of(host: str) -> frozenset[str]:
    """Return the names by which a server that listens there may be asked.

    One that listens at all addresses (0.0.0.0 or ::) is asked by any of them, or by the name of this machine.
    """
    names = {*LOCAL_HOSTS, host.lower()}
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return frozenset(names)
    if address.is_unspecified:
        return frozenset({*names, ANY_ADDRESS, socket.gethostname().lower(), socket.getfqdn().lower()})
    return frozenset({*names, f"[{address}]" if address.version == 6 else str(address)})


def is_local(host: str) -> bool:
    """Return whether only this machine can reach a server that listens there."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def has_token(headers: dict[str, str], token: str) -> bool:
    """Return whether a request has the token, in its cookie or as `Authorization: Bearer`."""
    scheme, _, given = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and _is_same(given.strip(), token):
        return True
    try:
        cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return False
    return cookie is not None and _is_same(cookie.value, token)


def _is_same(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode(), token.encode())


async def _answer(
    send: Callable[[Message], Awaitable[None]], status: int, text: str, headers: dict[str, str] | None = None
) -> None:
    body = text.encode()
    shown = {"content-type": "text/plain; charset=utf-8", "content-length": str(len(body)), **(headers or {})}
    if status == 405:
        shown["allow"] = ", ".join(METHODS)
    pairs = [(name.encode(), value.encode("latin-1")) for name, value in shown.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})
