"""Trains the speech model in parts: `python -m model.train WORK --data e1,f1 --hours 400 [--stop-after 90]`.

Run the same command again to continue. On several cores: `torchrun --nproc-per-node 2 -m model.train …`. Each process
draws its own batches, and their gradients are averaged. A second process nearly doubles the speed; a second thread adds
a fifth.
"""
import argparse
import json
import math
import os
import random
import time
from pathlib import Path

import torch
import torch.distributed as dist
import torch.nn.functional as F

from model.batches import IGNORED, Batch, BatchMaker
from model.dataset import Dataset, read_phones
from model.features import LogMel
from model.network import SpeechModel, whisper_config
from model.tokenizer import SpecialIds, load_or_train
from model.transcribe import word_error_rate

HOP = 320
#: Weights of the losses next to the decoder's own loss; see the README.
CTC, PHONES, TOKENS, ATTENTION = 0.3, 0.5, 0.3, 0.3
#: Seconds of audio in one step, in all processes together.
BATCH_SECONDS = 96.0


def losses(model: SpeechModel, mel: LogMel, batch: Batch, ids: SpecialIds, vocabulary: int) -> dict[str, torch.Tensor]:
    """Returns five losses by name.

    They are the cross entropy of the decoder, of the phone of each frame and of the token of each frame, the loss of
    the attention on the spoken word, and CTC.
    """
    length = max(map(len, batch.tokens))
    inputs = torch.full((len(batch.tokens), length), ids.endoftext)
    targets = torch.full((len(batch.tokens), length), IGNORED)
    for row, tokens in enumerate(batch.tokens):
        inputs[row, :len(tokens)] = torch.tensor(tokens)
        targets[row, :len(tokens) - 1] = torch.tensor(tokens[1:])
        # Language and task are given, so they have no loss.
        targets[row, :1 if len(tokens) == 3 else 2] = IGNORED
    memory, middle = model.encode(mel(batch.samples, augment=True))
    logits, weights = model.decode(memory, inputs[:, :-1])
    labels = F.cross_entropy(
        logits.flatten(0, 1), targets[:, :-1].flatten(), ignore_index=IGNORED, label_smoothing=0.05
    )
    phones = F.cross_entropy(model.phone_head(middle).flatten(0, 1), batch.phone_labels.flatten(), ignore_index=IGNORED)
    tokens = F.cross_entropy(model.token_head(memory).flatten(0, 1), batch.token_labels.flatten(), ignore_index=IGNORED)
    target, known = batch.attention_targets()
    attention = -(torch.log((weights * target).sum(-1) + 1e-6) * known).sum() / known.sum().clamp(min=1)
    steps = model.ctc_head(memory).log_softmax(-1).transpose(0, 1)
    texts = torch.tensor(sum(batch.text_tokens, []), dtype=torch.long)
    lengths = torch.tensor([len(text) for text in batch.text_tokens])
    step_counts = torch.full((len(lengths),), len(steps))
    ctc = F.ctc_loss(steps, texts, step_counts, lengths, blank=vocabulary, zero_infinity=True)
    return dict(labels=labels, phones=phones, tokens=tokens, attention=attention, ctc=ctc)


def total(parts: dict[str, torch.Tensor]) -> torch.Tensor:
    return (
        parts["labels"]
        + CTC * parts["ctc"]
        + PHONES * parts["phones"]
        + TOKENS * parts["tokens"]
        + ATTENTION * parts["attention"]
    )


def learning_rate(peak: float, step: int, progress: float, warm_up: int, flat: float = 0.2) -> float:
    """Returns the learning rate: linear warm-up, a flat part, then half a cosine to 0.02 of the peak."""
    if progress < flat:
        return peak * min(1.0, (step + 1) / warm_up)
    return peak * (0.49 * (1 + math.cos(math.pi * (progress - flat) / (1 - flat))) + 0.02)


