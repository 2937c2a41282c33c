"""The network in NumPy: a Llama with a key-value cache, many sequences at a time.

An answer never depends, not by a single bit, on who else is being served. Each row of a batch goes through
its own vector-matrix product (a batch of 1 x width matrices, which NumPy multiplies one by one), and attention
looks over a memory whose size depends on the row's own length only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from tinyserver.weights import Config, Floats, Tensors

Ints = npt.NDArray[np.int64]

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


@dataclass(frozen=True)
class Layer:
    """One layer's matrices, turned so that a row vector is multiplied from the left."""

    attention_gain: Floats
    query_key_value: Floats
    out: Floats
    mlp_gain: Floats
    gate_up: Floats
    down: Floats


class Model:
    """Reads a prompt, then steps many sequences by one token each."""

    def __init__(self, config: Config, tensors: Tensors) -> None:
        self.config = config
        self._embedding = tensors["model.embed_tokens.weight"]
        self._unembedding = np.ascontiguousarray(self._embedding.T)
        self._gain = tensors["model.norm.weight"]
        self._layers = [_layer(tensors, f"model.layers.{i}") for i in range(config.layers)]
        self._cos, self._sin = _rotation(config)

    def read(self, prompt: Sequence[int]) -> tuple[Floats, Cache]:
        """Take in a prompt at once; return the hidden state at each of its places, and its cache."""
        config, length = self.config, len(prompt)
        room = -(-length // BLOCK) * BLOCK
        memory = np.zeros((1, config.layers, 2, config.heads, room, config.head_width), np.float32)
        hidden = self._forward(np.array([prompt]), np.arange(length)[None], memory)
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
        hidden = self._forward(np.array(tokens)[:, None], places, memory)
        for cache, stepped in zip(caches, memory, strict=True):
            cache.memory[..., cache.length, :] = stepped[..., cache.length, :]
            cache.length += 1
        return self.logits(hidden[:, -1])

    def _forward(self, tokens: Ints, places: Ints, memory: Floats) -> Floats:
        """Run (batch, length) tokens through the layers, noting keys and values in the memory."""
        x: Floats = self._embedding[tokens]
        for i, layer in enumerate(self._layers):
            x = x + self._attend(layer, self._norm(x, layer.attention_gain), places, memory[:, i])
            gated = self._norm(x, layer.mlp_gain) @ layer.gate_up
            gate, up = np.split(gated, 2, axis=-1)
            x = x + (_silu(gate) * up) @ layer.down
        return self._norm(x, self._gain)

    def _attend(self, layer: Layer, x: Floats, places: Ints, memory: Floats) -> Floats:
        batch, length, width = x.shape
        heads, head_width = self.config.heads, self.config.head_width
        qkv = (x @ layer.query_key_value).reshape(batch, length, 3, heads, head_width)
        cos, sin = self._cos[places][:, :, None], self._sin[places][:, :, None]
        query = _rotate(qkv[:, :, 0], cos, sin).swapaxes(1, 2)
        keys, values = memory[:, 0], memory[:, 1]
        rows = np.arange(batch)[:, None]
        keys[rows, :, places] = _rotate(qkv[:, :, 1], cos, sin)
        values[rows, :, places] = qkv[:, :, 2]

        scores = query @ keys.swapaxes(2, 3) * np.float32(head_width**-0.5)
        future = np.arange(keys.shape[2]) > places[:, None, :, None]
        shares = _softmax(np.where(future, np.float32(-np.inf), scores))
        mixed: Floats = (shares @ values).swapaxes(1, 2).reshape(batch, length, width) @ layer.out
        return mixed

    def _norm(self, x: Floats, gain: Floats) -> Floats:
        """RMSNorm."""
        scale = np.sqrt(np.square(x).mean(-1, keepdims=True) + np.float32(self.config.epsilon))
        normed: Floats = x / scale * gain
        return normed


def _layer(tensors: Tensors, name: str) -> Layer:
    def turned(*parts: str) -> Floats:
        return np.ascontiguousarray(np.concatenate([tensors[f"{name}.{part}.weight"] for part in parts]).T)

    return Layer(
        attention_gain=tensors[f"{name}.input_layernorm.weight"],
        query_key_value=turned("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
        out=turned("self_attn.o_proj"),
        mlp_gain=tensors[f"{name}.post_attention_layernorm.weight"],
        gate_up=turned("mlp.gate_proj", "mlp.up_proj"),
        down=turned("mlp.down_proj"),
    )


def _rotation(config: Config) -> tuple[Floats, Floats]:
    """Cosines and sines of the rotary embedding, one row a place."""
    frequencies = config.rope_base ** (-np.arange(0, config.head_width, 2) / config.head_width)
    angles = np.outer(np.arange(config.context), np.concatenate([frequencies, frequencies]))
    return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)


def _rotate(x: Floats, cos: Floats, sin: Floats) -> Floats:
    first, second = np.split(x, 2, axis=-1)
    turned: Floats = np.concatenate([-second, first], axis=-1)
    out: Floats = x * cos + turned * sin
    return out


def _silu(x: Floats) -> Floats:
    # exp overflows to infinity for very negative x, and x / infinity is the right zero.
    with np.errstate(over="ignore"):
        out: Floats = x / (np.float32(1) + np.exp(-x))
    return out


def _softmax(x: Floats) -> Floats:
    shares = np.exp(x - x.max(-1, keepdims=True))
    out: Floats = shares / shares.sum(-1, keepdims=True)
    return out
