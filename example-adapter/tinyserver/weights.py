"""Read a Hugging Face weights folder: its config and its safetensors file."""

from __future__ import annotations

import json
import math
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tinyserver.http_errors import WeightsError

Floats = npt.NDArray[np.float32]
Tensors = dict[str, Floats]


@dataclass(frozen=True)
class Config:
    """What `config.json` says about the network."""

    vocabulary: int
    width: int
    hidden: int
    layers: int
    heads: int
    context: int
    rope_base: float
    epsilon: float
    end_token: int

    @property
    def head_width(self) -> int:
        return self.width // self.heads


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object, or say in one sentence why not."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise WeightsError(f"Cannot read {path}: {error.strerror}.") from error
    except ValueError as error:
        raise WeightsError(f"{path} is not valid JSON: {error}.") from error
    if not isinstance(value, dict):
        raise WeightsError(f"{path} does not hold a JSON object.")
    return value


def read_config(folder: Path) -> Config:
    """Read `config.json` and refuse what this server cannot compute."""
    path = folder / "config.json"
    raw = read_json(path)
    wanted = {"architectures": ["LlamaForCausalLM"], "tie_word_embeddings": True, "hidden_act": "silu"}
    for key, value in wanted.items():
        if raw.get(key) != value:
            raise WeightsError(f"{path}: this server needs {key} = {value}, found {raw.get(key)}.")
    try:
        config = Config(
            vocabulary=int(raw["vocab_size"]),
            width=int(raw["hidden_size"]),
            hidden=int(raw["intermediate_size"]),
            layers=int(raw["num_hidden_layers"]),
            heads=int(raw["num_attention_heads"]),
            context=int(raw["max_position_embeddings"]),
            rope_base=float(raw["rope_theta"]),
            epsilon=float(raw["rms_norm_eps"]),
            end_token=int(raw["eos_token_id"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise WeightsError(f"{path}: a needed number is missing or wrong ({error}).") from error
    if raw.get("num_key_value_heads", config.heads) != config.heads:
        raise WeightsError(f"{path}: grouped key-value heads are not supported.")
    return config


def expected_shapes(config: Config) -> dict[str, tuple[int, ...]]:
    """Every tensor the network needs, with its shape."""
    width, hidden = config.width, config.hidden
    shapes: dict[str, tuple[int, ...]] = {
        "model.embed_tokens.weight": (config.vocabulary, width),
        "model.norm.weight": (width,),
    }
    for i in range(config.layers):
        layer = f"model.layers.{i}"
        shapes[f"{layer}.input_layernorm.weight"] = (width,)
        shapes[f"{layer}.post_attention_layernorm.weight"] = (width,)
        shapes |= {f"{layer}.self_attn.{name}_proj.weight": (width, width) for name in "qkvo"}
        shapes |= {f"{layer}.mlp.{name}_proj.weight": (hidden, width) for name in ("gate", "up")}
        shapes[f"{layer}.mlp.down_proj.weight"] = (width, hidden)
    return shapes


def read_safetensors(path: Path) -> Tensors:
    """Eight bytes of header length, a JSON header of names and offsets, then the raw numbers."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise WeightsError(f"Cannot read {path}: {error.strerror}.") from error
    try:
        (length,) = struct.unpack_from("<Q", raw)
        header = json.loads(raw[8 : 8 + length])
        header.pop("__metadata__", None)
        return {name: _tensor(raw, 8 + length, entry) for name, entry in header.items()}
    except (struct.error, ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise WeightsError(f"{path} is damaged or not a float32 safetensors file ({error}).") from error


def _tensor(raw: bytes, body: int, entry: dict[str, Any]) -> Floats:
    if entry["dtype"] != "F32":
        raise ValueError(f"dtype {entry['dtype']}")
    start, end = entry["data_offsets"]
    shape = tuple(entry["shape"])
    if end - start != 4 * math.prod(shape):
        raise ValueError("offsets do not fit the shape")
    return np.frombuffer(raw, dtype="<f4", count=math.prod(shape), offset=body + start).reshape(shape)


def read_tensors(folder: Path, config: Config) -> Tensors:
    """Read the weights and make sure that they are those the config describes."""
    path = folder / "model.safetensors"
    tensors = read_safetensors(path)
    for name, shape in expected_shapes(config).items():
        if name not in tensors:
            raise WeightsError(f"{path} lacks the tensor {name}.")
        found = tensors[name].shape
        if found != shape:
            raise WeightsError(f"{path}: {name} has shape {found}, the config asks for {shape}.")
        if not np.isfinite(tensors[name]).all():
            raise WeightsError(f"{path}: {name} holds values that are not finite.")
    return tensors
