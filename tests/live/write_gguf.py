"""Writes a folder with a small Llama as the one file that llama.cpp reads: `python write_gguf.py FOLDER FILE`, where gguf is."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gguf
import numpy as np

NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
NO_PAIR = "\u0100 \u0100"
"""llama.cpp wants one merge at least. Two zero bytes never meet in a prompt."""


def byte_letters() -> dict[int, str]:
    """GPT-2's letter for each byte: itself where it can be seen, else one from beyond."""
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    unseen = [byte for byte in range(256) if byte not in seen]
    return {byte: chr(byte) for byte in seen} | {byte: chr(256 + at) for at, byte in enumerate(unseen)}


def tensors(file: Path) -> Iterator[tuple[str, Any]]:
    data = file.read_bytes()
    size = int.from_bytes(data[:8], "little")
    types = {"F32": np.float32, "F16": np.float16}
    for name, about in json.loads(data[8 : 8 + size]).items():
        if name != "__metadata__":
            start, end = about["data_offsets"]
            flat = np.frombuffer(data[8 + size + start : 8 + size + end], types[about["dtype"]])
            yield name, flat.astype(np.float32).reshape(about["shape"])


def interleaved(weight: Any, heads: int) -> Any:
    """Hugging Face turns the first half of a head against the second; llama.cpp turns neighbours."""
    rows, columns = weight.shape
    return weight.reshape(heads, 2, rows // heads // 2, columns).swapaxes(1, 2).reshape(rows, columns)


def add_tokens(writer: gguf.GGUFWriter, folder: Path, size: int) -> None:
    raw = json.loads((folder / "tokenizer.json").read_text())
    options = json.loads((folder / "tokenizer_config.json").read_text())
    vocabulary: dict[str, int] = raw["model"]["vocab"]
    added = {token["content"]: token for token in raw["added_tokens"]}
    if raw["pre_tokenizer"] is None:  # its tokens are characters: spelt in bytes, as llama.cpp reads
        letters = byte_letters()
        vocabulary = {
            text if text in added else "".join(letters[byte] for byte in text.encode()): number
            for text, number in vocabulary.items()
        }
    texts = [f"<unused{number}>" for number in range(size)]
    kinds = [int(gguf.TokenType.UNUSED)] * size
    for text, number in {**vocabulary, **{text: token["id"] for text, token in added.items()}}.items():
        texts[number], kinds[number] = text, int(gguf.TokenType.NORMAL)
        if text in added:
            control = added[text]["special"]
            kinds[number] = int(gguf.TokenType.CONTROL if control else gguf.TokenType.USER_DEFINED)
    merges = [one if isinstance(one, str) else " ".join(one) for one in raw["model"].get("merges", ())]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(texts)
    writer.add_token_types(kinds)
    writer.add_token_merges(merges or [NO_PAIR])
    writer.add_eos_token_id(texts.index(options["eos_token"]))
    writer.add_pad_token_id(texts.index(options["pad_token"]))
    writer.add_add_bos_token(False)
    writer.add_chat_template(options["chat_template"])


def main(folder: Path, file: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    turns = config.get("rope_parameters") or config
    heads, pairs = config["num_attention_heads"], config["num_key_value_heads"]
    writer = gguf.GGUFWriter(file, "llama")
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(heads)
    writer.add_head_count_kv(pairs)
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_dimension_count(config["head_dim"])
    writer.add_rope_freq_base(turns.get("rope_theta", 10000.0))
    writer.add_vocab_size(config["vocab_size"])
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    add_tokens(writer, folder, config["vocab_size"])
    for name, tensor in tensors(folder / "model.safetensors"):
        place = name.removesuffix(".weight")
        layer = ""
        if place.startswith("model.layers."):
            _, _, number, place = place.split(".", 3)
            layer = f"blk.{number}."
        turned = {"self_attn.q_proj": heads, "self_attn.k_proj": pairs}.get(place)
        values = tensor if turned is None else interleaved(tensor, turned)
        writer.add_tensor(f"{layer}{NAMES[place]}.weight", np.ascontiguousarray(values))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
