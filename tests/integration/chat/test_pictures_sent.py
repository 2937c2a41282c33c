"""Pictures, sounds and videos as they arrive at a service, read from disk when they are asked about."""

import base64
import hashlib
from pathlib import Path
from typing import Any

import pytest
from tests.pictures import png, stored, write_table
from tests.servers.asking import LIMITS
from tests.servers.http import Exchange, HttpServer
from tests.servers.loops import run

from model_accuracy_eval.client.chat import connect
from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Media, MediaPlace, Message, Request, Service, TableFile
from model_accuracy_eval.system import table_files
from model_accuracy_eval.system.media_files import MediaFiles

SOUND, FILM = b"RIFF\x24\0\0\0WAVEfmt ", b"\0\0\0\x18ftypmp42"


class Listener(HttpServer):
    """Keeps the messages that it gets."""

    def __init__(self) -> None:
        super().__init__(self._handle)
        self.messages: list[list[dict[str, Any]]] = []

    async def _handle(self, exchange: Exchange) -> None:
        self.messages.append(exchange.json["messages"])
        exchange.reply(200, {"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]})


def sent(*messages: Message) -> list[dict[str, Any]]:
    listener = Listener()
    with listener:

        async def ask() -> None:
            chat = connect(Service(base_url=listener.url, model="m"), LIMITS)
            assert (await chat.ask(Request(messages=messages))).fault is None
            await chat.close()

        run(ask())
    return listener.messages[0]


def lying(path: Path, kind: Any, form: str, content: bytes) -> Media:
    path.write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    return Media(kind=kind, format=form, sha256=digest, size=len(content), place=MediaPlace(file=str(path)))


def test_each_kind_has_its_part(tmp_path: Path) -> None:
    """OpenAI's fields, and those of servers with video; an address is sent as it is."""
    picture = lying(tmp_path / "a.png", "image", "png", png(1))
    sound = lying(tmp_path / "a.wav", "audio", "wav", SOUND)
    film = lying(tmp_path / "a.mp4", "video", "mp4", FILM)
    far = Media(kind="image", format="", sha256="d" * 64, url="https://example.org/a.png")
    content = f"Look: {picture}, hear {sound}{film}{far}\n"
    message = Message(role="user", content=content, media=(picture, sound, film, far))
    coded = {one: base64.b64encode(data).decode() for one, data in ((picture, png(1)), (sound, SOUND), (film, FILM))}
    assert sent(Message(role="system", content="s"), message) == [
        {"role": "system", "content": "s"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Look: "},
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{coded[picture]}"}},
                {"type": "text", "text": ", hear "},
                {"type": "input_audio", "input_audio": {"data": coded[sound], "format": "wav"}},
                {"type": "video_url", "video_url": {"url": f"data:video/mp4;base64,{coded[film]}"}},
                {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
            ],
        },
    ]


def test_a_file_that_changes_during_the_run_is_a_sentence(tmp_path: Path) -> None:
    """Never another picture under the same question."""
    path = write_table(tmp_path / "a.parquet", [{"image": stored(png(n))} for n in range(3)])
    references = [row["image"] for row in table_files.rows("a", TableFile(path=str(path)))]
    write_table(path, [{"image": stored(png(n))} for n in (0, 9)])
    files = MediaFiles()
    assert files.read(references[0]) == png(0)
    with pytest.raises(BadData, match=r"is another file than when the run began: \[picture: png, "):
        files.read(references[1])
    with pytest.raises(BadData, match="has fewer rows than when the run began"):
        files.read(references[2])
    path.unlink()
    with pytest.raises(BadData, match=r"a\.parquet cannot be read: "):
        MediaFiles().read(references[0])
