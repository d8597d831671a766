"""An independent greedy loop over the ONNX files of a Whisper folder: numpy and onnxruntime, no code of the runner.

    python whisper_reference.py FOLDER UTTERANCES [--count N] [--timestamps] [--language en]

UTTERANCES is a folder of FLAC or WAV files (16 kHz mono), or PREFIX.jsonl with PREFIX.raw (speech/corpus.py). Prints
one JSON line for each utterance: id, tokens, gaps (difference of the best two log probabilities at each step, including
the end of text), avg_logprob, no_speech_prob.
"""

import argparse
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

RATE = 16_000
# Seconds of silence after the audio, and of the shortest window, as in the runner.
SILENCE_AFTER = 0.5
SHORTEST_WINDOW = 3.0
FORBIDDEN = -np.inf


def mel_of(hertz: np.ndarray | float) -> np.ndarray:
    """Returns Slaney's mel scale: linear below 1 kHz, 27 steps for each factor of 6.4 above."""
    hertz = np.asarray(hertz, np.float64)
    return np.where(hertz < 1000, hertz * 3 / 200, 15 + 27 * np.log(np.maximum(hertz, 1) / 1000) / np.log(6.4))


def hertz_of(mel: np.ndarray) -> np.ndarray:
    return np.where(mel < 15, mel * 200 / 3, 1000 * np.power(6.4, (mel - 15) / 27))


def mel_filters(bins: int, mels: int) -> np.ndarray:
    """Returns [mels, bins]: triangles of area one between 0 and 8 kHz."""
    edges = hertz_of(np.linspace(mel_of(0.0), mel_of(8000.0), mels + 2))
    frequencies = np.linspace(0, RATE / 2, bins)
    rising = (frequencies - edges[:-2, None]) / np.diff(edges)[:-1, None]
    falling = (edges[2:, None] - frequencies) / np.diff(edges)[1:, None]
    return np.maximum(0, np.minimum(rising, falling)) * (2 / (edges[2:] - edges[:-2]))[:, None]


