"""The example adapter's server with one fault of an inference engine: python broken_adapter.py FAULT WEIGHTS PORT …

Each fault is a few lines over the real network, so what comes out is what an engine with that fault would say.
"""

import random
import sys
from collections.abc import Callable
from typing import Any

if __name__ == "__main__":
    sys.path.pop(0)  # the `http` beside this file is not Python's; PYTHONPATH leads to the adapter

import numpy as np
import server as healthy
from tinyserver import (
    chat_reader,
    engine,
    handler,
    model,
    records,
    replies,
    requests,
    sampling,
    stops,
    tokenizer,
    writing,
)

Patch = Callable[[], None]
FAULTS: dict[str, tuple[Patch, str]] = {}
"""Name → what breaks the server, and the probe that should see it; empty: none can, as the service agrees with itself."""


def fault(name: str, seen_by: str) -> Callable[[Patch], Patch]:
    def add(patch: Patch) -> Patch:
        FAULTS[name] = patch, seen_by
        return patch

    return add


def around(owner: Any, name: str, wrap: Callable[[Any], Any]) -> None:
    setattr(owner, name, wrap(getattr(owner, name)))


# How tokens are drawn.


def drawn_by(change: Callable[[Any, Any], Any]) -> None:
    """`change` gets the scores and the samplings."""
    around(engine, "draw", lambda real: lambda scores, samplings, dice: real(*change(scores, samplings), dice))


def with_sampling(**changes: Callable[[Any], Any]) -> None:
    def change(scores: Any, samplings: Any) -> Any:
        return scores, [
            sampling.Sampling(
                **{
                    name: changes.get(name, lambda value: value)(getattr(each, name))
                    for name in ("temperature", "top_p", "seed")
                }
            )
            for each in samplings
        ]

    drawn_by(change)


def kept_only(keep: Callable[[Any], Any]) -> None:
    """Scores of the tokens that `keep` leaves, of chances row by row."""
    drawn_by(lambda scores, samplings: (np.where(keep(np.exp(sampling.log_softmax(scores))), scores, -1e9), samplings))


@fault("min_p added", "samplers")
def _() -> None:
    kept_only(lambda chances: chances >= 0.1 * chances.max(-1, keepdims=True))


@fault("temperature halved", "samplers")
def _() -> None:
    with_sampling(temperature=lambda value: value / 2)


@fault("top_p ignored", "samplers")
def _() -> None:
    with_sampling(top_p=lambda value: 1.0)


@fault("the first request's sampling for its whole batch", "samplers")
def _() -> None:
    drawn_by(lambda scores, samplings: (scores, [samplings[0]] * len(samplings)))


@fault("temperature halved from the second token", "surprise")
def _() -> None:
    def later(real: Any) -> Any:
        def draw(scores: Any, samplings: Any, dice: Any) -> Any:
            used = [getattr(each, "used", False) for each in dice]
            for each in dice:
                each.used = True
            colder = [
                sampling.Sampling(each.temperature / (1 + again), each.top_p, each.seed)
                for each, again in zip(samplings, used, strict=True)
            ]
            return real(scores, colder, dice)

        return draw

    around(engine, "draw", later)


def at_each_writing(change: Callable[[Any], Any]) -> None:
    """`change` gets a sequence that is being written before its next token, and returns its scores."""

    def write(real: Any) -> Any:
        def written(self: Any, writers: Any, pieces: Any) -> Any:
            for writer in writers:
                writer.scores = change(writer)
            done = real(self, writers, pieces)
            for writer in writers:
                writer.so_far = [*getattr(writer, "so_far", []), writer.newest]
            return done

        return written

    around(engine.Engine, "_write", write)


@fault("penalty on repetition added", "decoding")
def _() -> None:
    def punished(writer: Any) -> Any:
        scores = writer.scores.copy()
        again = list({*getattr(writer, "so_far", [])})
        scores[again] = np.where(scores[again] > 0, scores[again] / 1.3, scores[again] * 1.3)
        return scores

    at_each_writing(punished)


