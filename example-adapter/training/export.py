# mypy: disable-error-code="import-not-found"
"""Write a trained network as a Hugging Face folder, file by file."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Final

import torch
from training.network import Shape, Weights

PAD: Final = "<pad>"
END: Final = "<eos>"
CHAT_TEMPLATE: Final = "{{ messages[-1]['content'] }}"


def vocabulary(size: int) -> list[str]:
    """Padding, end, newline, printable ASCII; the rest is reserved so that every id has a name."""
    named = [PAD, END, "\n", *(chr(code) for code in range(32, 127))]
    return named + [f"<reserved_{i}>" for i in range(len(named), size)]


def is_special(token: str) -> bool:
    """Special tokens never show in the text."""
    return len(token) > 1


def write_folder(folder: Path, tensors: Weights, shape: Shape) -> None:
    """Write every file of the weights folder."""
    folder.mkdir(parents=True, exist_ok=True)
    _write_json(folder / "config.json", _config(shape))
    _write_json(folder / "generation_config.json", _generation_config())
    _write_json(folder / "tokenizer.json", _tokenizer(shape))
    _write_json(folder / "tokenizer_config.json", _tokenizer_config(shape))
    _write_safetensors(folder / "model.safetensors", tensors)


def _config(shape: Shape) -> dict[str, object]:
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": shape.vocabulary,
        "hidden_size": shape.width,
        "intermediate_size": shape.hidden,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.heads,
        "head_dim": shape.head_width,
        "hidden_act": "silu",
        "max_position_embeddings": shape.context,
        "rms_norm_eps": shape.epsilon,
        "rope_theta": shape.rope_base,
        "attention_bias": False,
        "mlp_bias": False,
        "tie_word_embeddings": True,
        "bos_token_id": None,
        "eos_token_id": 1,
        "pad_token_id": 0,
        "torch_dtype": "float32",
    }


def _generation_config() -> dict[str, object]:
    return {"do_sample": True, "temperature": 1.0, "top_p": 1.0, "eos_token_id": 1, "pad_token_id": 0}


def _tokenizer(shape: Shape) -> dict[str, object]:
    tokens = vocabulary(shape.vocabulary)
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    added = [{"id": i, "content": token, **flags} for i, token in enumerate(tokens) if is_special(token)]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": None,
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": {"type": "Fuse"},
        # Byte-pair encoding that knows no pair to merge: every character stays alone.
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "vocab": {token: i for i, token in enumerate(tokens)},
            "merges": [],
        },
    }


def _tokenizer_config(shape: Shape) -> dict[str, object]:
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "pad_token": PAD,
        "eos_token": END,
        "model_max_length": shape.context,
        "clean_up_tokenization_spaces": False,
        "chat_template": CHAT_TEMPLATE,
    }


def _write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")


def _write_safetensors(path: Path, tensors: Weights) -> None:
    """Eight bytes of header length, a JSON header of names and offsets, then the raw numbers."""
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    body = bytearray()
    for name in sorted(tensors):
        raw = tensors[name].detach().to(torch.float32).contiguous().numpy().astype("<f4").tobytes()
        offsets = [len(body), len(body) + len(raw)]
        header[name] = {"dtype": "F32", "shape": list(tensors[name].shape), "data_offsets": offsets}
        body += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)
