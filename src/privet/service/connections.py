"""Bound the connections of a server: how many there are, and how long each may take to ask.

Uvicorn has no time limit for the head of a request (its issue 157), and ASGI applications learn of
a connection only when a head is complete. So limits are kept where connections come in: at the
listening socket. A connection that waits for a request, from the TLS handshake on, has a deadline.
When there are too many, the one that has waited longest is cut: clients that ask at once get in,
whoever else holds connections open.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from privet.errors import ParameterError
from privet.service.limits import HttpLimits

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: Connections that are accepted in one turn of the loop, before those that were cut are closed.
BACKLOG = 128
_OTHER_FILES = 512  # that a server may have open beside its connections


class Connection(socket.socket):
    """A connection of a client, which tells when it is closed."""

    peer: tuple[str, int] = ("", 0)
    when_closed: Callable[[Connection], None] | None = None
    deadline: asyncio.TimerHandle | None = None

    def close(self) -> None:
        super().close()
        if self.when_closed is not None:
            self.when_closed(self)

    def cut(self) -> None:
        """Let whoever reads or writes find the connection ended, in whatever state it is."""
        with suppress(OSError):  # the client was faster
            self.shutdown(socket.SHUT_RDWR)


@dataclass
class _Crowd:
    """Connections that are counted together: how many, and which wait for a request."""

    size: int = 0
    waiting: OrderedDict[Connection, None] = field(default_factory=OrderedDict)


class Connections:
    """All connections of a server.

    Args:
        limits: how many there may be, and how long they may wait.
        by_address: whether each address has a limit of its own, too. Behind a proxy, all
            connections come from one address.
    """

    def __init__(self, limits: HttpLimits, *, by_address: bool = True) -> None:
        self._limits, self._by_address = limits, by_address
        self._all = _Crowd()
        self._addresses: dict[str, _Crowd] = {}
        self._open: dict[tuple[str, int], Connection] = {}

    def listen(self, host: str, port: int) -> socket.socket:
        """Return a listening socket whose connections are bounded."""
        _allow_files(self._limits.connections + BACKLOG + _OTHER_FILES)
        try:
            plain = socket.create_server(
                (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=512
            )
        except OSError as error:
            raise ParameterError(f"cannot listen at {host} port {port}: {error}") from None
        # else every answer waits for an acknowledgement, some 40 ms
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        listener = _Listener(plain.family, plain.type, plain.proto, fileno=plain.detach())
        listener.when_accepted = self._accept
        return listener

    def _accept(self, connection: Connection) -> None:
        crowd = self._addresses.setdefault(connection.peer[0], _Crowd())
        too_many = self._by_address and crowd.size >= self._limits.connections_each
        if too_many or self._all.size >= self._limits.connections:
            waiting = crowd.waiting if too_many else self._all.waiting
            if not waiting:
                self._forget_if_empty(connection.peer[0])
                connection.cut()
                return
            self._cut(next(iter(waiting)))
            crowd = self._addresses.setdefault(connection.peer[0], crowd)
        for counted in (self._all, crowd):
            counted.size += 1
        self._open[connection.peer] = connection
        connection.when_closed = self._forget
        self._expect(connection, self._limits.head)

    def _forget(self, connection: Connection) -> None:
        """Stop counting a connection, if that was not done when it was cut."""
        if self._open.get(connection.peer) is not connection:
            return
        self._hold(connection)
        del self._open[connection.peer]
        for crowd in (self._all, self._addresses[connection.peer[0]]):
            crowd.size -= 1
        self._forget_if_empty(connection.peer[0])

    def _forget_if_empty(self, address: str) -> None:
        if not self._addresses[address].size:
            del self._addresses[address]

    def _cut(self, connection: Connection) -> None:
        self._forget(connection)
        connection.cut()

    def _expect(self, connection: Connection, seconds: float) -> None:
        """Wait for the head of a request, so long."""
        self._hold(connection)
        loop = asyncio.get_running_loop()
        connection.deadline = loop.call_later(seconds, self._cut, connection)
        for crowd in (self._all, self._addresses[connection.peer[0]]):
            crowd.waiting[connection] = None

    def _hold(self, connection: Connection) -> None:
        """A request is there: wait for it no longer, and cut it for nobody."""
        if connection.deadline is not None:
            connection.deadline.cancel()
            connection.deadline = None
        for crowd in (self._all, self._addresses[connection.peer[0]]):
            crowd.waiting.pop(connection, None)

    def watch(self, app: ASGIApp) -> ASGIApp:
        """Return the application, so that its connections are told of requests and answers.

        Time limits for bodies and for work are its own.
        """

        async def watched(scope: Scope, receive: Receive, send: Send) -> None:
            client = scope.get("client")
            connection = None if client is None else self._open.get((client[0], client[1]))
            if scope["type"] != "http" or connection is None:
                await app(scope, receive, send)
                return
            self._hold(connection)

            async def sending(message: Message) -> None:
                # A client that does not take its answer must not hold the connection either.
                still_open = self._open.get(connection.peer) is connection
                if message["type"] == "http.response.start" and still_open:
                    length = int(dict(message.get("headers", ())).get(b"content-length", 0))
                    seconds = self._limits.idle + self._limits.head + length / self._limits.slowest
                    self._expect(connection, seconds)
                await send(message)

            await app(scope, receive, sending)

        return watched


class _Listener(socket.socket):
    """A listening socket that shows each connection to somebody first."""

    when_accepted: Callable[[Connection], None]

    def accept(self) -> tuple[socket.socket, Any]:
        accepted, address = super().accept()
        connection = Connection(
            accepted.family, accepted.type, accepted.proto, fileno=accepted.detach()
        )
        connection.peer = (str(address[0]), int(address[1]))
        self.when_accepted(connection)
        return connection, address


def _allow_files(needed: int) -> None:
    """Let this process open so many files, as each connection is one."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < needed:
        if hard != resource.RLIM_INFINITY and hard < needed:
            raise ParameterError(
                f"so many connections need {needed} open files, and the system allows {hard}; "
                "set the limit 'connections' lower, or allow more with 'ulimit -n'"
            )
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
