"""What is left to chance: greedy answers, seeds, and several samples of one question."""

from model_accuracy_eval.doctor.asking import SILENT, Talk, either, refused, said, unknown
from model_accuracy_eval.records.doctor import Finding


async def greedy(talk: Talk) -> Finding:
    if not said(talk.first):
        return unknown("temperature 0", SILENT)
    reply = await talk.again()
    if reply.fault is not None:
        return refused("temperature 0", reply.fault, "The same request was answered a moment ago.")
    same = said(reply) == said(talk.first)
    told = "the same" if same else "different: figures will move a little between equal runs"
    return either("temperature 0", same, f"Two greedy answers are {told}.")


async def seed(talk: Talk) -> Finding:
    replies = [await talk.again(temperature=1.0, seed=seed) for seed in (7, 7, 8, 9)]
    fault = next((reply.fault for reply in replies if reply.fault is not None), None)
    if fault is not None:
        return refused("seed", fault, "Run without --seed.")
    texts = [said(reply) for reply in replies]
    if len(set(texts)) == 1:
        return unknown(
            "seed",
            "Three seeds gave one answer, which says nothing about seeds; if all samples of a run are equal, "
            "look whether the server obeys temperature.",
        )
    same = texts[0] == texts[1]
    told = "the same answer" if same else "two answers: samples cannot be drawn again"
    return either("seed", same, f"One seed, asked twice, gave {told}.")


async def several(talk: Talk) -> Finding:
    reply = await talk.again(temperature=1.0, n=2)
    if reply.fault is not None:
        return refused("n", reply.fault, "Samples are asked one by one.")
    got = len(reply.choices)
    told = "a request" if got == 2 else "of 2 asked; samples are asked one by one"
    return either("n", got == 2, f"{got} {'sample' if got == 1 else 'samples'} {told}.")
