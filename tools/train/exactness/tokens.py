"""The exactness fixture's vocabulary: a small byte-level BPE, then Whisper's special tokens in order, then times."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

TEXT_TOKENS = 200
SPECIAL = (
    "<|endoftext|>",
    "<|startoftranscript|>",
    "<|en|>",
    "<|de|>",
    "<|translate|>",
    "<|transcribe|>",
    "<|startoflm|>",
    "<|startofprev|>",
    "<|nospeech|>",
    "<|notimestamps|>",
)
SECONDS_A_TIME = 0.04
SONG = "♪"


@dataclass(frozen=True)
class Vocabulary:
    tokenizer: Tokenizer
    times: int

    def special(self, name: str) -> int:
        return self.tokenizer.token_to_id(f"<|{name}|>")

    @property
    def size(self) -> int:
        return self.first_time + self.times

    @property
    def first_time(self) -> int:
        return self.special("notimestamps") + 1

    @property
    def space(self) -> int:
        return self.tokenizer.token_to_id("Ġ")

    @property
    def song(self) -> int:
        return self.text(SONG)[0]

    def text(self, text: str) -> list[int]:
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def time(self, seconds: float) -> int:
        return self.first_time + max(0, min(self.times - 1, round(seconds / SECONDS_A_TIME)))

    def prompt(self, language: str, task: str, timestamps: bool) -> list[int]:
        names = ["startoftranscript", language, task] + ([] if timestamps else ["notimestamps"])
        return [self.special(name) for name in names]

    def decode(self, tokens: Iterable[int]) -> str:
        return self.tokenizer.decode([token for token in tokens if token < self.special("endoftext")])


def make_tokenizer(texts: Iterable[str]) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    # The music sign has three bytes. It is frequent enough here to become one token.
    corpus = [f" {text}" for text in texts] + [SONG] * 20
    trainer = trainers.BpeTrainer(vocab_size=TEXT_TOKENS, show_progress=False, special_tokens=[])
    tokenizer.train_from_iterator(corpus, trainer)
    if tokenizer.get_vocab_size() != TEXT_TOKENS:
        raise ValueError(f"the tokenizer has {tokenizer.get_vocab_size()} text tokens, expected {TEXT_TOKENS}")
    tokenizer.add_special_tokens([AddedToken(name, special=True) for name in SPECIAL])
    return tokenizer


def read_vocabulary(file: Path, times: int) -> Vocabulary:
    return Vocabulary(Tokenizer.from_file(str(file)), times)
