"""How far one model is from another, by transformers alone: `python diverge_models.py change int8|layer FOLDER CHANGED`
writes a changed model, `python diverge_models.py compare FOLDER CHANGED` compares both over the answers of a trace, which
is standard input.
"""

import json
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
    """At every token of every answer: of the twenty likeliest tokens and of all others together, which is what services
    tell, and of the whole vocabulary."""
    tokenizer, before, after = AutoTokenizer.from_pretrained(folder), load(folder), load(changed)
    found, whole_ones, straddling = [], [], 0
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
        top = old.topk(TOLD).indices
        old, new = (torch.cat([rest(each, top), each.gather(-1, top)], -1) for each in (old, new))
        found += (old.exp() * (old - new)).sum(-1).tolist()
    ordered = sorted(found)
    p99 = ordered[-(-99 * len(ordered) // 100) - 1]
    mean, whole_mean = (sum(each) / len(each) for each in (found, whole_ones))
    return {"mean": mean, "p99": p99, "whole_mean": whole_mean, "tokens": len(found), "straddling": straddling}


def rest(logprobs: Any, top: Any) -> Any:
    return (1 - logprobs.exp().gather(-1, top).sum(-1, keepdim=True)).clamp_min(1e-12).log()


if __name__ == "__main__":
    verb, *words = sys.argv[1:]
    if verb == "change":
        change(words[0], Path(words[1]), Path(words[2]))
    else:
        json.dump(compare(Path(words[0]), Path(words[1])), sys.stdout)
