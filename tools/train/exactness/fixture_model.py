"""Trains the exactness model: a tiny Whisper, overfitted on the fixture's clips, with full and with shorter windows."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

import numpy as np
import torch
from torch.nn.functional import cross_entropy
from transformers import WhisperConfig, WhisperFeatureExtractor, WhisperForConditionalGeneration

from exactness.clips import RATE, Recording
from exactness.targets import Target
from exactness.tokens import Vocabulary

WINDOW_SECONDS = 5
HOP = 320
POSITIONS = WINDOW_SECONDS * RATE // HOP // 2
# Maximum length of a text, as the reference counts it: without the prompt.
LONGEST_TEXT = 64
IGNORED = -100
MODES = tuple(
    (language, task, timestamps)
    for language, task in (("en", "transcribe"), ("de", "transcribe"), ("en", "translate"))
    for timestamps in (False, True)
)
# The runner's shortest window is 3 s. From a few window lengths this small encoder also learns the others.
SHORTER_WINDOWS = (3.0, 3.32, 3.6, 4.0, 4.4)
# Seconds of silence that the runner appends to the audio.
SILENCE_AFTER = 0.5
CLIPS_A_STEP = 15
MODES_A_CLIP = 3


def make_extractor() -> WhisperFeatureExtractor:
    return WhisperFeatureExtractor(feature_size=80, hop_length=HOP, chunk_length=WINDOW_SECONDS)


def make_config(vocabulary: Vocabulary) -> WhisperConfig:
    end = vocabulary.special("endoftext")
    return WhisperConfig(
        vocab_size=vocabulary.size,
        d_model=48,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=96,
        decoder_ffn_dim=96,
        num_mel_bins=80,
        max_source_positions=POSITIONS,
        max_target_positions=LONGEST_TEXT + 16,
        decoder_start_token_id=vocabulary.special("startoftranscript"),
        eos_token_id=end,
        pad_token_id=end,
        bos_token_id=end,
        suppress_tokens=None,
        begin_suppress_tokens=None,
    )


@dataclass(frozen=True)
class Window:
    """Features of all clips that fit into one window length: [clips, mels, frames], and the numbers of these clips."""

    features: torch.Tensor
    clips: list[int]


def windows_of(samples: list[np.ndarray], extractor: WhisperFeatureExtractor) -> list[Window]:
    """Returns the full window with all clips (cut if necessary), and the shorter windows with the clips that fit."""
    windows = []
    for seconds in (*SHORTER_WINDOWS, float(WINDOW_SECONDS)):
        full = seconds == WINDOW_SECONDS
        clips = [i for i, clip in enumerate(samples) if full or len(clip) / RATE + SILENCE_AFTER <= seconds]
        features = extractor(
            [samples[i] for i in clips], sampling_rate=RATE, max_length=round(seconds * RATE), return_tensors="pt"
        ).input_features
        windows.append(Window(features, clips))
    return windows


@contextmanager
def for_window(model: WhisperForConditionalGeneration, frames: int) -> Iterator[None]:
    """Sets the model to windows of `frames` frames, so its checks and its generation accept the shorter features."""
    encoder = model.model.encoder
    positions, sources = encoder.embed_positions, model.config.max_source_positions
    try:
        model.config.max_source_positions = encoder.config.max_source_positions = frames // 2
        encoder.embed_positions = torch.nn.Embedding.from_pretrained(positions.weight[: frames // 2].detach())
        yield
    finally:
        model.config.max_source_positions = encoder.config.max_source_positions = sources
        encoder.embed_positions = positions


def loss_of(
    model: WhisperForConditionalGeneration,
    encoded: torch.Tensor,
    targets: list[Target],
    rows: list[int],
    random: Random,
) -> torch.Tensor:
    """Returns the cross entropy of sampled targets. Target i belongs to the clip in row rows[i] of `encoded`."""
    sequences = [(target.prompt, target.tokens(random)[:LONGEST_TEXT], target.first(random)) for target in targets]
    longest = max(len(prompt) + len(tokens) for prompt, tokens, _ in sequences) - 1
    inputs = torch.zeros(len(sequences), longest, dtype=torch.long)
    labels = torch.full((len(sequences), longest), IGNORED)
    for row, (prompt, tokens, first) in enumerate(sequences):
        whole = prompt + tokens
        inputs[row, : len(whole) - 1] = torch.tensor(whole[:-1])
        labels[row, len(prompt) - 1 : len(whole) - 1] = torch.tensor(tokens)
        labels[row, 0] = first
    states = model.model.decoder(
        input_ids=inputs, encoder_hidden_states=encoded[rows], use_cache=False
    ).last_hidden_state
    return cross_entropy(model.proj_out(states).transpose(1, 2), labels, ignore_index=IGNORED)


def train(
    recordings: list[Recording],
    samples: list[np.ndarray],
    vocabulary: Vocabulary,
    steps: int,
    seed: int,
    report: Callable[[str], None],
) -> WhisperForConditionalGeneration:
    torch.manual_seed(seed)
    random = Random(seed)
    model = WhisperForConditionalGeneration(make_config(vocabulary)).train()
    windows = windows_of(samples, make_extractor())
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.98), weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=steps, pct_start=0.1)
    total = 0.0
    for step in range(1, steps + 1):
        window = windows[-1] if step % 2 else random.choice(windows[:-1])
        chosen = random.sample(range(len(window.clips)), min(CLIPS_A_STEP, len(window.clips)))
        modes = [random.sample(MODES, MODES_A_CLIP) for _ in chosen]
        targets = [
            Target(vocabulary, recordings[window.clips[clip]], *mode)
            for clip, some in zip(chosen, modes, strict=True)
            for mode in some
        ]
        rows = [row for row in range(len(chosen)) for _ in range(MODES_A_CLIP)]
        with for_window(model, window.features.shape[2]):
            encoded = model.model.encoder(window.features[chosen]).last_hidden_state
        loss = loss_of(model, encoded, targets, rows, random)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        total += loss.item()
        if step % 100 == 0:
            report(f"step {step}: loss {total / 100:.3f}")
            total = 0.0
    return model.eval()
