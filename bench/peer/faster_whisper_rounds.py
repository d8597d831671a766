"""Transcribes the same windows with faster-whisper: one round for each input line, with one JSON line as its result.

A round transcribes every window once: greedily, without timestamps, fallback or speech detection, with exactly
`--tokens` tokens. With several `--workers`, as many Python threads share the model, each with `--threads` threads.
"""

import argparse
import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from faster_whisper import WhisperModel

SAMPLE_RATE = 16000
# Number of tokens in the prompt: start of transcript, language, task and "no timestamps".
PROMPT = 4


def windows_of(pcm: Path, seconds: float) -> list[np.ndarray]:
    samples = np.frombuffer(pcm.read_bytes(), dtype="<i2").astype(np.float32) / 32768
    length = round(seconds * SAMPLE_RATE)
    return [samples[start : start + length] for start in range(0, len(samples) - length + 1, length)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="CTranslate2 folder")
    parser.add_argument("pcm", type=Path, help="16 kHz mono s16le samples")
    parser.add_argument("--window", type=float, required=True, help="seconds of one window")
    parser.add_argument("--tokens", type=int, required=True, help="tokens decoded for each window")
    parser.add_argument("--suppress", type=int, nargs=2, required=True, help="first and last suppressed token")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--workers", type=int, required=True)
    arguments = parser.parse_args()
    suppressed = list(range(arguments.suppress[0], arguments.suppress[1] + 1))
    windows = windows_of(arguments.pcm, arguments.window)
    model = WhisperModel(
        arguments.model,
        device="cpu",
        compute_type="int8",
        cpu_threads=arguments.threads,
        num_workers=arguments.workers,
        local_files_only=True,
    )

    def transcribe(window: np.ndarray) -> int:
        segments, _ = model.transcribe(
            window,
            language="en",
            beam_size=1,
            temperature=0.0,
            compression_ratio_threshold=None,
            log_prob_threshold=None,
            no_speech_threshold=None,
            condition_on_previous_text=False,
            without_timestamps=True,
            suppress_tokens=suppressed,
            # faster-whisper adds PROMPT to this number, and CTranslate2 decodes half of the sum: `tokens` tokens.
            max_new_tokens=2 * arguments.tokens - PROMPT,
            vad_filter=False,
        )
        return sum(len(segment.tokens) for segment in segments)

    def answer(value: dict) -> None:
        print(json.dumps(value), flush=True)

    with ThreadPoolExecutor(arguments.workers) as pool:
        answer({"ready": len(windows)})
        for _ in sys.stdin:
            began, cpu = time.perf_counter(), time.process_time()
            tokens = list(pool.map(transcribe, windows))
            answer({"seconds": time.perf_counter() - began, "cpu": time.process_time() - cpu, "tokens": tokens})


if __name__ == "__main__":
    main()
