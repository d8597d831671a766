"""Sentence pairs for the translators. They are drawn once into a file, split, and varied like recognised speech."""

import json
import random
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from .golden import DEMO
from .grammar import sentence

LANGUAGES = {"es": "Spanish", "fr": "French"}
LINES = 260_000
# Set phrases must repeat: a model would not learn "Good night." from one line.
MOST_REPEATS = 100
SEED = 5
EVALUATION, VERIFICATION = 400, 200
VARIED = 0.1


class Pair(NamedTuple):
    source: str
    target: str


def draw(file: Path, count: int = LINES, seed: int = SEED) -> None:
    """Writes COUNT lines of {"en", "es", "fr"} to FILE. Limits how often an English sentence occurs."""
    rng = random.Random(seed)
    times: Counter[str] = Counter()
    written = 0
    unfinished = file.with_suffix(".part")
    with unfinished.open("w", encoding="utf-8") as out:
        while written < count:
            english, others = sentence(rng)
            times[english] += 1
            if times[english] <= MOST_REPEATS:
                written += 1
                out.write(json.dumps({"en": english, **others}, ensure_ascii=False) + "\n")
    unfinished.rename(file)


def load(work: Path) -> list[dict[str, str]]:
    """Loads the sentences of WORK/sentences.jsonl, or draws them first."""
    file = work / "sentences.jsonl"
    if not file.exists():
        work.mkdir(parents=True, exist_ok=True)
        draw(file)
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def split(sentences: list[dict[str, str]], language: str) -> tuple[list[Pair], list[Pair], list[Pair]]:
    """Returns (training, evaluation, verification) without common English sentences and without the demo's sentences.

    The evaluation and verification sets hold sentences that were drawn only once, so they lack short, common sentences.
    """
    demo = {text.en for _, _, text in DEMO}
    times = Counter(each["en"] for each in sentences)
    pairs = [Pair(each["en"], each[language]) for each in sentences if each["en"] not in demo]
    random.Random(SEED).shuffle(pairs)
    unseen = [pair for pair in pairs if times[pair.source] == 1][: EVALUATION + VERIFICATION]
    held_back = {pair.source for pair in unseen}
    training = [pair for pair in pairs if pair.source not in held_back]
    return training, unseen[:EVALUATION], unseen[EVALUATION:]


def vary(rng: random.Random, english: str) -> str:
    """Returns the sentence as speech recognition may output it: without punctuation, without its capital, or both."""
    bare = english[:-1]
    plain = english if english.startswith("I ") else english[0].lower() + english[1:]
    return rng.choice([bare, bare, plain, plain[:-1], english.lower(), english[:-1].lower()])


def texts(pairs: Iterable[Pair]) -> Iterable[str]:
    for pair in pairs:
        yield pair.source
        yield pair.target
