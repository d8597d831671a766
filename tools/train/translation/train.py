"""Trains one translator in parts: `python -m translation.train es --work DIR [--stop-after M]`; repeat to continue.

Writes to DIR: sentences.jsonl (both languages), es/checkpoint.pt and, at the end, es/model (Hugging Face's Marian) with
its tokenizer. Minutes are CPU minutes of one thread, so a busy machine takes longer but makes an equal model.
A model may start from another language (`--start-from es`): it takes the layers and the embeddings of common tokens.
The English side is equal in both, so half of the minutes suffice.
"""

import argparse
import math
import os
import random
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from transformers import MarianConfig, MarianMTModel

from . import corpus, tokenizer
from .corpus import Pair
from .tokenizer import END_ID, PAD_ID

MINUTES = 24.0
WIDTH, LAYERS, HEADS = 128, 2, 4
PEAK_RATE, WARM_UP = 1.5e-3, 400
BATCH, POOL = 64, 64
SMOOTHING = 0.05
SAVE_EVERY = 120.0
LONGEST = 60


def new_model(vocabulary: int) -> MarianMTModel:
    """Returns a model in Marian's layout.

    Its layers normalise after each part, and its positions are sinusoidal. Both sides and the output share an embedding.
    """
    torch.manual_seed(0)
    config = MarianConfig(
        vocab_size=vocabulary,
        decoder_vocab_size=vocabulary,
        d_model=WIDTH,
        encoder_layers=LAYERS,
        decoder_layers=LAYERS,
        encoder_ffn_dim=4 * WIDTH,
        decoder_ffn_dim=4 * WIDTH,
        encoder_attention_heads=HEADS,
        decoder_attention_heads=HEADS,
        max_position_embeddings=128,
        activation_function="swish",
        scale_embedding=True,
        dropout=0.0,
        pad_token_id=PAD_ID,
        eos_token_id=END_ID,
        decoder_start_token_id=PAD_ID,
        forced_eos_token_id=END_ID,
        bos_token_id=None,
    )
    model = MarianMTModel(config)
    with torch.no_grad():
        # The output shares the embedding: rows of length one, which `scale_embedding` scales to the layers.
        model.model.shared.weight.normal_(std=WIDTH**-0.5)
        model.model.shared.weight[PAD_ID] = 0
    return model


@torch.no_grad()
def inherit(model: MarianMTModel, tokens: Tokenizer, finished: Path) -> int:
    """Copies the layers of a finished model of another language. Returns the number of copied token embeddings."""
    other, other_tokens = MarianMTModel.from_pretrained(finished), tokenizer.load(finished)
    layers = {name: value for name, value in other.state_dict().items() if ".layers." in name}
    model.load_state_dict(layers, strict=False)
    theirs = other_tokens.get_vocab()
    known = [(own, theirs[text]) for text, own in tokens.get_vocab().items() if text in theirs]
    own_ids, their_ids = (torch.tensor(ids) for ids in zip(*known, strict=True))
    model.model.shared.weight[own_ids] = other.model.shared.weight[their_ids]
    return len(known)


def padded(rows: list[list[int]]) -> torch.Tensor:
    longest = max(map(len, rows))
    return torch.tensor([row + [PAD_ID] * (longest - len(row)) for row in rows])


@dataclass
class Batches:
    """Batches of pairs of similar length. One source in ten is varied."""

    tokens: Tokenizer
    pairs: list[Pair]
    rng: random.Random
    _ready: list[list[tuple[list[int], list[int]]]] = field(default_factory=list)

    def next(self) -> tuple[torch.Tensor, torch.Tensor]:
        if not self._ready:
            chosen = self.rng.choices(self.pairs, k=BATCH * POOL)
            sources = [
                corpus.vary(self.rng, pair.source) if self.rng.random() < corpus.VARIED else pair.source
                for pair in chosen
            ]
            encoded = zip(
                self.tokens.encode_batch_fast(sources),
                self.tokens.encode_batch_fast([pair.target for pair in chosen]),
                strict=True,
            )
            rows = sorted(((source.ids, target.ids) for source, target in encoded), key=lambda row: len(row[1]))
            self._ready = [rows[start : start + BATCH] for start in range(0, len(rows), BATCH)]
            self.rng.shuffle(self._ready)
        batch = self._ready.pop()
        return padded([source for source, _ in batch]), padded([target for _, target in batch])


def loss_of(model: MarianMTModel, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    start = torch.full((len(target), 1), PAD_ID)
    logits = model(
        input_ids=source,
        attention_mask=(source != PAD_ID).long(),
        decoder_input_ids=torch.cat([start, target[:, :-1]], 1),
        use_cache=False,
    ).logits
    labels = target.masked_fill(target == PAD_ID, -100)
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), label_smoothing=SMOOTHING)


