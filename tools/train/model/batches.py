"""Makes training windows: sentences in a row, noise, tones, empty audio, and speech that is cut like a live draft."""
import random
from dataclasses import dataclass, field

import numpy as np
import torch
from scipy import fft
from torch import Tensor

from model.dataset import SILENCE, Dataset, Item
from model.tokenizer import SpecialIds
from speech.corpus import RATE

#: Encoder frames per second (hop 320, one convolution of stride 2).
FRAME_RATE = 25
IGNORED = -100
#: Seconds around its own time to which the guided attention lets a token attend.
ATTENTION_MARGIN = 0.12
#: Seconds that may be missing from a word that still counts. A smaller value makes the model drop fading last words.
ALMOST_WHOLE = 0.1


@dataclass
class Spoken:
    """A part of an utterance in a window: audio from `start`, tokens [first, last) of the item."""

    item: Item
    start: float
    end: float
    first: int = 0
    last: int | None = None
    #: Seconds of the item that were cut off before `start`.
    cut: float = 0.0

    @property
    def whole(self) -> bool:
        return self.last is None

    def tokens(self) -> list[int]:
        return self.item.tokens[self.first:self.last]

    def times(self) -> list[tuple[float, float] | None]:
        if self.item.token_times is None:
            return [None] * len(self.tokens())
        offset = self.start - self.cut
        return [(offset + a, offset + b) for a, b in self.item.token_times[self.first:self.last]]


@dataclass
class Batch:
    """Samples [b, n], tokens of each row with their times, and frame labels [b, t] (IGNORED where unknown)."""

    samples: Tensor
    tokens: list[list[int]] = field(default_factory=list)
    text_tokens: list[list[int]] = field(default_factory=list)
    times: list[list] = field(default_factory=list)
    phone_labels: Tensor = None
    token_labels: Tensor = None

    def attention_targets(self) -> tuple[Tensor, Tensor]:
        """Returns [b, tokens - 1, t], the frames of the next token, and which tokens have such frames."""
        length = max(map(len, self.tokens)) - 1
        frames = self.phone_labels.shape[1]
        target = torch.zeros(len(self.tokens), length, frames)
        known = torch.zeros(len(self.tokens), length, dtype=torch.bool)
        for row, times in enumerate(self.times):
            for at in range(1, len(times)):
                if times[at] is not None:
                    begin, end = times[at]
                    first = max(0, int((begin - ATTENTION_MARGIN) * FRAME_RATE))
                    target[row, at - 1, first:int((end + ATTENTION_MARGIN) * FRAME_RATE) + 1] = 1
                    known[row, at - 1] = True
        return target, known


def decibels(value: float) -> float:
    return 10 ** (value / 20)


def tones(samples: int, rng: random.Random) -> np.ndarray:
    """Makes notes with overtones and pauses."""
    time = np.arange(samples, dtype=np.float32) / RATE
    result = np.zeros(samples, np.float32)
    at = 0
    while at < samples:
        end = min(samples, at + int(rng.uniform(0.1, 1.5) * RATE))
        pitch = 110 * 2 ** (rng.randint(0, 34) / 12) * rng.uniform(0.97, 1.03)
        for harmonic in range(1, rng.randint(2, 7)):
            result[at:end] += np.sin(2 * np.pi * pitch * harmonic * time[at:end] + rng.uniform(0, 6)) / harmonic
        at = end + int(rng.uniform(0, 0.4) * RATE)
    return result * rng.uniform(0.02, 0.3)


class Noise:
    """One minute each of white, darker and dark noise of about unit power. Windows use random parts of it."""

    def __init__(self, numbers: np.random.Generator) -> None:
        white = numbers.standard_normal(60 * RATE, dtype=np.float32)
        darker = 0.7 * (white[1:] + white[:-1])
        dark = 0.8 * (darker[1:] + darker[:-1])
        self.colours = [white, white, darker, dark]

    def draw(self, samples: int, rng: random.Random) -> np.ndarray:
        """Returns a random part of one noise; sometimes with rising volume, sometimes with a hum."""
        colour = rng.choice(self.colours)
        at = rng.randrange(len(colour) - samples)
        result = colour[at:at + samples].copy()
        if rng.random() < 0.05:
            result = 0.5 * result + tones(samples, rng) * 5
        if rng.random() < 0.15:
            result *= 1 + 0.8 * np.sin(2 * np.pi * rng.uniform(0.3, 4) / RATE * np.arange(samples, dtype=np.float32))
        return result


def echoed(samples: np.ndarray, rng: random.Random, numbers: np.random.Generator) -> np.ndarray:
    """Adds the echo of a small room: an exponential tail of 0.1 to 0.4 s."""
    fade = rng.uniform(0.1, 0.4)
    length = int(fade * RATE)
    decay = np.exp(-6.9 * np.arange(length) / length).astype(np.float32)
    response = numbers.standard_normal(length).astype(np.float32) * decay
    response *= rng.uniform(0.02, 0.08)
    response[0] = 1
    size = fft.next_fast_len(len(samples) + length, real=True)
    return fft.irfft(fft.rfft(samples, size) * fft.rfft(response, size), size)[:len(samples)]


