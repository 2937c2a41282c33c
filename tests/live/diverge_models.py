"""How far one model is from another, by transformers alone: `python diverge_models.py change int8|layer FOLDER CHANGED`
writes a changed model, `python diverge_models.py compare FOLDER CHANGED` compares both over the answers of a trace, which
is standard input.
"""

import json
import math
import shutil
import sys
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

torch.set_num_threads(1)
TOLD = 20


def load(folder: Path) -> Any:
    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()


def change(kind: str, folder: Path, changed: Path) -> None:
    """`int8`: each matrix of a layer is rounded to 255 values. `layer`: the last one adds nothing."""
    model = load(folder)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if kind == "int8" and weight.dim() == 2 and "layers" in name:
                step = weight.abs().max() / 127
                weight.copy_((weight / step).round() * step)
            if kind == "layer" and "layers.1." in name and name.endswith(("o_proj.weight", "down_proj.weight")):
                weight.zero_()
    shutil.copytree(folder, changed)
    model.save_pretrained(changed)


def compare(folder: Path, changed: Path) -> dict[str, Any]:
    """At every token of every answer: of the twenty likeliest tokens and of all others together, of the whole vocabulary,
    and of the least that services can tell (`told`): the texts that both have among their twenty, and all others."""
    tokenizer, before, after = AutoTokenizer.from_pretrained(folder), load(folder), load(changed)
    texts = [tokenizer.decode([token]) for token in range(before.config.vocab_size)]
    found, told, whole_ones, straddling = [], [], [], 0
    for question, answer in json.load(sys.stdin)["answers"].items():
        chat = [{"role": "user", "content": question}]
        text = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
        prompt = tokenizer(text, add_special_tokens=False).input_ids
        whole = [*prompt, *answer["ids"]]
        straddling += tokenizer(text + answer["text"], add_special_tokens=False).input_ids not in (whole, whole[:-1])
        with torch.no_grad():
            old, new = (
                torch.log_softmax(model(torch.tensor([whole])).logits[0, len(prompt) - 1 : -1].double(), dim=-1)
                for model in (before, after)
            )
        whole_ones += (old.exp() * (old - new)).sum(-1).tolist()
        told += [told_by(texts, *each) for each in zip(old, new, strict=True)]
        top = old.topk(TOLD).indices
        old, new = (torch.cat([rest(each, top), each.gather(-1, top)], -1) for each in (old, new))
        found += (old.exp() * (old - new)).sum(-1).tolist()
    return {
        "mean": sum(found) / len(found),
        "p99": p99(found),
        "told_mean": sum(told) / len(told),
        "told_p99": p99(told),
        "whole_mean": sum(whole_ones) / len(whole_ones),
        "tokens": len(found),
        "straddling": straddling,
    }


def p99(values: list[float]) -> float:
    return sorted(values)[-(-99 * len(values) // 100) - 1]


def told_by(texts: list[str], old: Any, new: Any) -> float:
    """The divergence of what is known of both, which is no more than the whole where a text is one token."""
    both: list[dict[str, float]] = [{}, {}]
    for chances, logprobs in zip(both, (old, new), strict=True):
        for token in logprobs.topk(TOLD).indices.tolist():
            chances[texts[token]] = chances.get(texts[token], 0.0) + logprobs[token].exp().item()
    named = both[0].keys() & both[1].keys()
    pairs = [(both[0][text], both[1][text]) for text in named]
    pairs.append((1 - sum(p for p, _ in pairs), 1 - sum(q for _, q in pairs)))
    return sum(p * math.log(p / max(q, 1e-12)) for p, q in pairs if p > 1e-12)


def rest(logprobs: Any, top: Any) -> Any:
    return (1 - logprobs.exp().gather(-1, top).sum(-1, keepdim=True)).clamp_min(1e-12).log()


if __name__ == "__main__":
    verb, *words = sys.argv[1:]
    if verb == "change":
        change(words[0], Path(words[1]), Path(words[2]))
    else:
        json.dump(compare(Path(words[0]), Path(words[1])), sys.stdout)