@torch.no_grad()
def exact_matches(model: MarianMTModel, tokens: Tokenizer, pairs: list[Pair], batch: int = 50) -> int:
    """Counts the pairs that the model translates word for word, greedily."""
    model.eval()
    right = 0
    for start in range(0, len(pairs), batch):
        part = pairs[start : start + batch]
        source = padded([encoded.ids for encoded in tokens.encode_batch([pair.source for pair in part])])
        output = model.generate(
            input_ids=source,
            attention_mask=(source != PAD_ID).long(),
            num_beams=1,
            do_sample=False,
            max_new_tokens=LONGEST,
        )
        made = tokens.decode_batch(output.tolist(), skip_special_tokens=True)
        right += sum(text.strip() == pair.target for text, pair in zip(made, part, strict=True))
    model.train()
    return right


def learning_rate(step: int, progress: float) -> float:
    return PEAK_RATE * min(1.0, (step + 1) / WARM_UP) * (0.49 * (1 + math.cos(math.pi * min(1.0, progress))) + 0.02)


@dataclass
class State:
    model: MarianMTModel
    optimizer: torch.optim.Optimizer
    seconds: float = 0.0
    step: int = 0

    def save(self, file: Path) -> None:
        unfinished = file.with_suffix(".part")
        torch.save(
            {
                "model": self.model.state_dict(),
                "optimizer": self.optimizer.state_dict(),
                "seconds": self.seconds,
                "step": self.step,
            },
            unfinished,
        )
        unfinished.rename(file)

    def restore(self, file: Path) -> None:
        saved: dict[str, Any] = torch.load(file, weights_only=True)
        self.model.load_state_dict(saved["model"])
        self.optimizer.load_state_dict(saved["optimizer"])
        self.seconds, self.step = saved["seconds"], saved["step"]


def train(
    language: str,
    work: Path,
    minutes: float = MINUTES,
    stop_after: float = math.inf,
    threads: int = 1,
    start_from: str | None = None,
) -> bool:
    """Trains for `minutes` in total, or for `stop_after` minutes in this part.

    Returns whether the model is finished and written.
    """
    torch.set_num_threads(threads)
    folder = work / language
    pairs, evaluation, _ = corpus.split(corpus.load(work), language)
    has_tokenizer = (folder / "model" / "tokenizer.json").exists()
    tokens = tokenizer.load(folder / "model") if has_tokenizer else tokenizer.make(pairs, language, folder / "model")
    model = new_model(tokens.get_vocab_size())
    state = State(model, torch.optim.AdamW(model.parameters(), lr=PEAK_RATE, betas=(0.9, 0.98), weight_decay=0.01))
    checkpoint = folder / "checkpoint.pt"
    if checkpoint.exists():
        state.restore(checkpoint)
    elif start_from:
        print(f"{language}: {inherit(model, tokens, work / start_from / 'model')} embeddings of {start_from}")
    print(
        f"{language}: {len(pairs)} pairs, vocabulary {tokens.get_vocab_size()}, "
        f"{sum(each.numel() for each in model.parameters()) / 1e6:.2f} M parameters, "
        f"from minute {state.seconds / 60:.1f}",
        flush=True,
    )
    batches = Batches(tokens, pairs, random.Random(f"{language} {state.step}"))
    total, piece_end = 60 * minutes, state.seconds + 60 * stop_after
    next_save = state.seconds + SAVE_EVERY
    while state.seconds < min(total, piece_end):
        started = time.process_time()
        for group in state.optimizer.param_groups:
            group["lr"] = learning_rate(state.step, state.seconds / total)
        loss = loss_of(model, *batches.next())
        state.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        state.optimizer.step()
        state.step += 1
        state.seconds += time.process_time() - started
        if state.seconds >= next_save:
            next_save += SAVE_EVERY
            state.save(checkpoint)
            right = exact_matches(model, tokens, evaluation[:100])
            print(
                f"{language}: minute {state.seconds / 60:.1f}, step {state.step}, loss {loss.item():.3f}, "
                f"exact {right} of 100",
                flush=True,
            )
    state.save(checkpoint)
    if state.seconds < total:
        return False
    model.eval()
    model.generation_config.update(num_beams=1, max_length=128, bad_words_ids=[[PAD_ID]])
    model.save_pretrained(folder / "model")
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("language", choices=list(corpus.LANGUAGES))
    parser.add_argument("--work", type=Path, required=True, help="folder of sentences, checkpoints and results")
    parser.add_argument("--minutes", type=float, default=MINUTES, help="total training minutes")
    parser.add_argument("--stop-after", type=float, default=math.inf, help="minutes of this part")
    parser.add_argument(
        "--start-from", choices=list(corpus.LANGUAGES), help="a language with a finished model in DIR"
    )
    parser.add_argument("--threads", type=int, default=int(os.environ.get("OMP_NUM_THREADS", "1")))
    args = parser.parse_args()
    finished = train(args.language, args.work, args.minutes, args.stop_after, args.threads, args.start_from)
    print("finished" if finished else "to be continued: the same command again")


if __name__ == "__main__":
    main()