def window_seconds(rng: random.Random, progress: float) -> float:
    """Returns the window length: short windows first, because they train faster; later up to the full window."""
    late = rng.random() < max(0.0, (progress - 0.1) * 1.2)
    return round((rng.uniform(3, 10) if late else rng.uniform(1.5, 5)) * 2) / 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path, help="folder of corpora, tokenizer and checkpoint")
    parser.add_argument(
        "--data", required=True, help="names of corpora, separated by commas; f1*3 is used three times as often"
    )
    parser.add_argument("--unseen", default="", help="corpora whose sentences are excluded from the training")
    parser.add_argument("--check", default="", help="corpora for the word error rates during training")
    parser.add_argument(
        "--hours", type=float, required=True, help="total hours of speech; determines the learning rate"
    )
    parser.add_argument("--stop-after", type=float, default=1e9, help="minutes of this part")
    parser.add_argument("--peak", type=float, default=1.5e-3, help="learning rate")
    parser.add_argument("--warm-up", type=int, default=300, help="steps")
    parser.add_argument("--width", type=int, default=192)
    parser.add_argument("--encoder-layers", type=int, default=4)
    parser.add_argument("--decoder-layers", type=int, default=2)
    parser.add_argument("--pieces", type=int, default=768, help="size of the tokenizer")
    parser.add_argument("--check-every", type=float, default=12.0, help="minutes")
    parser.add_argument("--threads", type=int, default=1, help="threads of each process")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    single = {} if "WORLD_SIZE" in os.environ else dict(store=dist.HashStore(), rank=0, world_size=1)
    dist.init_process_group("gloo", **single)
    try:
        run(arguments)
    finally:
        dist.destroy_process_group()


def average_gradients(model: SpeechModel) -> None:
    """Averages the gradients of all processes in one message."""
    gradients = [p.grad for p in model.parameters() if p.grad is not None]
    flat = torch.cat([gradient.flatten() for gradient in gradients])
    dist.all_reduce(flat)
    flat /= dist.get_world_size()
    for gradient, part in zip(gradients, flat.split([gradient.numel() for gradient in gradients])):
        gradient.copy_(part.view_as(gradient))


def anyone(vote: bool) -> bool:
    """Returns whether any process is true, so that all processes take the same branch."""
    votes = torch.tensor(float(vote))
    dist.all_reduce(votes)
    return votes.item() > 0


def run(arguments: argparse.Namespace) -> None:
    work, started = arguments.work, time.monotonic()
    tokenizer = load_or_train(work / "tokenizer.json", arguments.pieces)
    ids, vocabulary = SpecialIds(tokenizer), tokenizer.get_vocab_size()
    corpora = lambda names: [str(work / name) for name in names.split(",") if name]
    weights = [(name.partition("*")[0], int(name.partition("*")[2] or 1)) for name in arguments.data.split(",")]
    unseen = {item.text for item in Dataset(corpora(arguments.unseen), tokenizer, phones={}).items}
    checkpoint = work / "checkpoint.pt"
    state = torch.load(checkpoint) if checkpoint.exists() else dict(step=0, heard=0.0)
    # Each part of the training and each process draws other windows.
    first = dist.get_rank() == 0
    seed = arguments.seed + state["step"] + 1_000_000 * dist.get_rank()
    torch.manual_seed(arguments.seed)
    table = work / "phones.json"
    dataset = Dataset([str(work / name) for name, _ in weights], tokenizer, unseen, read_phones(table))
    dataset.weigh([weight for _, weight in weights])
    phones = dataset.phones
    if first:
        table.write_text(json.dumps(phones))
    config = whisper_config(ids, vocabulary, arguments.width, arguments.encoder_layers, arguments.decoder_layers)
    model, mel = SpeechModel(config, max(phones.values()) + 1), LogMel(HOP)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=arguments.peak, betas=(0.9, 0.98), weight_decay=0.02, fused=True
    )
    if "model" in state:
        model.load_state_dict(state["model"])
        if "optimizer" in state:
            optimizer.load_state_dict(state["optimizer"])
    torch.manual_seed(seed)
    parameters = sum(p.numel() for p in model.whisper.parameters())
    say(f"{len(dataset.items)} utterances, {parameters / 1e6:.2f} M parameters, from step {state['step']}")
    maker = BatchMaker(dataset, ids, vocabulary, HOP, seed)
    checks = {name: Dataset([str(work / name)], tokenizer, phones={}) for name in arguments.check.split(",") if name}
    trainer = Trainer(model, mel, optimizer, maker, ids, vocabulary, arguments, state)
    minutes = lambda: (time.monotonic() - started) / 60
    next_save, next_check = 4.0, arguments.check_every
    while trainer.progress < 1 and not anyone(minutes() >= arguments.stop_after):
        trainer.step()
        if not first:
            continue
        if minutes() > next_save:
            next_save = minutes() + 4.0
            trainer.save(checkpoint)
        if minutes() > next_check:
            next_check = minutes() + arguments.check_every
            print_rates(state, checks, model, mel, tokenizer, ids)
    if first:
        trainer.save(checkpoint)
        print_rates(state, checks, model, mel, tokenizer, ids)