@fault("penalty on repetition added behind the log-probabilities", "surprise")
def _() -> None:
    def draw(real: Any) -> Any:
        def drawn(scores: Any, samplings: Any, dice: Any) -> Any:
            scores = scores.copy()
            for row, each in zip(scores, dice, strict=True):
                again = list(getattr(each, "so_far", ()))
                row[again] -= 1.0
            tokens = real(scores, samplings, dice)
            for token, each in zip(tokens.tolist(), dice, strict=True):
                each.so_far = {*getattr(each, "so_far", ()), token}
            return tokens

        return drawn

    around(engine, "draw", draw)


@fault("one seed for all", "seeds")
def _() -> None:
    sampling.Sampling.dice = lambda self, choice: random.Random(7 + choice)  # type: ignore[method-assign]


@fault("choices are copies", "choices")
def _() -> None:
    around(sampling.Sampling, "dice", lambda real: lambda self, choice: real(self, 0))


# How an answer ends, and what is told of it.


@fault("end token ignored", "ends")
def _() -> None:
    around(
        writing.Writer,
        "add",
        lambda real: lambda self, token, score, tokenizer, end: real(self, token, score, tokenizer, -1),
    )


@fault("lower cap", "caps")
def _() -> None:
    around(requests, "_room", lambda real: lambda *a: min(8, real(*a)))


@fault("cap passed over", "caps")
def _() -> None:
    around(requests, "_room", lambda real: lambda *a: real(*a) + 3)


@fault("usage counts one more", "forms")
def _() -> None:
    around(
        replies.Reply,
        "_usage",
        lambda real: lambda self: {**(told := real(self)), "completion_tokens": told["completion_tokens"] + 1},
    )


@fault("usage of streams counts fewer tokens of prompts", "forms")
def _() -> None:
    def fewer(real: Any) -> Any:
        def told(self: Any) -> Any:
            chunk = real(self)
            return {**chunk, "usage": {**chunk["usage"], "prompt_tokens": max(0, chunk["usage"]["prompt_tokens"] - 2)}}

        return told

    around(replies.Reply, "usage_chunk", fewer)


@fault("stop strings within tokens only", "forms")
def _() -> None:
    class Forgetful(stops.StopWatch):
        def feed(self, text: str) -> str:
            self._held = ""
            return super().feed(text) + self.flush() if not self.hit else ""

    around(writing, "StopWatch", lambda _: Forgetful)


@fault("last piece of a stream lost", "forms")
def _() -> None:
    def chunk(real: Any) -> Any:
        return lambda self, piece: {**real(self, piece), **({"delta": {}} if piece.finish else {})}

    around(writing.Writer, "add", _late)
    around(replies.ChatShape, "chunk", chunk)


def _late(real: Any) -> Any:
    """One piece behind, so that the last one has a text."""

    def add(self: Any, *rest: Any) -> Any:
        piece, before = real(self, *rest), getattr(self, "_kept", "")
        if piece is None:
            return None
        self._kept = piece.text
        if piece.finish:
            return type(piece)(piece.choice, before + piece.text, piece.tokens, piece.scores, piece.finish)
        return type(piece)(piece.choice, before, piece.tokens, piece.scores, None)

    return add


@fault("whole text in every piece", "forms")
def _() -> None:
    texts: dict[Any, str] = {}

    def chunk(real: Any) -> Any:
        def told(self: Any, piece: Any) -> Any:
            texts[id(self), piece.choice] = so_far = texts.get((id(self), piece.choice), "") + piece.text
            if piece.finish is not None:
                del texts[id(self), piece.choice]
            return {**real(self, piece), "delta": {"content": so_far}}

        return told

    around(replies.ChatShape, "chunk", chunk)


@fault("streams always end by stop", "caps")
def _() -> None:
    around(
        replies.ChatShape,
        "chunk",
        lambda real: lambda self, piece: {**real(self, piece), "finish_reason": piece.finish and "stop"},
    )


# What neighbours, the cache and the past do to an answer.


def noisy(scores: Any) -> Any:
    """As from garbage in the cache."""
    return np.roll(scores, 1, axis=-1)


def wrong_step(is_wrong: Callable[[Any, Any], bool]) -> None:
    """Steps of a batch whose scores are garbage."""
    around(
        model.Model,
        "step",
        lambda real: (
            lambda self, tokens, caches: (noisy if is_wrong(tokens, caches) else np.asarray)(real(self, tokens, caches))
        ),
    )


