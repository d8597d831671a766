"""Generates the reference results of the fixture's clips with `transformers`, greedily and with 32-bit weights."""

import math
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from transformers import GenerationConfig, WhisperForConditionalGeneration

from exactness.clips import RATE
from exactness.fixture_model import HOP, LONGEST_TEXT, SILENCE_AFTER, WINDOW_SECONDS, for_window, make_extractor
from exactness.tokens import Vocabulary

# Thresholds of Whisper's own decoding.
LOWEST_LOGPROB = -1.0
HIGHEST_NO_SPEECH = 0.6
HIGHEST_COMPRESSION = 2.4
SHORTEST_WINDOW = 3.0
# The latest allowed start of a text. Two clips start later on purpose.
LATEST_FIRST_TIME = 12


@dataclass(frozen=True)
class Passed:
    """One pass of the reference.

    `gaps`: difference of the best two log probabilities at each step; None where only one token is allowed.
    """

    tokens: list[int]
    gaps: list[float | None]
    avg_logprob: float
    no_speech_prob: float
    needs_fallback: bool
    is_silence: bool


class Reference(WhisperForConditionalGeneration):
    """The reference model. It also records the values by which its last passes are judged, and changes nothing."""

    passed: list[Passed]

    def _need_fallback(
        self, seek_sequence: torch.Tensor, seek_outputs: list[dict[str, Any]], index: int, *rest: Any
    ) -> Any:
        answer = super()._need_fallback(seek_sequence, seek_outputs, index, *rest)
        logits_processor, generation_config, _, temperature = rest
        # A batch continues until its last text ends, so cut each text at its own end.
        scores = seek_outputs[index]["scores"][: len(seek_sequence)]
        best = [torch.log_softmax(score.float(), -1).topk(2).values.tolist() for score in scores]
        ends = int(seek_sequence[-1]) == generation_config.eos_token_id
        detector = next(processor for processor in logits_processor if hasattr(processor, "no_speech_prob"))
        self.passed.append(
            Passed(
                tokens=(seek_sequence[:-1] if ends else seek_sequence).tolist(),
                gaps=[None if math.isinf(second) else first - second for first, second in best],
                avg_logprob=float(self._retrieve_avg_logprobs(scores, seek_sequence, temperature)),
                no_speech_prob=float(detector.no_speech_prob[index]),
                needs_fallback=bool(answer[0]),
                is_silence=bool(answer[1]),
            )
        )
        return answer


def generation_config(vocabulary: Vocabulary) -> GenerationConfig:
    """Returns the settings of a real Whisper: every rule is on, and the suppress lists hold text and special tokens."""
    special = vocabulary.special
    end = special("endoftext")
    config = GenerationConfig(
        max_length=LONGEST_TEXT,
        decoder_start_token_id=special("startoftranscript"),
        bos_token_id=end,
        eos_token_id=end,
        pad_token_id=end,
        suppress_tokens=[
            vocabulary.song,
            vocabulary.text("!")[0],
            *(
                special(name)
                for name in ("startoftranscript", "translate", "transcribe", "startoflm", "startofprev", "nospeech")
            ),
        ],
        begin_suppress_tokens=[vocabulary.space, end],
    )
    config.is_multilingual = True
    config.lang_to_id = {f"<|{language}|>": special(language) for language in ("en", "de")}
    config.task_to_id = {task: special(task) for task in ("translate", "transcribe")}
    config.no_timestamps_token_id = special("notimestamps")
    config.prev_sot_token_id = special("startofprev")
    config.max_initial_timestamp_index = LATEST_FIRST_TIME
    config.return_timestamps = False
    return config


def features_of(samples: np.ndarray, shorter: bool) -> torch.Tensor:
    """Returns the features [1, mels, frames] of the full window, or of the shorter window that the runner would use.

    The shorter window has 0.5 s of silence after the audio, and at least 3 s.
    """
    window = WINDOW_SECONDS * RATE
    if shorter:
        step = 2 * HOP
        wanted = max(len(samples) + round(SILENCE_AFTER * RATE), round(SHORTEST_WINDOW * RATE))
        window = min(window, math.ceil(wanted / step) * step)
    return make_extractor()(samples, sampling_rate=RATE, max_length=window, return_tensors="pt").input_features


def generate(
    model: Reference, features: torch.Tensor, language: str, timestamps: bool, task: str = "transcribe"
) -> list[Passed]:
    """Returns the results of the reference for each window of a batch."""
    model.passed = []
    with for_window(model, features.shape[2]), torch.no_grad():
        model.generate(
            features,
            language=language,
            task=task,
            return_timestamps=timestamps,
            num_beams=1,
            temperature=0.0,
            logprob_threshold=LOWEST_LOGPROB,
            no_speech_threshold=HIGHEST_NO_SPEECH,
            return_dict_in_generate=True,
            output_scores=True,
            # Otherwise the audio after the last pair of timestamps would get passes of its own.
            force_unique_generate_call=True,
        )
    return model.passed


def compression_ratio(text: str) -> float:
    """Returns the compression ratio of the text, as in Whisper's own decoding.

    `transformers` computes the ratio of the tokens instead, with another threshold.
    """
    raw = text.encode()
    return len(raw) / len(zlib.compress(raw))


def verdict(passed: Passed, text: str) -> str:
    """Returns the decision of Whisper's fallback. `silence`: no text; `rejected`: decode again with a temperature."""
    if text == "" or passed.is_silence:
        return "silence"
    return "rejected" if passed.needs_fallback or compression_ratio(text) > HIGHEST_COMPRESSION else "words"


@contextmanager
def without(model: Reference, **settings: Any) -> Iterator[None]:
    """Runs the reference with other generation settings."""
    config = model.generation_config
    before = {name: getattr(config, name, None) for name in settings}
    try:
        for name, value in settings.items():
            setattr(config, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(config, name, value)
