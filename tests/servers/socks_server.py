"""A SOCKS5 proxy for anybody: as much of it as a client needs that names a host and asks to be connected."""

import asyncio
import struct
import threading

_VERSION, _NO_SIGN_IN, _DONE = 5, 0, 0
_IPV4, _NAME = 1, 3


class SocksServer:
    """Serves in a thread of its own; `asked` has the places that it connected to."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []
        self.url = ""
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main()))

    def __enter__(self) -> "SocksServer":
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()

    async def _main(self) -> None:
        """Connections that are still open when it is over are dropped with the loop."""
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"socks5://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        self._ready.set()
        await self._over.wait()
        server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, ways = await reader.readexactly(2)
        await reader.readexactly(ways)
        writer.write(bytes([_VERSION, _NO_SIGN_IN]))
        place = await self._place(reader)
        self.asked.append(place)
        back_reader, back_writer = await asyncio.open_connection(*place)
        writer.write(bytes([_VERSION, _DONE, 0, _IPV4, 0, 0, 0, 0, 0, 0]))
        await asyncio.gather(_pass_on(reader, back_writer), _pass_on(back_reader, writer))

    async def _place(self, reader: asyncio.StreamReader) -> tuple[str, int]:
        *_, kind = await reader.readexactly(4)
        if kind == _NAME:
            host = (await reader.readexactly((await reader.readexactly(1))[0])).decode()
        else:
            host = ".".join(map(str, await reader.readexactly(4)))
        return host, struct.unpack("!H", await reader.readexactly(2))[0]


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(1 << 16):
            writer.write(data)
    finally:
        writer.close()
