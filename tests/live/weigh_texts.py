"""Log-likelihoods by transformers itself: `python weigh_texts.py FOLDER`, with the questions as JSON on standard input.

`endings`: pairs of context and ending; of each the sum, the number of tokens, whether all were the likeliest, and whether
a token reaches across the boundary. `letters`: chat questions; of each what the likely letters have as first token.
"""

import json
import math
import sys
from itertools import takewhile
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

torch.set_num_threads(1)
tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
model = AutoModelForCausalLM.from_pretrained(sys.argv[1], dtype=torch.float32)
model.eval()


def rows(ids: list[int]) -> Any:
    with torch.no_grad():
        return torch.log_softmax(model(torch.tensor([ids])).logits[0].double(), dim=-1)


def ending(context: str, continuation: str) -> dict[str, Any]:
    kept = context.rstrip()
    before = tokenizer(kept, add_special_tokens=False).input_ids
    ids = tokenizer(context + continuation, add_special_tokens=False).input_ids
    begin = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(before, ids, strict=False))))
    found = rows(ids)
    places = range(begin, len(ids))
    return {
        "logprob": sum(found[at - 1, ids[at]].item() for at in places),
        "tokens": len(places),
        "greedy": all(found[at - 1].argmax().item() == ids[at] for at in places),
        "straddles": begin < len(before),
    }


def letters(question: str) -> dict[str, tuple[float, float]]:
    """Of each letter among the first nineteen tokens, its log-probability by these, and by all of its tokens.

    The twentieth is left out with its letter: vLLM returns the token that it drew in its place if that is none of them.
    """
    text = tokenizer.apply_chat_template(
        [{"role": "user", "content": question}], tokenize=False, add_generation_prompt=True
    )
    last = rows(tokenizer(text, add_special_tokens=False).input_ids)[-1].exp()
    order = last.argsort(descending=True).tolist()
    names = [tokenizer.decode([number]).strip() for number in order]
    shares = [last[number].item() for number in order]
    found = {}
    for letter in set(names[:19]).difference(names[19:21]):
        near, all_tokens = (
            sum(share for name, share in zip(names[:end], shares, strict=False) if name == letter)
            for end in (19, len(names))
        )
        found[letter] = (math.log(near), math.log(all_tokens))
    return found


asked = json.load(sys.stdin)
json.dump(
    {
        "endings": [ending(*pair) for pair in asked.get("endings", ())],
        "letters": [letters(question) for question in asked.get("letters", ())],
    },
    sys.stdout,
)