def say(line: str) -> None:
    """Prints in the first process only."""
    if dist.get_rank() == 0:
        print(line, flush=True)


def print_rates(state, checks, model, mel, tokenizer, ids) -> None:
    rates = [f"{name} {word_error_rate(model, mel, tokenizer, ids, data):.1f}" for name, data in checks.items()]
    print(f"step {state['step']}, heard {state['heard'] / 3600:.0f} h, WER: {', '.join(rates)}", flush=True)


class Trainer:
    """Runs steps, counts time, and holds the state of a checkpoint."""

    def __init__(self, model, mel, optimizer, maker, ids, vocabulary, arguments, state) -> None:
        self.model, self.mel, self.optimizer, self.maker, self.ids = model, mel, optimizer, maker, ids
        self.vocabulary, self.arguments, self.state = vocabulary, arguments, state
        self.rng = random.Random(state["step"])
        self.sums: dict[str, float] = {}
        # A new optimizer needs a warm-up even for a trained model.
        self.warm = 0 if "optimizer" in state else state["step"]

    @property
    def progress(self) -> float:
        """Returns the progress from 0 to 1 by the processed speech, so the speed of the machine has no effect."""
        return self.state["heard"] / (self.arguments.hours * 3600)

    def step(self) -> None:
        state = self.state
        rate = learning_rate(self.arguments.peak, state["step"] - self.warm, self.progress, self.arguments.warm_up)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        batch = self.maker.draw(window_seconds(self.rng, self.progress), BATCH_SECONDS / dist.get_world_size())
        parts = losses(self.model, self.mel, batch, self.ids, self.vocabulary)
        self.optimizer.zero_grad()
        total(parts).backward()
        average_gradients(self.model)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        state["step"] += 1
        state["heard"] += batch.samples.numel() / 16_000 * dist.get_world_size()
        for name, value in parts.items():
            self.sums[name] = self.sums.get(name, 0.0) + value.item()
        if state["step"] % 100 == 0:
            means = " ".join(f"{name} {value / 100:.3f}" for name, value in self.sums.items())
            progress = f"{time.strftime('%H:%M:%S')} step {state['step']}, {state['heard'] / 3600:.1f} h"
            say(f"{progress}: {means}, rate {rate:.5f}")
            self.sums = {}

    def save(self, path: Path) -> None:
        """Saves atomically."""
        part = path.with_suffix(".part")
        torch.save(dict(self.state, model=self.model.state_dict(), optimizer=self.optimizer.state_dict()), part)
        os.replace(part, path)


if __name__ == "__main__":
    main()
