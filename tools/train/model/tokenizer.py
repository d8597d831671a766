"""The speech model's tokenizer: byte-level BPE, Whisper's special tokens, and timestamps every 0.04 s up to 10 s."""
import random
from pathlib import Path

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

from text.sentences import Sentences

WINDOW_SECONDS = 10
TIMESTAMPS_PER_SECOND = 25
SPECIALS = [
    "endoftext", "startoftranscript", "en", "translate", "transcribe", "startoflm", "startofprev", "nospeech",
    "notimestamps",
]


def train_tokenizer(size: int, sentences: Sentences, count: int = 60_000, seed: int = 7) -> Tokenizer:
    """Learns `size` pieces from training sentences, most of them as they appear after another word."""
    rng = random.Random(seed)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    texts = ((" " if rng.random() < 0.7 else "") + sentences.draw(rng) for _ in range(count))
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=size, initial_alphabet=alphabet, show_progress=False, special_tokens=[])
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.add_special_tokens([AddedToken(f"<|{name}|>", special=True) for name in SPECIALS])
    stamps = range(WINDOW_SECONDS * TIMESTAMPS_PER_SECOND + 1)
    tokenizer.add_tokens([AddedToken(f"<|{stamp / TIMESTAMPS_PER_SECOND:.2f}|>", special=False) for stamp in stamps])
    return tokenizer


class SpecialIds:
    """Ids of the special tokens by name, and the id of the first timestamp."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        for name in SPECIALS:
            setattr(self, name, tokenizer.token_to_id(f"<|{name}|>"))
        self.first_timestamp = tokenizer.token_to_id("<|0.00|>")

    def timestamp(self, seconds: float) -> int:
        return self.first_timestamp + round(seconds * TIMESTAMPS_PER_SECOND)


def load_or_train(path: Path, size: int) -> Tokenizer:
    """Loads the tokenizer from the file, or trains and saves it."""
    if not path.exists():
        train_tokenizer(size, Sentences()).save(str(path))
    return Tokenizer.from_file(str(path))
