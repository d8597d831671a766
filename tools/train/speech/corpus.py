"""Stores speech: PREFIX.raw holds 16 kHz int16 samples in a row, PREFIX.jsonl one utterance per line."""
import json
from dataclasses import asdict, dataclass, field

import numpy as np

RATE = 16_000
#: Seconds of the longest and the shortest utterance.
LONGEST = 9.5
SHORTEST = 0.25


@dataclass
class Utterance:
    """Text and place in PREFIX.raw. If the synthesizer reports times: the starts of words and phones in seconds."""

    text: str
    voice: str
    offset: int
    samples: int
    #: (start, position of the first character in the text, from 0)
    words: list[tuple[float, int]] = field(default_factory=list)
    #: (start, espeak's name of the phone; '_' for silence)
    phones: list[tuple[float, str]] = field(default_factory=list)


class CorpusWriter:
    """Appends utterances to PREFIX.raw and PREFIX.jsonl, each scaled to a peak of one half."""

    def __init__(self, prefix: str) -> None:
        self.raw = open(prefix + ".raw", "wb")
        self.index = open(prefix + ".jsonl", "w")
        self.offset = 0
        self.count = 0

    def add(self, text: str, voice: str, audio: np.ndarray, words=(), phones=()) -> bool:
        """Adds `audio`, float samples at 16 kHz. Returns False when it is too short, or too long for the window."""
        if not SHORTEST * RATE <= len(audio) <= LONGEST * RATE:
            return False
        peak = max(0.05, float(np.abs(audio).max()))
        data = np.clip(audio * (0.5 / peak * 32767), -32768, 32767).astype(np.int16)
        utterance = Utterance(text, voice, self.offset, len(data), list(words), list(phones))
        self.raw.write(data.tobytes())
        self.index.write(json.dumps(asdict(utterance)) + "\n")
        self.offset += len(data)
        self.count += 1
        return True

    def close(self) -> None:
        self.raw.close()
        self.index.close()


def read_index(prefix: str) -> list[Utterance]:
    with open(prefix + ".jsonl") as lines:
        return [Utterance(**json.loads(line)) for line in lines]


def read_samples(prefix: str) -> np.memmap:
    return np.memmap(prefix + ".raw", dtype=np.int16, mode="r")


def trimmed(audio: np.ndarray, rate: int) -> tuple[np.ndarray, float]:
    """Returns the audio without surrounding silence, and the seconds that were cut at its start.

    Of the silence, 30 ms before the audio and 50 ms after it stay.
    """
    loud = np.flatnonzero(np.abs(audio) > 0.0035)
    if not len(loud):
        return audio, 0.0
    begin = max(int(loud[0]) - int(0.03 * rate), 0)
    end = min(int(loud[-1]) + int(0.05 * rate), len(audio))
    return audio[begin:end], begin / rate
