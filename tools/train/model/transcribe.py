"""Transcribes greedily with the torch model and computes word error rates.

This is a quick check during the training. The evaluation is evaluate.py.
"""
import numpy as np
import torch
from tokenizers import Tokenizer

from model.dataset import Dataset
from model.features import RATE, LogMel
from model.network import SpeechModel
from model.tokenizer import SpecialIds
from text.sentences import spoken_form

#: Seconds of the shortest window, and of the silence after the audio.
SHORTEST_WINDOW, TAIL = 3.0, 0.5


def word_errors(reference: str, hypothesis: str) -> tuple[int, int]:
    """Returns substitutions, deletions and insertions of the best alignment, and the number of reference words."""
    wanted, got = spoken_form(reference).split(), spoken_form(hypothesis).split()
    row = list(range(len(got) + 1))
    for i, word in enumerate(wanted, 1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(got, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (word != other))
    return row[-1], len(wanted)


@torch.no_grad()
def transcribe(
    model: SpeechModel, mel: LogMel, tokenizer: Tokenizer, ids: SpecialIds, audio: list[np.ndarray]
) -> list[str]:
    """Returns the text of each utterance.

    All windows are as long as the longest utterance and 0.5 s, and at least 3 s.
    """
    hops = 4 * mel.hop
    longest = max(SHORTEST_WINDOW, max(map(len, audio)) / RATE + TAIL)
    samples = torch.randn(len(audio), int(longest * RATE) // hops * hops) * 0.001
    for row, sound in enumerate(audio):
        part = torch.from_numpy(sound)[:samples.shape[1] - 2000]
        samples[row, 2000:2000 + len(part)] += part
    memory, _ = model.encode(mel(samples))
    prompt = [ids.startoftranscript, ids.en, ids.transcribe, ids.notimestamps]
    tokens = torch.tensor([prompt] * len(audio))
    done = torch.zeros(len(audio), dtype=torch.bool)
    for _ in range(70):
        best = model.decode(memory, tokens)[0][:, -1].argmax(-1)
        best[done] = ids.endoftext
        done |= best == ids.endoftext
        tokens = torch.cat([tokens, best[:, None]], 1)
        if done.all():
            break
    return [tokenizer.decode(row[len(prompt):]) for row in tokens.tolist()]


def word_error_rate(model, mel, tokenizer, ids, dataset: Dataset, count: int = 75, batch: int = 25) -> float:
    """Returns the word error rate in percent of `count` utterances, spread over the dataset."""
    items = sorted((item for item in dataset.items if item.seconds < 9.3), key=lambda item: item.samples)
    items = items[::max(1, len(items) // count)]
    model.eval()
    errors = words = 0
    for at in range(0, len(items), batch):
        part = items[at:at + batch]
        for item, text in zip(part, transcribe(model, mel, tokenizer, ids, [dataset.audio(item) for item in part])):
            wrong, all_ = word_errors(item.text, text)
            errors, words = errors + wrong, words + all_
    model.train()
    return 100 * errors / max(1, words)
