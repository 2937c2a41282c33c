"""How a code benchmark puts its question: the same task in four manners of asking, in words of our own.

standard   the task, and code alone as the reply
scot       first inputs and outputs, edge cases, the algorithm and its steps; then the code
few-shot   three small solved functions first
cgo        with helper functions, one for each step
"""

from model_accuracy_eval.records import Prompt

_CODE_ONLY = "Reply with one ```python block and nothing else."

_THOUGHT = """Before you write code, think in this order:
1. What goes in and what comes out, with their types.
2. Which inputs are unusual: empty, negative, repeated, very large.
3. Which algorithm fits, and why.
4. Its steps, one short line each.

{task}

{shown}

End with the code in one ```python block."""

_SOLVED = """Here are three tasks and their solutions.

Task: return the largest number of a non-empty list.
```python
def largest(numbers):
    best = numbers[0]
    for number in numbers[1:]:
        if number > best:
            best = number
    return best
```

Task: count the vowels of a text, whatever their case.
```python
def vowels(text):
    return sum(letter in "aeiou" for letter in text.lower())
```

Task: join a list of lists into one list.
```python
def joined(lists):
    return [item for one in lists for item in one]
```

Now this one. {task}

{shown}

{code_only}"""

_STEPS = """{task} Split the work into small helper functions, one for each step, and let the function call them.

{shown}

{code_only}"""

_MANNERS = {
    "standard": "{task} {code_only}\n\n{shown}",
    "scot": _THOUGHT,
    "few-shot": _SOLVED,
    "cgo": _STEPS,
}
STRATEGIES = tuple(_MANNERS)


def asked(task: str, shown: str) -> Prompt:
    """`task` says what to do and `shown` what there is to go by: Jinja templates over a row."""
    filled = {
        name: manner.replace("{task}", task).replace("{code_only}", _CODE_ONLY).replace("{shown}", shown)
        for name, manner in _MANNERS.items()
    }
    return Prompt(question=filled["standard"], strategies=filled)
