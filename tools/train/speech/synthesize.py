"""Speaks sentences into a corpus: `python -m speech.synthesize WORK NAME --voices espeak --count 20000 --seed 1`."""
import argparse
import random
import time
from pathlib import Path

import soxr

from speech import festival
from speech.corpus import RATE, CorpusWriter, trimmed
from speech.espeak import Espeak
from speech.flite import VOICES, Flite
from text.sentences import Sentences

#: Number of texts in one run of festival.
FESTIVAL_PIECE = 200


def resampled(audio, rate: float, words, phones):
    """Returns trimmed audio at 16 kHz with its times.

    A `rate` that is not the real rate of the audio changes the vocal tract and the speed.
    """
    audio, cut = trimmed(audio, int(rate))
    shift = lambda times: [(round(time - cut, 3), what) for time, what in times]
    return soxr.resample(audio, rate, RATE), shift(words), shift(phones)


def warped(rate: float, warp: float, times):
    """Returns the rate that makes the voice higher and faster by the factor `warp`, and the changed times."""
    return rate * warp, [(time / warp, what) for time, what in times]


def say_espeak(espeak: Espeak, text: str, voice: str, rng: random.Random, warp: float = 1.0):
    audio, words, phones = espeak.say(
        text, voice, rng.randint(130, 200), rng.randint(25, 75), rng.randint(30, 70), rng.choice([0, 0, 0, 1, 2, 4])
    )
    rate, words = warped(espeak.rate, warp, words)
    return resampled(audio, rate, words, [(time / warp, name) for time, name in phones])


def say_flite(flite: Flite, text: str, voice: str, rng: random.Random):
    audio, rate, words, phones = flite.say(text, voice, rng.uniform(0.8, 1.2), rng.uniform(85, 140))
    return in_another_tract(audio, rate, words, phones, rng)


def in_another_tract(audio, rate: float, words, phones, rng: random.Random):
    warp = rng.uniform(0.82, 1.22)
    rate, words = warped(rate, warp, words)
    return resampled(audio, rate, words, [(time / warp, name) for time, name in phones])


def write_festival(writer: CorpusWriter, draw, count: int, rng: random.Random) -> None:
    """Works in parts, because a festival process does not release the memory of utterances."""
    while count > 0:
        piece = min(count, FESTIVAL_PIECE)
        count -= piece
        orders = [
            festival.Order(draw(rng), festival.TRAINED_VOICE, rng.uniform(0.8, 1.25), rng.uniform(85, 150))
            for _ in range(piece)
        ]
        for order, said in zip(orders, festival.say_all(orders)):
            spoken = in_another_tract(said.audio, said.rate, said.words, said.phones, rng)
            writer.add(order.text, "festival-" + order.voice, *spoken)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path, help="folder of the corpora")
    parser.add_argument("name")
    parser.add_argument("--voices", choices=["espeak", "made-up", "flite", "festival"], required=True)
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument(
        "--made-up", type=int, default=90, help="number of random espeak voices (the library allows 349 voices)"
    )
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    draw = Sentences(translated()).draw
    writer = CorpusWriter(str(arguments.work / arguments.name))
    started = time.monotonic()
    if arguments.voices == "flite":
        flite = Flite()
        for _ in range(arguments.count):
            text, voice = draw(rng), rng.choice(VOICES)
            writer.add(text, "flite-" + voice, *say_flite(flite, text, voice, rng))
    elif arguments.voices == "festival":
        write_festival(writer, draw, arguments.count, rng)
    else:
        folder = arguments.work / f"espeak-{arguments.name}"
        folder.mkdir(parents=True, exist_ok=True)
        espeak = Espeak(folder, arguments.made_up, arguments.seed)
        choose = espeak.any_voice if arguments.voices == "espeak" else espeak.made_up_voice
        for _ in range(arguments.count):
            text, voice = draw(rng), choose(rng)
            warp = rng.uniform(0.85, 1.18) if rng.random() < 0.4 else 1.0
            writer.add(text, voice, *say_espeak(espeak, text, voice, rng, warp))
    writer.close()
    hours = writer.offset / RATE / 3600
    print(f"{arguments.name}: {writer.count} utterances, {hours:.2f} h, in {time.monotonic() - started:.0f} s")


def translated():
    """Returns the English side of the translators' grammar."""
    from translation.grammar import sentence

    return lambda rng: sentence(rng)[0]


if __name__ == "__main__":
    main()