class BatchMaker:
    """Draws batches from a dataset. `hop` is the model's hop."""

    def __init__(self, dataset: Dataset, ids: SpecialIds, vocabulary: int, hop: int, seed: int) -> None:
        self.dataset, self.ids, self.vocabulary, self.hop = dataset, ids, vocabulary, hop
        self.rng = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.noise = Noise(self.numbers)

    def draw(self, seconds: float, budget: float) -> Batch:
        """Returns windows of `seconds`, as many as fit into `budget` seconds of audio."""
        rows = max(2, int(budget / seconds))
        samples = int(seconds * RATE) // (4 * self.hop) * (4 * self.hop)
        frames = samples // self.hop // 2
        audio = np.zeros((rows, samples), np.float32)
        phones = np.full((rows, frames), SILENCE, np.int64)
        labels = np.full((rows, frames), self.vocabulary, np.int64)
        batch = Batch(None)
        for row in range(rows):
            spoken = self._fill(audio[row], phones[row], labels[row])
            self._tokens(batch, spoken, samples / RATE)
        batch.samples = torch.from_numpy(np.clip(audio, -1, 1))
        batch.phone_labels, batch.token_labels = torch.from_numpy(phones), torch.from_numpy(labels)
        return batch

    def _fill(self, audio, phones, labels) -> list[Spoken]:
        rng, kind, cut = self.rng, self.rng.random(), None
        spoken: list[Spoken] = []
        if kind > 0.05:
            spoken = self._place(audio, phones, labels)
            if spoken and rng.random() < 0.35 and spoken[-1].item.token_times is not None:
                cut = self._cut_off(spoken, audio, phones, labels)
            if rng.random() < 0.12:
                audio[:] = echoed(audio, rng, self.numbers)
        elif kind < 0.025:
            audio += tones(len(audio), rng)
        audio *= decibels(rng.uniform(-14, 3))
        power = np.sqrt((audio ** 2).mean()) + 1e-4
        added = self.noise.draw(len(audio), rng) * (power * decibels(-rng.uniform(8, 45)))
        if spoken and rng.random() < 0.7:
            # The runner appends digital silence, directly after a cut draft or shortly after a complete sentence. The
            # model must not mistake the complete sentence for a cut sentence.
            end = cut if cut is not None else spoken[-1].end + rng.choice([0.0, rng.uniform(0, 0.6)])
            audio[int(end * RATE):] = 0
            added[int(end * RATE):] = 0
        audio += added
        return spoken

    def _place(self, audio, phones, labels) -> list[Spoken]:
        """Places sentences in a row until one does not fit. The first sentence may begin in its middle, at a word."""
        rng, spoken, at = self.rng, [], int(self.rng.uniform(0, 0.4) * RATE)
        for _ in range(40):
            item = rng.choice(self.dataset.items)
            first, begin = 0, 0.0
            if not spoken and len(item.word_ends) > 2 and rng.random() < 0.12:
                begin, first = rng.choice(item.word_ends[:-1])
            samples = item.samples - int(begin * RATE)
            if at + samples > len(audio) - 1600:
                if spoken:
                    break
                continue
            gain = decibels(rng.uniform(-6, 2)) if spoken else 1.0
            audio[at:at + samples] += self.dataset.audio(item)[item.samples - samples:] * gain
            piece = Spoken(item, at / RATE, (at + samples) / RATE, first, None, begin)
            self._label(piece, phones, labels)
            spoken.append(piece)
            at += samples + int(rng.uniform(0.05, 1.2) * RATE)
        return spoken

    def _label(self, piece: Spoken, phones, labels) -> None:
        def frame(time: float) -> int:
            return max(0, round(time * FRAME_RATE))

        stretch = slice(max(0, int(piece.start * FRAME_RATE)), int(piece.end * FRAME_RATE) + 1)
        origin = piece.start - piece.cut
        if not piece.item.phones:
            phones[stretch] = IGNORED
        ends = [time for time, _ in piece.item.phones[1:]] + [piece.item.seconds]
        for (start, phone), end in zip(piece.item.phones, ends):
            if end > piece.cut:
                phones[frame(origin + max(start, piece.cut)):frame(origin + end)] = phone
        if piece.item.token_times is None:
            labels[stretch] = IGNORED
            return
        for (start, end), token in zip(piece.times(), piece.tokens()):
            labels[frame(start):max(frame(start) + 1, frame(end))] = token

    def _cut_off(self, spoken: list[Spoken], audio, phones, labels) -> float | None:
        """Cuts the audio anywhere in the last sentence. Returns the second of the cut, or None for a short sentence.

        The text then ends with the last word that is almost complete before the cut.
        """
        piece = spoken[-1]
        if piece.end - piece.start < 0.3:
            return None
        origin = piece.start - piece.cut
        cut = self.rng.uniform(piece.start + 0.15, piece.end)
        limit = cut + ALMOST_WHOLE
        word_ends = piece.item.word_ends
        complete = [(end, count) for end, count in word_ends if origin + end <= limit and count > piece.first]
        end, count = complete[-1] if complete else (piece.cut, piece.first)
        piece.last, piece.end = count, min(piece.end, origin + end)
        audio[int(cut * RATE):] = 0
        phones[int(cut * FRAME_RATE) + 1:] = SILENCE
        labels[int(piece.end * FRAME_RATE) + 1:] = self.vocabulary
        return cut

    def _tokens(self, batch: Batch, spoken: list[Spoken], seconds: float) -> None:
        ids, stamped = self.ids, self.rng.random() < 0.35
        prompt = [ids.startoftranscript, ids.en, ids.transcribe] + ([] if stamped else [ids.notimestamps])
        row, times, text = list(prompt), [None] * len(prompt), []
        for piece in spoken:
            tokens = piece.tokens()
            if not tokens:
                continue
            text += tokens
            if stamped:
                row.append(ids.timestamp(piece.start))
                times.append(None)
            row += tokens
            times += piece.times()
            if stamped and piece.whole:
                row.append(ids.timestamp(min(piece.end, seconds - 0.04)))
                times.append(None)
        if not spoken and self.rng.random() < 0.5:
            row, times = [ids.startoftranscript, ids.nospeech], [None] * 2
        batch.tokens.append(row + [ids.endoftext])
        batch.times.append(times + [None])
        batch.text_tokens.append(text)
