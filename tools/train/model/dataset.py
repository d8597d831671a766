"""Holds corpora in memory: the token ids of each utterance, and the times of its tokens and phones."""
import bisect
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from speech.corpus import RATE, Utterance, read_index, read_samples

#: Special phone classes: silence and rare phones.
SILENCE, RARE = 0, 1


@dataclass
class Item:
    """One utterance. `tokens` encode its text after a space. Times are in seconds from its start."""

    corpus: int
    offset: int
    samples: int
    text: str
    tokens: list[int]
    #: (start, end) of each token; None where the synthesizer reported no time
    token_times: list[tuple[float, float]] | None
    #: (end of the word, number of tokens up to and including it)
    word_ends: list[tuple[float, int]]
    phones: list[tuple[float, int]]

    @property
    def seconds(self) -> float:
        return self.samples / RATE


def word_starts(utterance: Utterance) -> list[tuple[float, int]]:
    """Returns (start, character) of the reported words, in order, each at the beginning of a written word."""
    text, result = utterance.text, []
    for start, at in utterance.words:
        begins = 0 <= at < len(text) and text[at] != " " and (at == 0 or text[at - 1] == " ")
        if begins and (not result or (at > result[-1][1] and start >= result[-1][0])):
            result.append((start, at))
    return result


def token_times(starts, text: str, seconds: float, offsets) -> list[tuple[float, float]]:
    """Returns the times of the tokens. The characters of each reported part of the text share its time evenly.

    `offsets` are the first and last character of each token in " " + text.
    """
    times = [start for start, _ in starts] + [seconds]
    places = [at for _, at in starts] + [len(text)]

    def time(character: int) -> float:
        word = max(0, bisect.bisect_right(places, character) - 1)
        word = min(word, len(times) - 2)
        part = (character - places[word]) / max(1, places[word + 1] - places[word])
        return times[word] + (times[word + 1] - times[word]) * min(1.0, max(0.0, part))

    spaced = " " + text
    result = []
    for begin, end in offsets:
        first = begin + 1 if spaced[begin:begin + 1] == " " else begin
        start = time(first - 1)
        result.append((start, max(time(end - 1), start + 0.02)))
    return result


class Dataset:
    """All utterances of some corpora, without the utterances whose text must stay unseen."""

    def __init__(
        self,
        prefixes: list[str],
        tokenizer: Tokenizer,
        unseen: set[str] = frozenset(),
        phones: dict[str, int] | None = None,
    ):
        self.raw = [read_samples(prefix) for prefix in prefixes]
        rows = [
            (corpus, u) for corpus, prefix in enumerate(prefixes) for u in read_index(prefix) if u.text not in unseen
        ]
        self.phones = phones if phones is not None else phone_table(u for _, u in rows)
        encodings = tokenizer.encode_batch([" " + u.text for _, u in rows])
        self.items = [self._item(corpus, u, encoding) for (corpus, u), encoding in zip(rows, encodings)]

    def _item(self, corpus: int, utterance: Utterance, encoding) -> Item:
        seconds = utterance.samples / RATE
        starts = word_starts(utterance)
        times, ends = None, []
        if starts:
            times = token_times(starts, utterance.text, seconds, encoding.offsets)
            for index, (_, at) in enumerate(starts):
                last = index + 1 == len(starts)
                end_character = len(utterance.text) if last else starts[index + 1][1] - 1
                # Offsets refer to ' ' + text, so they are one greater than in the text.
                count = sum(1 for _, end in encoding.offsets if end <= end_character + 1)
                ends.append((seconds if last else starts[index + 1][0], count))
        phones = [
            (start, self.phones.get(name, SILENCE if name.startswith("_") else RARE))
            for start, name in utterance.phones
        ]
        return Item(corpus, utterance.offset, utterance.samples, utterance.text, encoding.ids, times, ends, phones)

    def weigh(self, weights: list[int]) -> None:
        """Repeats the items of each corpus by its weight."""
        self.items = [item for item in self.items for _ in range(weights[item.corpus])]

    def audio(self, item: Item) -> np.ndarray:
        """Returns float samples at 16 kHz."""
        return np.asarray(self.raw[item.corpus][item.offset:item.offset + item.samples], dtype=np.float32) / 32768


def phone_table(utterances) -> dict[str, int]:
    """Returns a class for each phone with more than 30 occurrences."""
    counts = Counter(name for u in utterances for _, name in u.phones if name and not name.startswith("_"))
    return {name: index + RARE + 1 for index, (name, count) in enumerate(counts.most_common()) if count > 30}


def read_phones(table: Path) -> dict[str, int] | None:
    """Reads the classes of an earlier part of the training, so trained heads stay valid."""
    return json.loads(table.read_text()) if table.exists() else None
