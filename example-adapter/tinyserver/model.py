"""The network in NumPy: a Llama with a key-value cache, many sequences at a time.

An answer never depends, not by a single bit, on who else is being served. Each row of a batch goes through
its own vector-matrix product (a batch of 1 x width matrices, which NumPy multiplies one by one), and attention
looks over a memory whose size depends on the row's own length only.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from tinyserver.config import Config
from tinyserver.layers import Layer, cos_sin, feed_forward, frequencies, normed, read_layer, rotated, softmax
from tinyserver.tower import Tower
from tinyserver.weights import LLAMA, Floats, Tensors

Ints = npt.NDArray[np.int64]

PROMPTS: Final = 64
"""How many are kept as they were read: the samples of a problem ask the same."""
BLOCK: Final = 32
"""A sequence's memory grows by this many places; sequences with memories of one size step together."""


class Cache:
    """The keys and values of one sequence: (layers, key or value, heads, places, head width)."""

    def __init__(self, memory: Floats, length: int) -> None:
        self.memory = memory
        self.length = length

    @property
    def room(self) -> int:
        return int(self.memory.shape[-2])

    def copy(self) -> Cache:
        return Cache(self.memory.copy(), self.length)

    def grow(self) -> None:
        """Make room for at least one more token."""
        if self.length == self.room:
            *outer, _, width = self.memory.shape
            more = np.zeros((*outer, BLOCK, width), np.float32)
            self.memory = np.concatenate([self.memory, more], axis=-2)


class Model:
    """Reads a prompt, then steps many sequences by one token each."""

    def __init__(self, config: Config, tensors: Tensors) -> None:
        self.config = config
        stem = config.stem
        self._embedding = tensors[f"{stem}.embed_tokens.weight"]
        self._unembedding = np.ascontiguousarray(self._embedding.T)
        self._gain = tensors[f"{stem}.norm.weight"]
        self._layers = [read_layer(tensors, f"{stem}.layers.{i}", LLAMA) for i in range(config.text.layers)]
        places = np.arange(config.context)
        self._cos, self._sin = cos_sin(np.outer(places, frequencies(config.text.head_width, config.text.rope_base)))
        self._read_before = lru_cache(PROMPTS)(self._read)
        self._tower = None if config.sight is None else Tower(config.sight, tensors)

    def read(self, prompt: Sequence[int], pictures: Sequence[Floats] = ()) -> tuple[Floats, Cache]:
        """Take in a prompt at once; return the hidden state at each of its places, and its cache."""
        if pictures:
            return self._read(prompt, pictures)
        hidden, cache = self._read_before(tuple(prompt))
        return hidden.copy(), cache.copy()

    def _read(self, prompt: Sequence[int], pictures: Sequence[Floats] = ()) -> tuple[Floats, Cache]:
        config, length = self.config, len(prompt)
        room = -(-length // BLOCK) * BLOCK
        memory = np.zeros((1, config.text.layers, 2, config.text.heads, room, config.text.head_width), np.float32)
        inputs = self._embedding[np.array(prompt)]
        if config.sight is not None and self._tower is not None and pictures:
            patches = np.array(prompt) == config.sight.patch_token
            inputs[patches] = np.concatenate([self._tower.seen(picture) for picture in pictures])
        hidden = self._forward(inputs[None], np.arange(length)[None], memory)
        return hidden[0], Cache(memory[0], length)

    def logits(self, hidden: Floats) -> Floats:
        """Score every next token, for each row."""
        scores: Floats = (hidden[:, None] @ self._unembedding)[:, 0]
        return scores

    def step(self, tokens: Sequence[int], caches: Sequence[Cache]) -> Floats:
        """Give each sequence its newest token; return the scores of the next one."""
        for cache in caches:
            cache.grow()
        scores = np.empty((len(tokens), self.config.vocabulary), np.float32)
        for room in {cache.room for cache in caches}:
            rows = [i for i, cache in enumerate(caches) if cache.room == room]
            scores[rows] = self._step_together([tokens[i] for i in rows], [caches[i] for i in rows])
        return scores

    def _step_together(self, tokens: Sequence[int], caches: Sequence[Cache]) -> Floats:
        places = np.array([[cache.length] for cache in caches])
        memory = np.stack([cache.memory for cache in caches])
        hidden = self._forward(self._embedding[np.array(tokens)[:, None]], places, memory)
        for cache, stepped in zip(caches, memory, strict=True):
            cache.memory[..., cache.length, :] = stepped[..., cache.length, :]
            cache.length += 1
        return self.logits(hidden[:, -1])

    def _forward(self, x: Floats, places: Ints, memory: Floats) -> Floats:
        """Run (batch, length, width) inputs through the layers, noting keys and values in the memory."""
        epsilon = self.config.text.epsilon
        for i, layer in enumerate(self._layers):
            x = x + self._attend(layer, normed(x, layer.attention_gain, epsilon), places, memory[:, i])
            x = x + feed_forward(layer, normed(x, layer.mlp_gain, epsilon))
        return normed(x, self._gain, epsilon)

    def _attend(self, layer: Layer, x: Floats, places: Ints, memory: Floats) -> Floats:
        batch, length, width = x.shape
        heads, head_width = self.config.text.heads, self.config.text.head_width
        qkv = (x @ layer.query_key_value).reshape(batch, length, 3, heads, head_width)
        cos, sin = self._cos[places][:, :, None], self._sin[places][:, :, None]
        query = rotated(qkv[:, :, 0], cos, sin).swapaxes(1, 2)
        keys, values = memory[:, 0], memory[:, 1]
        rows = np.arange(batch)[:, None]
        keys[rows, :, places] = rotated(qkv[:, :, 1], cos, sin)
        values[rows, :, places] = qkv[:, :, 2]

        scores = query @ keys.swapaxes(2, 3) * np.float32(head_width**-0.5)
        future = np.arange(keys.shape[2]) > places[:, None, :, None]
        shares = softmax(np.where(future, np.float32(-np.inf), scores))
        mixed: Floats = (shares @ values).swapaxes(1, 2).reshape(batch, length, width) @ layer.out
        return mixed
