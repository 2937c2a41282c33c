# mypy: disable-error-code="import-not-found"
"""The network as it is trained: Llama's shape and Llama's parameter names, small enough to read."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812  # the name every torch program knows
from torch import Tensor

Weights = dict[str, Tensor]


@dataclass(frozen=True)
class Shape:
    """The sizes that decide what the network looks like."""

    vocabulary: int = 128
    width: int = 64
    hidden: int = 192
    layers: int = 2
    heads: int = 2
    context: int = 2048
    rope_base: float = 10_000.0
    epsilon: float = 1e-5

    @property
    def head_width(self) -> int:
        return self.width // self.heads


def fresh_weights(shape: Shape) -> Weights:
    """Small random matrices; those that write to the residual stream start smaller still."""
    width, hidden = shape.width, shape.hidden
    matrices = {"model.embed_tokens.weight": (shape.vocabulary, width)}
    gains = ["model.norm.weight"]
    for i in range(shape.layers):
        layer = f"model.layers.{i}"
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            matrices[f"{layer}.self_attn.{name}.weight"] = (width, width)
        for name in ("gate_proj", "up_proj"):
            matrices[f"{layer}.mlp.{name}.weight"] = (hidden, width)
        matrices[f"{layer}.mlp.down_proj.weight"] = (width, hidden)
        gains += [f"{layer}.input_layernorm.weight", f"{layer}.post_attention_layernorm.weight"]

    weights = {name: torch.ones(width) for name in gains}
    for name, size in matrices.items():
        inward = name.endswith(("o_proj.weight", "down_proj.weight"))
        scale = 1 / math.sqrt(2 * shape.layers) if inward else 1.0
        weights[name] = torch.randn(size) * scale / math.sqrt(width)
    return {name: tensor.requires_grad_() for name, tensor in weights.items()}


def logits_of(weights: Weights, tokens: Tensor, shape: Shape) -> Tensor:
    """Score every next token at every place; the embedding serves as output matrix too."""
    embedding = weights["model.embed_tokens.weight"]
    x = embedding[tokens]
    for i in range(shape.layers):
        layer = f"model.layers.{i}"
        calm = _norm(weights, f"{layer}.input_layernorm", x, shape)
        x = x + _attention(weights, f"{layer}.self_attn", calm, shape)
        calm = _norm(weights, f"{layer}.post_attention_layernorm", x, shape)
        x = x + _feed_forward(weights, f"{layer}.mlp", calm)
    return F.linear(_norm(weights, "model.norm", x, shape), embedding)


def _norm(weights: Weights, name: str, x: Tensor, shape: Shape) -> Tensor:
    """RMSNorm: scale to unit mean square, then by a learnt gain."""
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + shape.epsilon) * weights[f"{name}.weight"]


def _attention(weights: Weights, name: str, x: Tensor, shape: Shape) -> Tensor:
    """Causal self-attention with rotary positions."""
    batch, length, width = x.shape

    def heads(projection: str) -> Tensor:
        y = F.linear(x, weights[f"{name}.{projection}.weight"])
        return y.view(batch, length, shape.heads, shape.head_width).transpose(1, 2)

    q, k = _rotate(heads("q_proj"), shape), _rotate(heads("k_proj"), shape)
    mixed = F.scaled_dot_product_attention(q, k, heads("v_proj"), is_causal=True)
    return F.linear(mixed.transpose(1, 2).reshape(batch, length, width), weights[f"{name}.o_proj.weight"])


def _rotate(x: Tensor, shape: Shape) -> Tensor:
    """Turn each pair (one from the first half, one from the second) by an angle that grows with its place."""
    pairs = torch.arange(0, shape.head_width, 2) / shape.head_width
    angles = torch.outer(torch.arange(x.shape[-2]).float(), shape.rope_base**-pairs)
    angles = torch.cat([angles, angles], dim=-1)
    first, second = x.chunk(2, dim=-1)
    return x * angles.cos() + torch.cat([-second, first], dim=-1) * angles.sin()


def _feed_forward(weights: Weights, name: str, x: Tensor) -> Tensor:
    """SwiGLU: one projection gates another."""
    gate, up = (F.linear(x, weights[f"{name}.{part}.weight"]) for part in ("gate_proj", "up_proj"))
    return F.linear(F.silu(gate) * up, weights[f"{name}.down_proj.weight"])