def log_mel(audio: np.ndarray, fft_size: int, hop: int, mels: int) -> np.ndarray:
    """Returns [mels, samples / hop] of float audio."""
    padded = np.pad(audio.astype(np.float64), fft_size // 2, mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(padded, fft_size)[::hop][: len(audio) // hop]
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(fft_size) / fft_size)
    power = np.abs(np.fft.rfft(frames * hann)) ** 2
    energies = np.log10(np.maximum(1e-10, mel_filters(fft_size // 2 + 1, mels) @ power.T))
    # Rounds where the runner rounds: with 8-bit activations the last bit of a feature can change a token.
    rounded = energies.astype(np.float32).astype(np.float64)
    return ((np.maximum(rounded, rounded.max() - 8) + 4) / 4).astype(np.float32)


def log_softmax(logits: np.ndarray) -> np.ndarray:
    finite = logits[np.isfinite(logits)]
    highest = finite.max()
    return logits - highest - np.log(np.exp(finite - highest).sum())


class WhisperReference:
    """The model. All its parameters come from the JSON files of its folder."""

    def __init__(self, folder: Path, timestamps: bool, language: str) -> None:
        self.config, self.generation, self.front = (
            json.loads((folder / name).read_text())
            for name in ("config.json", "generation_config.json", "preprocessor_config.json")
        )
        added = json.loads((folder / "tokenizer.json").read_text())["added_tokens"]
        self.special = {token["content"]: token["id"] for token in added}
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        suffix = "_quantized" if (folder / "onnx/encoder_model_quantized.onnx").exists() else ""
        self.encoder, self.first, self.following = (
            onnxruntime.InferenceSession(
                str(folder / "onnx" / f"{name}{suffix}.onnx"), options, providers=["CPUExecutionProvider"]
            )
            for name in ("encoder_model", "decoder_model", "decoder_with_past_model")
        )
        self.timestamps = timestamps
        self.end = self.generation["eos_token_id"]
        self.no_timestamps = self.generation["no_timestamps_token_id"]
        self.first_time = self.no_timestamps + 1
        self.prompt = [
            self.generation["decoder_start_token_id"],
            self.generation["lang_to_id"][f"<|{language}|>"],
            self.generation["task_to_id"]["transcribe"],
            *([] if timestamps else [self.no_timestamps]),
        ]
        longest = self.generation.get("max_length") or self.config["max_target_positions"]
        self.most_tokens = min(longest, self.config["max_target_positions"] - len(self.prompt))

    def window(self, samples: np.ndarray) -> np.ndarray:
        """Returns float audio, cut or padded with silence to the model's window."""
        full = round(self.front["chunk_length"] * RATE)
        length = full
        if self.config.get("stenolog", {}).get("dynamic_window"):
            step = 2 * self.front["hop_length"]
            wanted = max(len(samples) + SILENCE_AFTER * RATE, SHORTEST_WINDOW * RATE)
            length = min(full, math.ceil(wanted / step) * step)
        audio = np.zeros(length, np.float32)
        part = samples[:length]
        audio[: len(part)] = part.astype(np.float32) / 32768
        return audio

    def allow(self, logits: np.ndarray, tokens: list[int]) -> np.ndarray:
        """Applies the rules of the reference to the logits of the token after `tokens`."""
        allowed = logits.astype(np.float64)
        if not tokens:
            allowed[self.generation.get("begin_suppress_tokens") or []] = FORBIDDEN
        allowed[self.generation.get("suppress_tokens") or []] = FORBIDDEN
        if not self.timestamps:
            return allowed
        allowed[self.no_timestamps] = FORBIDDEN
        if not tokens:
            allowed[: self.first_time] = FORBIDDEN
            latest = self.generation.get("max_initial_timestamp_index")
            if latest is not None:
                allowed[self.first_time + latest + 1 :] = FORBIDDEN
            return allowed
        is_time = [token >= self.first_time for token in tokens]
        opens = is_time[-1] and (len(tokens) == 1 or is_time[-2])
        closes = is_time[-1] and not opens
        if opens:
            allowed[self.first_time :] = FORBIDDEN
        if closes:
            allowed[: self.end] = FORBIDDEN
        times = [token for token in tokens if token >= self.first_time]
        if times:
            allowed[self.first_time : times[-1] + (0 if closes else 1)] = FORBIDDEN
        scores = log_softmax(allowed)
        if np.logaddexp.reduce(scores[self.first_time :]) > scores[: self.first_time].max():
            allowed[: self.first_time] = FORBIDDEN
        return allowed

    def run(self, session: onnxruntime.InferenceSession, feeds: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        return dict(zip([output.name for output in session.get_outputs()], session.run(None, feeds), strict=True))

    def decode(self, samples: np.ndarray) -> dict[str, Any]:
        """Transcribes int16 samples at 16 kHz. Returns the tokens and the values that judge them."""
        features = log_mel(
            self.window(samples), self.front["n_fft"], self.front["hop_length"], self.front["feature_size"]
        )
        encoded = self.run(self.encoder, {"input_features": features[None]})["last_hidden_state"]
        answer = self.run(self.first, {"input_ids": np.array([self.prompt]), "encoder_hidden_states": encoded})
        start = np.exp(log_softmax(answer["logits"][0, 0].astype(np.float64)))
        tokens: list[int] = []
        gaps: list[float | None] = []
        total, cache = 0.0, {}
        while True:
            scores = log_softmax(self.allow(answer["logits"][0, -1], tokens))
            token = int(scores.argmax())
            best, second = -np.sort(-scores)[:2]
            gaps.append(None if np.isinf(second) else float(best - second))
            total += float(best)
            if token == self.end:
                break
            tokens.append(token)
            if len(tokens) == self.most_tokens:
                break
            cache |= {
                name.replace("present", "past_key_values"): value
                for name, value in answer.items()
                if name.startswith("present")
            }
            answer = self.run(self.following, {"input_ids": np.array([[token]]), **cache})
        no_speech = self.special.get("<|nospeech|>", self.special.get("<|nocaptions|>"))
        return {
            "tokens": tokens,
            "gaps": gaps,
            "avg_logprob": total / len(gaps),
            "no_speech_prob": 0.0 if no_speech is None else float(start[no_speech]),
        }


def read_utterances(path: Path, count: int) -> Iterator[tuple[str, np.ndarray]]:
    """Yields id and int16 samples of the first `count` utterances of a folder (sorted by name) or of a corpus."""
    if path.is_dir():
        import soundfile

        for file in sorted(file for file in path.iterdir() if file.suffix in (".flac", ".wav"))[:count]:
            samples, rate = soundfile.read(file, dtype="int16")
            if rate != RATE or samples.ndim != 1:
                raise ValueError(f"{file} should be {RATE} Hz mono")
            yield file.name, samples
        return
    raw = np.memmap(path.with_suffix(".raw"), dtype=np.int16, mode="r")
    for number, line in enumerate(path.read_text().splitlines()[:count]):
        row = json.loads(line)
        yield str(number), np.asarray(raw[row["offset"] : row["offset"] + row["samples"]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("utterances", type=Path)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--timestamps", action="store_true")
    parser.add_argument("--language", default="en")
    arguments = parser.parse_args()
    reference = WhisperReference(arguments.folder, arguments.timestamps, arguments.language)
    for name, samples in read_utterances(arguments.utterances, arguments.count):
        print(json.dumps({"id": name} | reference.decode(samples)), flush=True)


if __name__ == "__main__":
    main()
