"""Writes a tiny model that servers load: `python write_model.py random|speaking|thinking FOLDER`, where torch is.

random    a Llama of random weights, whose tokens are several characters long
speaking  a Llama that knows the three conversations of `CONVERSATIONS` by heart, with a tool call and a thought
thinking  one that knows `COUNTED`, and does not think where its template is told `enable_thinking` false
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)

CORPUS = [
    "The quick brown fox jumps over the lazy dog, and the dog sleeps on.",
    "Question: what is 12 plus 30? Answer: 42. What is the answer to the question?",
    "There are twenty-four hours in a day; there is another one tomorrow.",
    "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20",
]
ENDS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
MARKS = ["<think>", "</think>", "<tool_call>", "</tool_call>"]
"""What vLLM's parsers look for. They are part of the text, so a decoder must not leave them out."""

TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' }}"
    "{% if message['content'] is string %}{{ message['content'] }}{% elif message['content'] %}"
    "{% for part in message['content'] %}{{ part['text'] }}{% endfor %}{% endif %}"
    "{% for call in message['tool_calls'] or [] %}"
    "{{ '<tool_call>\n{\"name\": \"' + call['function']['name'] + '\", \"arguments\": ' }}"
    "{% if call['function']['arguments'] is string %}{{ call['function']['arguments'] }}"
    "{% else %}{{ call['function']['arguments'] | tojson }}{% endif %}{{ '}\n</tool_call>' }}{% endfor %}"
    "{{ '<|im_end|>\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)

CALL = '<tool_call>\n{"name": "calculator", "arguments": {"expression": "12*34"}}\n</tool_call>'
SUM = [("user", "What is 12*34?"), ("assistant", CALL), ("tool", "408"), ("assistant", "#### 408")]
THOUGHT = [("user", "Think: what is 6*7?"), ("assistant", "<think>\nsix times seven\n</think>\n\n#### 42")]
LETTER = [("user", "Which letter comes first in the alphabet?"), ("assistant", "A")]
CONVERSATIONS = (SUM, THOUGHT, LETTER)
UNSAID = "<think>\n\n</think>\n\n"
"""What the template says for a model that is not to think."""
SWITCH = f"{{% if add_generation_prompt and enable_thinking is false %}}{{{{ {UNSAID!r} }}}}{{% endif %}}"
COUNT = [("user", "How many whole numbers from 1 to 300 are divisible by 3 or by 7, but not by both?")]
"""What `--thinking` asks to see its effect."""
COUNTED = (
    [*COUNT, ("assistant", "<think>\n100 + 42 - 2 * 14\n</think>\n\n114")],
    [*COUNT, ("assistant", f"{UNSAID}114")],
)
_STEPS, _SURE = 1500, 0.002
"""Training ends when the mean loss of a token is that small."""


def make_tokenizer(marks: list[str]) -> PreTrainedTokenizerFast:
    """Byte-level, with a few merges, so that a token may reach across the end of a prompt."""
    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=ENDS, initial_alphabet=alphabet, show_progress=False)
    raw.train_from_iterator(CORPUS, trainer)
    raw.add_tokens(marks)
    return PreTrainedTokenizerFast(
        tokenizer_object=raw, eos_token="<|im_end|>", pad_token="<|endoftext|>", chat_template=TEMPLATE
    )


def sizes(tokenizer: PreTrainedTokenizerFast, spread: float) -> dict[str, object]:
    return {
        "vocab_size": (len(tokenizer) + 63) // 64 * 64,
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "max_position_embeddings": 32768,  # thoughts are given room
        "tie_word_embeddings": False,
        "initializer_range": spread,
        "bos_token_id": tokenizer.convert_tokens_to_ids("<|endoftext|>"),
        "eos_token_id": tokenizer.convert_tokens_to_ids("<|im_end|>"),
        "pad_token_id": tokenizer.convert_tokens_to_ids("<|endoftext|>"),
    }


def random_model(tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """A wide spread of the weights makes some tokens much likelier than others."""
    return LlamaForCausalLM(LlamaConfig(**sizes(tokenizer, 0.3), head_dim=32))


def speaking_model(
    tokenizer: PreTrainedTokenizerFast, conversations: Sequence[list[tuple[str, str]]] = CONVERSATIONS
) -> LlamaForCausalLM:
    """Trained on every answer of every conversation, given all that was said before it."""
    model = LlamaForCausalLM(LlamaConfig(**sizes(tokenizer, 0.02), head_dim=32))
    examples = []
    for conversation in conversations:
        for place, (role, said) in enumerate(conversation):
            if role == "assistant":
                before = "".join(f"<|im_start|>{who}\n{what}<|im_end|>\n" for who, what in conversation[:place])
                unsaid = UNSAID if said.startswith(UNSAID) else ""
                asked = tokenizer.encode(f"{before}<|im_start|>assistant\n{unsaid}")
                answer = tokenizer.encode(f"{said.removeprefix(UNSAID)}<|im_end|>")
                examples.append((asked + answer, [-100] * len(asked) + answer))
    longest = max(len(tokens) for tokens, _ in examples)
    tokens = torch.tensor([tokens + [0] * (longest - len(tokens)) for tokens, _ in examples])
    labels = torch.tensor([labels + [-100] * (longest - len(labels)) for _, labels in examples])
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(_STEPS):
        loss = model(input_ids=tokens, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if loss.item() < _SURE:
            return model
    raise SystemExit(f"The conversations are not learnt in {_STEPS} steps.")


def main(kind: str, folder: Path) -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    tokenizer = make_tokenizer([] if kind == "random" else MARKS)
    if kind == "thinking":
        tokenizer.chat_template = TEMPLATE + SWITCH
        model = speaking_model(tokenizer, COUNTED)
    else:
        model = {"random": random_model, "speaking": speaking_model}[kind](tokenizer)
    model.generation_config.do_sample = True  # else `transformers serve` answers greedily at any temperature
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    settings = folder / "tokenizer_config.json"
    options = {**json.loads(settings.read_text()), "chat_template": tokenizer.chat_template}
    settings.write_text(json.dumps(options))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
