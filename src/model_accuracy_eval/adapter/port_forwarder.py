"""Forwards a container's published port to a server that listens on the container's loopback alone.

Needed only outside a container, where the adapter's port is published on 127.0.0.1 and nowhere else: the engine leads
a published port to the container's own address, on which such a server does not listen.

This file is run by the adapter's python3, which gets its text (`container_spec.forward_command`): it imports nothing
of ours, and needs nothing that Python 3.8 lacks.
"""

import asyncio
import pathlib
import socket
import time

_LOOPBACK = {"0100007F": "127.0.0.1", "0" * 24 + "01000000": "::1"}
_LISTENING = "0A"


def forward_port(port: int) -> None:
    """Waits for the server; if it listens on the loopback alone, forwards the container's address to it."""
    while not _addresses(port):
        time.sleep(0.05)
    addresses = _addresses(port)
    if addresses <= set(_LOOPBACK):
        asyncio.run(_serve(_LOOPBACK[min(addresses)], port))


def _addresses(port: int) -> "set[str]":
    """Returns the addresses on which a server listens on the port, as the kernel writes them."""
    tables = [pathlib.Path("/proc/net", name) for name in ("tcp", "tcp6")]
    rows = [row.split() for table in tables if table.exists() for row in table.read_text().splitlines()[1:]]
    local = [row[1].split(":") for row in rows if row[3] == _LISTENING]
    return {address for address, number in local if int(number, 16) == port}


async def _serve(target: str, port: int) -> None:
    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            inner_reader, inner_writer = await asyncio.open_connection(target, port)
        except OSError:
            writer.transport.abort()
            return
        await asyncio.gather(_copy(reader, inner_writer), _copy(inner_reader, writer))

    own = socket.gethostbyname(socket.gethostname())
    server = await asyncio.start_server(forward, own, port, backlog=1024)
    await server.serve_forever()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            data = await reader.read(65536)
            if not data:
                break
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    writer.close()