@fault("wrong from 33 in flight", "load")
def _() -> None:
    wrong_step(lambda tokens, caches: len(tokens) >= 33)


@fault("rows of a batch mixed up", "load")
def _() -> None:
    def step(real: Any) -> Any:
        return lambda self, tokens, caches: (
            (s := real(self, tokens, caches)) + (0.4 * np.roll(s, 1, axis=0) if len(s) > 1 else 0)
        )

    around(model.Model, "step", step)


@fault("batches of 3, 5, 6 and 7 wrong", "load")
def _() -> None:
    wrong_step(lambda tokens, caches: len(tokens) in {3, 5, 6, 7})


@fault("wrong beside a neighbour of over 300 tokens", "load")
def _() -> None:
    wrong_step(lambda tokens, caches: len(caches) > 1 and max(cache.length for cache in caches) > 300)


@fault("equal prompts in flight share a cache", "load")
def _() -> None:
    def write(real: Any) -> Any:
        def written(self: Any, writers: Any, pieces: Any) -> Any:
            first: dict[Any, Any] = {}
            for writer in writers:
                if first.setdefault(writer.job.prompt, writer) is not writer:
                    writer.scores = noisy(writer.scores)
            return real(self, writers, pieces)

        return written

    around(engine.Engine, "_write", write)


@fault("one reply in thirty garbled", "repeats")
def _() -> None:
    dice = random.Random(1)

    def read(real: Any) -> Any:
        def at_times(self: Any, prompt: Any, pictures: Any = ()) -> Any:
            hidden, cache = real(self, prompt, pictures)
            return (noisy(hidden) if dice.random() < 1 / 30 else hidden), cache

        return at_times

    around(model.Model, "read", read)


@fault("padding seen in batches", "load")
def _() -> None:
    def together(real: Any) -> Any:
        def step(self: Any, tokens: Any, caches: Any) -> Any:
            longest = max(cache.length for cache in caches)
            return np.concatenate(
                [
                    noisy(row) if cache.length < longest - 4 else row
                    for row, cache in zip(real(self, tokens, caches)[:, None], caches, strict=True)
                ]
            )

        return step

    around(model.Model, "step", together)


def prefix_cache(reused: Callable[[Any, tuple[int, ...]], Any], key: Callable[[tuple[int, ...]], Any]) -> None:
    """Prompts that were read once are looked up; `reused` makes of the kept entry what is answered from it."""
    kept: dict[Any, Any] = {}

    def read(real: Any) -> Any:
        def looked_up(self: Any, prompt: Any, pictures: Any = ()) -> Any:
            found = kept.get(key(tuple(prompt)))
            if found is not None and len(prompt) > 64:
                return reused(found, tuple(prompt))
            kept[key(tuple(prompt))] = result = real(self, prompt, pictures)
            return result[0], result[1].copy()

        return looked_up

    around(model.Model, "read", read)


@fault("cache off by one", "cache")
def _() -> None:
    def shorter(found: Any, prompt: tuple[int, ...]) -> Any:
        hidden, cache = found
        return hidden[:-1], model.Cache(cache.memory.copy(), cache.length - 1)

    prefix_cache(shorter, lambda prompt: prompt)


