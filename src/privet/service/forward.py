"""Pass a request on to the process that has the snapshot which it names.

The request goes to the socket of that process in the curator's home, as it came, with a secret that
only processes of the home know: it was counted when it came in, and is not counted again.
"""

from __future__ import annotations

import asyncio
import hmac

import h11
from starlette.responses import Response
from starlette.types import Scope

from privet.service.shared import Process

#: The header with the secret of the process that is asked.
SECRET = b"privet-passed-on"
_HOPS = {b"connection", b"content-length", b"keep-alive", b"transfer-encoding", b"upgrade", SECRET}
_CHUNK = 1 << 16


class ProcessGone(Exception):
    """The other process does not answer any more."""


def is_passed_on(scope: Scope, secret: str) -> bool:
    """Return whether another process of the home has passed a request on to this one."""
    shown = dict(scope["headers"]).get(SECRET)
    return shown is not None and hmac.compare_digest(shown, secret.encode())


async def pass_on(scope: Scope, body: bytes, process: Process) -> Response:
    """Return what the other process answers."""
    try:
        reader, writer = await asyncio.open_unix_connection(process.address)
    except OSError as error:
        raise ProcessGone from error
    try:
        return await _exchange(scope, body, process, reader, writer)
    except (OSError, h11.ProtocolError) as error:
        raise ProcessGone from error
    finally:
        writer.close()


async def _exchange(
    scope: Scope,
    body: bytes,
    process: Process,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> Response:
    talk = h11.Connection(h11.CLIENT)
    headers = [(name, value) for name, value in scope["headers"] if name not in _HOPS]
    headers += [
        (b"connection", b"close"),
        (b"content-length", b"%d" % len(body)),
        (SECRET, process.secret.encode()),
    ]
    target = scope["raw_path"].partition(b"?")[0]
    if scope["query_string"]:
        target += b"?" + scope["query_string"]
    request = h11.Request(method=scope["method"], target=target, headers=headers)
    writer.write(talk.send(request) or b"")
    writer.write(talk.send(h11.Data(data=body)) or b"")
    writer.write(talk.send(h11.EndOfMessage()) or b"")
    await writer.drain()
    content, status, answered = bytearray(), 0, list[tuple[bytes, bytes]]()
    while True:
        event = talk.next_event()
        if event is h11.NEED_DATA:
            talk.receive_data(await reader.read(_CHUNK))
        elif isinstance(event, h11.Response):
            status = event.status_code
            answered = [(name, value) for name, value in event.headers if name not in _HOPS]
        elif isinstance(event, h11.Data):
            content += event.data
        elif isinstance(event, h11.EndOfMessage):
            break
        elif isinstance(event, h11.ConnectionClosed):
            raise ProcessGone
    response = Response(bytes(content), status)
    kept = [header for header in response.raw_headers if header[0] == b"content-length"]
    response.raw_headers = [*answered, *kept]
    return response
