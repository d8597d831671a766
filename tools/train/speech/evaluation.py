"""Makes the speech of the evaluation: `python -m speech.evaluation WORK` writes the corpora WORK/test-*.

Texts and voices are equal in every run. The sound is equal too, except for flite, which varies slightly between
processes (8.9 to 9.5 % on `flite`, 7.9 to 9.1 % on `hand` with the same model).
"""
import argparse
import random
import tempfile
from pathlib import Path

import numpy as np

from speech import festival
from speech.corpus import RATE, CorpusWriter, Utterance
from speech.espeak import Espeak
from speech.flite import Flite
from speech.flite import VOICES as FLITE_VOICES
from speech.synthesize import resampled, say_espeak, say_flite
from text import grammar

#: Hand-written sentences. They come from no template, and the training does not use them.
HAND_WRITTEN = Path(__file__).parent.parent / "text" / "hand-written.txt"
FLITE = [voice for voice in FLITE_VOICES if voice != "kal"]


def known(folder: Path, writer: CorpusWriter) -> None:
    """300 unseen sentences of the grammar, 18 % of them plain word lists, by espeak voices of the training."""
    with_espeak(folder, writer, 300, 901, Espeak.known_voice)


def held(folder: Path, writer: CorpusWriter) -> None:
    """200 unseen sentences by four espeak variants that are not in the training."""
    with_espeak(folder, writer, 200, 902, Espeak.held_voice)


def with_espeak(folder: Path, writer: CorpusWriter, count: int, seed: int, choose) -> None:
    espeak, rng = Espeak(folder), random.Random(seed)
    for _ in range(count):
        text, voice = grammar.sentence(rng), choose(espeak, rng)
        writer.add(text, voice, *say_espeak(espeak, text, voice, rng))


def flite(folder: Path, writer: CorpusWriter) -> None:
    """200 unseen sentences by flite's voices, which are in the training."""
    synthesizer, rng = Flite(), random.Random(903)
    for _ in range(200):
        text, voice = grammar.sentence(rng), rng.choice(FLITE)
        writer.add(text, "flite-" + voice, *say_flite(synthesizer, text, voice, rng))


def with_festival(folder: Path, writer: CorpusWriter) -> None:
    """300 unseen sentences by the two festival voices that are not in the training."""
    rng = random.Random(904)
    orders = [
        festival.Order(grammar.sentence(rng), voice, rng.uniform(0.85, 1.15))
        for voice in festival.HELD_VOICES
        for _ in range(150)
    ]
    for order, said in zip(orders, festival.say_all(orders)):
        writer.add(order.text, "festival-" + order.voice, *resampled(said.audio, said.rate, [], []))


def hand_written(folder: Path, writer: CorpusWriter) -> None:
    """30 sentences written by hand, each by two espeak voices and one flite voice of the training."""
    espeak, synthesizer, rng = Espeak(folder), Flite(), random.Random(905)
    for text in HAND_WRITTEN.read_text().splitlines():
        for _ in range(2):
            voice = espeak.known_voice(rng)
            writer.add(text, voice, *say_espeak(espeak, text, voice, rng))
        voice = rng.choice(FLITE)
        writer.add(text, "flite-" + voice, *say_flite(synthesizer, text, voice, rng))


SETS = {"known": known, "held": held, "flite": flite, "festival": with_festival, "hand": hand_written}


def make(work: Path, name: str) -> str:
    """Makes one set unless it exists. Returns its prefix."""
    prefix = str(work / f"test-{name}")
    if not Path(prefix + ".jsonl").exists():
        with tempfile.TemporaryDirectory() as folder:
            writer = CorpusWriter(prefix)
            SETS[name](Path(folder), writer)
            writer.close()
    return prefix


def first_whole_words(utterance: Utterance, cut: float) -> int:
    """Returns the number of words that end at least 0.125 s before `cut`, in seconds."""
    ends = [start for start, _ in utterance.words[1:]] + [utterance.samples / RATE]
    return sum(end + 0.125 <= cut for end in ends)


def emptiness(seconds: int = 600, seed: int = 906) -> np.ndarray:
    """Returns silence, white and dark noise at several levels, hum, chords and clicks: 10 s of each."""
    numbers = np.random.default_rng(seed)
    stretch = 10 * RATE
    time = np.arange(stretch) / RATE
    pieces = []
    for number in range(seconds // 10):
        level = 10 ** (numbers.uniform(-60, -12) / 20)
        white = numbers.standard_normal(stretch)
        dark = np.convolve(white, np.ones(24) / 5, mode="same")
        pitches = numbers.choice([110, 165, 220, 262, 330, 392, 440, 523, 660], 3)
        chord = sum(np.sin(2 * np.pi * pitch * time) for pitch in pitches)
        hum = np.sin(2 * np.pi * 50 * time) + 0.4 * np.sin(2 * np.pi * 150 * time)
        clicks = (numbers.random(stretch) < 0.0002) * 8.0
        kind = [np.zeros(stretch), white, dark, hum, chord, clicks][number % 6]
        pieces.append((kind * level / 2).clip(-1, 1))
    return np.concatenate(pieces).astype(np.float32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path)
    work = parser.parse_args().work
    for name in SETS:
        print(make(work, name))


if __name__ == "__main__":
    main()
