"""Say digits as the tones of a telephone's keys: real sound, small enough to travel with every reply."""

from __future__ import annotations

import base64
import io
import math
import wave
from functools import cache
from typing import Final

RATE: Final = 8_000
"""Samples a second, of 8 bits each."""
SAMPLES: Final = 480
PAUSE: Final = bytes([128]) * 160
ROWS: Final = (697, 770, 852, 941)
COLUMNS: Final = (1209, 1336, 1477)
KEYS: Final = ("123", "456", "789", "*0#")


def spoken(text: str) -> str:
    """Return a WAV file of the text's digits in Base64; what is no digit is a pause."""
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(1)
        sound.setframerate(RATE)
        sound.writeframes(b"".join(_tone(sign) + PAUSE for sign in text))
    return base64.b64encode(file.getvalue()).decode("ascii")


@cache
def _tone(sign: str) -> bytes:
    """Two notes at once: that of the key's row, and that of its column."""
    row = next((place for place, keys in enumerate(KEYS) if sign in keys), None)
    if row is None:
        return PAUSE
    notes = ROWS[row], COLUMNS[KEYS[row].index(sign)]
    return bytes(
        round(128 + sum(60 * math.sin(2 * math.pi * note * at / RATE) for note in notes)) for at in range(SAMPLES)
    )