@fault("another prompt's cache", "prompts")
def _() -> None:
    prefix_cache(lambda found, prompt: (found[0], found[1].copy()), lambda prompt: (prompt[:64], len(prompt) // 64))


@fault("garbage after a flood", "cache")
def _() -> None:
    seen: list[int] = []

    def read(real: Any) -> Any:
        def counted(self: Any, prompt: Any, pictures: Any = ()) -> Any:
            hidden, cache = real(self, prompt, pictures)
            seen.append(len(prompt))
            long_ones = sum(length > 64 for length in seen)
            return (noisy(hidden), cache) if len(prompt) > 64 and long_ones > 150 else (hidden, cache)

        return counted

    around(model.Model, "read", read)


@fault("given up requests leave their slot", "hanging up")
def _() -> None:
    gone: list[Any] = []

    def cancel(real: Any) -> Any:
        def cancelled(self: Any, ticket: Any) -> None:
            gone.extend([ticket] if ticket._open else [])
            real(self, ticket)

        return cancelled

    around(engine.Engine, "cancel", cancel)
    around(
        model.Model,
        "logits",
        lambda real: lambda self, hidden: noisy(real(self, hidden)) if gone else real(self, hidden),
    )


@fault("hanging up garbles the next tokens of all", "hanging up")
def _() -> None:
    spoilt = {"tokens": 0}

    def cancel(real: Any) -> Any:
        def cancelled(self: Any, ticket: Any) -> None:
            spoilt["tokens"] = 200 if ticket._open else spoilt["tokens"]
            real(self, ticket)

        return cancelled

    def scores(writer: Any) -> Any:
        spoilt["tokens"] = max(0, spoilt["tokens"] - 1)
        return noisy(writer.scores) if spoilt["tokens"] else writer.scores

    around(engine.Engine, "cancel", cancel)
    at_each_writing(scores)


# What the network does while it writes.


@fault("wrong from position 256 while writing", "decoding")
def _() -> None:
    def step(real: Any) -> Any:
        def stepped(self: Any, tokens: Any, caches: Any) -> Any:
            far = [cache.length >= 256 for cache in caches]
            scores = real(self, tokens, caches)
            return np.stack([noisy(row) if is_far else row for row, is_far in zip(scores, far, strict=True)])

        return stepped

    around(model.Model, "step", step)


@fault("wrong after 40 written tokens", "decoding")
def _() -> None:
    at_each_writing(lambda writer: noisy(writer.scores) if len(getattr(writer, "so_far", [])) >= 40 else writer.scores)


@fault("positions off by one while writing", "decoding")
def _() -> None:
    def together(real: Any) -> Any:
        def step(self: Any, tokens: Any, caches: Any) -> Any:
            cos, sin = self._cos, self._sin
            self._cos, self._sin = np.roll(cos, -1, axis=0), np.roll(sin, -1, axis=0)
            try:
                return real(self, tokens, caches)
            finally:
                self._cos, self._sin = cos, sin

        return step

    around(model.Model, "_step_together", together)


@fault("cache kept in few bits", "decoding")
def _() -> None:
    def together(real: Any) -> Any:
        def step(self: Any, tokens: Any, caches: Any) -> Any:
            for cache in caches:
                cache.memory = np.round(cache.memory * 1.5) / 1.5
            return real(self, tokens, caches)

        return step

    around(model.Model, "_step_together", together)


# Faults that show only where two circumstances meet.


@fault("top_p before temperature", "samplers")
def _() -> None:
    def change(scores: Any, samplings: Any) -> Any:
        limits = np.array([each.top_p if each.temperature else 1.0 for each in samplings])
        kept = sampling.keep_likeliest(np.exp(sampling.log_softmax(scores)), limits) > 0
        return np.where(kept, scores, -1e9), [sampling.Sampling(each.temperature, 1.0, each.seed) for each in samplings]

    drawn_by(change)


@fault("greedy rows sampled beside sampled ones", "company")
def _() -> None:
    def change(scores: Any, samplings: Any) -> Any:
        is_mixed = any(each.temperature for each in samplings)
        least = 1.0 if is_mixed else 0.0
        return scores, [sampling.Sampling(each.temperature or least, each.top_p, each.seed) for each in samplings]

    drawn_by(change)


@fault("a stop string's character banned in the next answer", "company")
def _() -> None:
    banned: list[int] = []

    def begin(real: Any) -> Any:
        def begun(self: Any, prompt: Any, tokenizer: Any) -> Any:
            self.banned = banned.copy()
            banned[:] = tokenizer.encode(self.job.stops[0][:1]) if self.job.stops else []
            return real(self, prompt, tokenizer)

        return begun

    def without(writer: Any) -> Any:
        scores = writer.scores.copy()
        scores[writer.banned] = -1e9
        return scores

    around(writing.Writer, "begin", begin)
    at_each_writing(without)


@fault("wrong where a prompt of whole blocks is in the cache", "cache")
def _() -> None:
    kept: set[tuple[int, ...]] = set()

    def read(real: Any) -> Any:
        def looked_up(self: Any, prompt: Any, pictures: Any = ()) -> Any:
            hidden, cache = real(self, prompt, pictures)
            if len(prompt) % 16 == 0 and tuple(prompt) in kept:
                hidden = np.concatenate([hidden[:-1], hidden[-2:-1]])
            kept.update(tuple(prompt[:end]) for end in range(16, len(prompt) + 1, 16))
            return hidden, cache

        return looked_up

    around(model.Model, "read", read)


@fault("equal requests in one piece get the reply of the first", "seeds")
def _() -> None:
    told: dict[bytes, Any] = {}

    def act(real: Any) -> Any:
        def acted(self: Any) -> None:
            if self._body in told:
                self._send_json(200, told[self._body])
            else:
                real(self)

        return acted

    def send(real: Any) -> Any:
        def sent(self: Any, status: int, value: Any) -> None:
            if status == 200 and self._body:
                told[self._body] = value
            real(self, status, value)

        return sent

    around(handler.Handler, "_act", act)
    around(handler.Handler, "_send_json", send)


@fault("second chunk of 512 tokens of a prompt sees nothing of the first", "prompts")
def _() -> None:
    def read(real: Any) -> Any:
        def in_chunks(self: Any, prompt: Any, pictures: Any = ()) -> Any:
            hidden, cache = real(self, prompt, pictures)
            for begin in range(512, len(prompt), 512):
                places = np.arange(begin, min(begin + 512, len(prompt)))
                memory = np.zeros_like(cache.memory)[None]
                inputs = self._embedding[np.array(prompt)[places]]
                hidden[places] = self._forward(inputs[None], places[None], memory)[0]
                cache.memory[..., places, :] = memory[0][..., places, :]
            return hidden, cache

        return in_chunks

    around(model.Model, "read", read)


@fault("only the first stop string of a list", "forms")
def _() -> None:
    around(stops.StopWatch, "__init__", lambda real: lambda self, texts: real(self, texts[:1]))


@fault("two tokens less for answers with a list of stop strings", "forms")
def _() -> None:
    def read(real: Any) -> Any:
        def less(body: Any, served: Any) -> Any:
            fewer = 2 if body.get("stop") else 0
            return real({**body, "max_tokens": max(1, body.get("max_tokens", 16) - fewer)}, served)

        return less

    around(handler, "read_chat", read)


@fault("usage leaves out prompt tokens from the cache", "cache")
def _() -> None:
    seen: set[tuple[int, ...]] = set()

    def reply(real: Any) -> Any:
        def answered(self: Any, asked: Any, shape: Any) -> None:
            prompt = asked.jobs[0].prompt
            self.cached = len(prompt) // 16 * 16 if prompt in seen and len(prompt) > 64 else 0
            seen.add(prompt)
            real(self, asked, shape)

        return answered

    def send(real: Any) -> Any:
        def sent(self: Any, status: int, value: Any) -> None:
            if "usage" in value:
                value["usage"]["prompt_tokens"] -= self.cached
            real(self, status, value)

        return sent

    around(handler.Handler, "_answer", reply)
    around(handler.Handler, "_send_json", send)


@fault("usage counts the first choice alone", "forms")
def _() -> None:
    def chunks(real: Any) -> Any:
        def told(self: Any, pieces: Any) -> Any:
            events = real(self, pieces)
            self._made -= sum(piece.tokens for piece in pieces if piece.choice)
            return events

        return told

    def whole(real: Any) -> Any:
        def told(self: Any, wholes: Any) -> Any:
            said = real(self, wholes)
            self._made = wholes[0].tokens
            return {**said, "usage": self._usage()}

        return told

    around(replies.Reply, "chunks", chunks)
    around(replies.Reply, "whole", whole)


@fault("blanks of their own lost in streams", "forms")
def _() -> None:
    def chunk(real: Any) -> Any:
        return lambda self, piece: {**real(self, piece), **({} if piece.text.strip() else {"delta": {}})}

    around(replies.ChatShape, "chunk", chunk)


@fault("hanging up ends another answer as if it were complete", "hanging up")
def _() -> None:
    def cancel(real: Any) -> Any:
        def cancelled(self: Any, ticket: Any) -> None:
            others = [writer for writer in self._live if writer.ticket is not ticket]
            if ticket._open and others:
                others[0].is_ended = True
            real(self, ticket)

        return cancelled

    def add(real: Any) -> Any:
        def added(self: Any, token: int, score: Any, tokens: Any, end: int) -> Any:
            return real(self, token, score, tokens, token if getattr(self, "is_ended", False) else end)

        return added

    around(engine.Engine, "cancel", cancel)
    around(writing.Writer, "add", add)


@fault("choices share their first token", "choices")
def _() -> None:
    class Dice(random.Random):
        shared: float | None = None

        def random(self) -> float:
            own, shared = super().random(), self.shared
            self.shared = None
            return own if shared is None else shared

    def dice(self: Any, choice: int) -> Any:
        own = Dice() if self.seed is None else Dice((self.seed + choice) % 2**64)
        if choice:
            own.shared = self.__dict__["first"]
        else:
            self.__dict__["first"] = own.shared = own.random()
        return own

    sampling.Sampling.dice = dice  # type: ignore[method-assign]


@fault("seed 0 is none", "seeds")
def _() -> None:
    with_sampling()
    around(
        sampling.Sampling,
        "dice",
        lambda real: lambda self, choice: random.Random() if self.seed == 0 else real(self, choice),
    )


@fault("garbage from request 1,500 on, now and then", "lasting")
def _() -> None:
    begun = [0]

    def begin(real: Any) -> Any:
        def started(self: Any, *rest: Any) -> Any:
            piece = real(self, *rest)
            begun[0] += 1
            if begun[0] > 1500 and begun[0] % 8 == 0:
                self.scores = noisy(self.scores)
            return piece

        return started

    around(writing.Writer, "begin", begin)


def told_otherwise(change: Callable[[Any], Any]) -> None:
    """`change` gets what is told of a token."""
    for owner in (engine, writing):
        around(owner, "score_of", lambda real: lambda *rest: change(real(*rest)))


@fault("log-probabilities over the tokens that are told", "forms")
def _() -> None:
    def change(score: Any) -> Any:
        if not score.top:
            return score
        total = np.log(sum(np.exp(logprob) for _, logprob in score.top))
        top = tuple((token, float(logprob - total)) for token, logprob in score.top)
        return records.Score(score.token, float(score.logprob - total), top)

    told_otherwise(change)


@fault("log-probabilities of another row beside requests without", "company")
def _() -> None:
    rows: list[int] = []

    def write(real: Any) -> Any:
        def written(self: Any, writers: Any, pieces: Any) -> Any:
            rows[:] = [row for row, writer in enumerate(writers) if writer.job.top is not None]
            return real(self, writers, pieces)

        return written

    def logs(real: Any) -> Any:
        def packed(scores: Any) -> Any:
            told = real(scores)
            mixed = told.copy()
            mixed[rows] = told[: len(rows)]
            return mixed

        return packed

    around(engine.Engine, "_write", write)
    around(engine, "log_softmax", logs)


@fault("a backslash and n in prompts become a line feed", "prompts")
def _() -> None:
    around(tokenizer.Tokenizer, "encode", lambda real: lambda self, text: real(self, text.replace("\\n", "\n")))


# Faults that a service has in everything it says, so that it agrees with itself: only a reference shows them.


@fault("one layer left out", "")
def _() -> None:
    around(model.Model, "__init__", lambda real: lambda self, *a: (real(self, *a), self._layers.pop())[0])


@fault("weights in few bits", "")
def _() -> None:
    def rounded(real: Any) -> Any:
        def made(self: Any, *rest: Any) -> None:
            real(self, *rest)
            self._unembedding = np.round(self._unembedding * 8) / 8

        return made

    around(model.Model, "__init__", rounded)


@fault("a beginning token added", "")
def _() -> None:
    def told(real: Any) -> Any:
        def read(self: Any, messages: Any) -> Any:
            tokens, pictures = real(self, messages)
            return (0, *tokens), pictures

        return read

    around(chat_reader.ChatReader, "read", told)


def main() -> None:
    name, weights, port, *more = sys.argv[1:]
    if name != "healthy":
        FAULTS[name][0]()
    sys.argv = ["server.py", weights, "--port", port, *more]
    healthy.main()


if __name__ == "__main__":
    main()
