"""Measures the word error rates of a speech model: `python evaluate.py WORK MODEL [--json FILE] [--clips FOLDER]`.

Debian's synthesizers make the speech (speech/evaluation.py). The independent loop of verify/whisper_reference.py makes
the text: greedily, without timestamps, in the runner's windows (the clip and 0.5 s of silence, at least 3 s).
"""
import argparse
import json
import random
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import soundfile
from tokenizers import Tokenizer

from model.transcribe import word_errors
from speech.corpus import RATE, Utterance, read_index, read_samples
from speech.evaluation import SETS, emptiness, first_whole_words, make
from text.sentences import spoken_form
from verify.whisper_reference import WhisperReference

#: The limits of the error rates, in percent.
LIMITS = {"known": 3.0, "held": 7.0, "festival": 22.0, "hand": 20.0, "partial": 3.0}
#: Number of samples before a clip, and the level of the noise around it: about -60 dB, as in a live stream.
LEAD, NOISE = 2000, 33
#: Samples from the start of a window without speech to the start of the next one.
EMPTY_STEP = 5 * RATE
#: A text with a lower mean log probability is rejected, as in Whisper.
LEAST_LOGPROB = -1.0
#: Number of clips that are cut inside a word.
PARTIALS = 150
#: Number of words after the complete ones that may be transcribed without an error, because their audio is incomplete.
JUST_SAID = 2


class Transcriber:
    def __init__(self, folder: Path) -> None:
        self.reference = WhisperReference(folder, timestamps=False, language="en")
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))

    def accepted(self, samples: np.ndarray) -> str:
        """Returns the text; empty when its confidence is below Whisper's threshold, as in the service."""
        result = self.reference.decode(samples)
        return "" if result["avg_logprob"] < LEAST_LOGPROB else self.tokenizer.decode(result["tokens"]).strip()

    def text(self, samples: np.ndarray) -> str:
        return self.tokenizer.decode(self.reference.decode(samples)["tokens"]).strip()


def clip(raw: np.ndarray, utterance: Utterance) -> np.ndarray:
    """Returns the utterance after 0.125 s, on noise that is equal in every run."""
    samples = np.zeros(LEAD + utterance.samples, np.float64)
    samples[LEAD:] = raw[utterance.offset:utterance.offset + utterance.samples]
    samples += np.random.default_rng(utterance.offset).normal(0, NOISE, len(samples))
    return samples.clip(-32768, 32767).astype(np.int16)


def clips(work: Path, name: str) -> list[tuple[Utterance, np.ndarray]]:
    prefix = make(work, name)
    raw = read_samples(prefix)
    return [(u, clip(raw, u)) for u in read_index(prefix) if u.samples < 9.3 * RATE]


def group(voice: str) -> str:
    """Returns the voice without its accent, for rates by voice."""
    return voice.split("+")[-1] if "+" in voice else voice


def rate(errors: int, words: int) -> float:
    return round(100 * errors / max(1, words), 2)


def sentences(transcriber: Transcriber, spoken: list[tuple[Utterance, np.ndarray]]) -> tuple[float, dict[str, float]]:
    """Returns the WER of whole sentences in percent: of all sentences and by voice."""
    sums = defaultdict(lambda: [0, 0])
    for utterance, samples in spoken:
        errors, words = word_errors(utterance.text, transcriber.text(samples))
        for key in ("", group(utterance.voice)):
            sums[key][0] += errors
            sums[key][1] += words
    rates = {key: rate(*value) for key, value in sums.items()}
    return rates.pop(""), rates


def partials(transcriber: Transcriber, spoken: list[tuple[Utterance, np.ndarray]], seed: int = 3) -> float:
    """Returns the WER in percent of the words that were complete at the end of the audio, which is cut anywhere.

    Transcribed parts of the incomplete last words are no error: one extra word, or several words that equal the text.
    """
    rng, errors, words = random.Random(seed), 0, 0
    for utterance, samples in spoken[:PARTIALS]:
        cut = rng.uniform(0.6, len(samples) / RATE - 0.1)
        whole = first_whole_words(utterance, cut)
        said = spoken_form(utterance.text).split()
        got = spoken_form(transcriber.text(samples[:int(cut * RATE)])).split()
        last = min(whole + JUST_SAID, len(said))
        errors += min(errors_at_least(said[:begun], got) for begun in range(whole, last + 1))
        words += whole
    return rate(errors, words)


def errors_at_least(said: list[str], got: list[str]) -> int:
    """Counts the errors against complete words, and allows one extra word after them."""
    return word_errors(" ".join(said), " ".join(got[:max(len(said), len(got) - 1)]))[0]


def words_in_emptiness(transcriber: Transcriber) -> int:
    """Counts the words in ten minutes of silence, noise and tones, in windows of 10 s every 5 s."""
    samples = (emptiness() * 32767).astype(np.int16)
    windows = range(0, len(samples) - RATE, EMPTY_STEP)
    return sum(len(spoken_form(transcriber.accepted(samples[at:at + 10 * RATE])).split()) for at in windows)


def write_clips(folder: Path, spoken: dict[str, list], seed: int = 40) -> None:
    """Writes 40 clips for `npm test`: ten of each of four sets, as FLAC, with their texts in clips.json."""
    folder.mkdir(parents=True, exist_ok=True)
    rng, rows = random.Random(seed), []
    for name in ("known", "held", "festival", "hand"):
        for number, (utterance, samples) in enumerate(rng.sample(spoken[name], 10)):
            file = f"{name}-{number}.flac"
            soundfile.write(folder / file, samples, RATE, format="FLAC")
            rows.append({"file": file, "set": name, "voice": utterance.voice, "text": utterance.text})
    (folder / "clips.json").write_text(json.dumps(rows, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path, help="folder of the test speech; missing speech is made there")
    parser.add_argument("model", type=Path)
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--clips", type=Path, help="write the clips for npm test to this folder")
    arguments = parser.parse_args()
    transcriber = Transcriber(arguments.model)
    spoken = {name: clips(arguments.work, name) for name in SETS}
    if arguments.clips:
        write_clips(arguments.clips, spoken)
    figures: dict[str, float] = {}
    for name, items in spoken.items():
        figures[name], voices = sentences(transcriber, items)
        rates = ", ".join(f"{voice} {value:.1f}" for voice, value in sorted(voices.items()))
        by_voice = "" if name == "known" else f": {rates}"
        print(f"{name}: {figures[name]:.1f} % WER of {len(items)} sentences{by_voice}", flush=True)
    figures["partial"] = partials(transcriber, spoken["known"])
    partial = figures["partial"]
    print(f"partial: {partial:.1f} % WER of the complete words of {PARTIALS} windows that are cut inside a word")
    figures["empty"] = words_in_emptiness(transcriber)
    print(f"empty: {figures['empty']} words in ten minutes of silence, noise and tones")
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n")
    missed = [name for name, limit in LIMITS.items() if figures[name] >= limit]
    missed += ["empty"] if figures["empty"] else []
    print("all limits are met" if not missed else f"limits missed: {', '.join(missed)}")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
