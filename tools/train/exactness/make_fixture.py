"""Makes test/support/fixtures/engine/exact-whisper: clips, a tiny overfitted Whisper and the reference results.

    cd tools/train && python -m exactness.make_fixture [--new-clips] [--weights FILE]

Keeps the clips in the folder unless `--new-clips` is given, which needs espeak-ng and flite. Training takes ten minutes
on one core. `--weights` saves the trained weights in a file and reuses them in the next run.
"""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np
import soundfile
import torch

from exactness.clips import RATE, REPOSITORY, Recording, Spoken, make_clips
from exactness.fixture_model import (
    LONGEST_TEXT,
    POSITIONS,
    SILENCE_AFTER,
    WINDOW_SECONDS,
    make_config,
    make_extractor,
    train,
)
from exactness.reference import (
    Passed,
    Reference,
    compression_ratio,
    features_of,
    generate,
    generation_config,
    verdict,
    without,
)
from exactness.targets import OTHER_TEXTS, text_of
from exactness.tokens import Vocabulary, make_tokenizer
from export.whisper_onnx import export_whisper, largest_difference

FOLDER = REPOSITORY / "test/support/fixtures/engine/exact-whisper"
MOST_BYTES = 1_000_000
# Two implementations of the features may differ by this much, so tokens that depend on it prove nothing.
JITTER = 1e-4
JITTERS = 3


def read_recordings(folder: Path) -> list[Recording]:
    return [
        Recording(row["file"], tuple(row["habits"]), tuple(Spoken(**spoken) for spoken in row["spoken"]))
        for row in json.loads((folder / "clips.json").read_text())
    ]


def write_lines(file: Path, rows: list[dict]) -> None:
    """Writes a JSON array with one row per line, so differences stay readable."""
    lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
    file.write_text("[\n" + ",\n".join(lines) + "\n]\n")


def read_samples(folder: Path, recordings: list[Recording]) -> list[np.ndarray]:
    return [soundfile.read(folder / "clips" / recording.file, dtype="float32")[0] for recording in recordings]


def make_vocabulary(recordings: list[Recording]) -> Vocabulary:
    texts = [
        text_of(spoken, language, "transcribe").strip()
        for recording in recordings
        for spoken in recording.spoken
        for language in ("en", "de")
    ]
    return Vocabulary(make_tokenizer([*texts, *OTHER_TEXTS]), POSITIONS + 1)


def write_json_files(folder: Path, vocabulary: Vocabulary) -> None:
    vocabulary.tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "WhisperTokenizer"}) + "\n")
    make_extractor().save_pretrained(folder)
    config = json.loads((folder / "config.json").read_text())
    config["stenolog"] = {"dynamic_window": True, "timestamps": True}
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")


def row_of(passed: Passed, vocabulary: Vocabulary) -> dict:
    text = vocabulary.decode(passed.tokens).strip()
    return {
        "tokens": passed.tokens,
        "gaps": [None if gap is None else float(f"{gap:.4g}") for gap in passed.gaps],
        "avg_logprob": round(passed.avg_logprob, 6),
        "no_speech_prob": round(passed.no_speech_prob, 6),
        "text": text,
        "compression_ratio": round(compression_ratio(text), 4) if text else 0,
        "verdict": verdict(passed, text),
    }


def windows_of_one_length(samples: list[np.ndarray], shorter: bool) -> list[tuple[list[int], torch.Tensor]]:
    """Returns batches of windows with equal length: the numbers of the clips, and features [clips, mels, frames].

    `shorter`: each clip that fits gets the shortest window that the runner would use. Otherwise all windows are full.
    """
    batches: dict[int, tuple[list[int], list[torch.Tensor]]] = {}
    for index, audio in enumerate(samples):
        if shorter and len(audio) / RATE + SILENCE_AFTER >= WINDOW_SECONDS:
            continue
        features = features_of(audio, shorter)
        clips, batch = batches.setdefault(features.shape[2], ([], []))
        clips.append(index)
        batch.append(features)
    return [(clips, torch.cat(batch)) for clips, batch in batches.values()]


def expectations(
    model: Reference, recordings: list[Recording], samples: list[np.ndarray], vocabulary: Vocabulary
) -> list[dict]:
    """Returns the results of every clip in both languages, with and without timestamps.

    A clip that fits is also transcribed in a shorter window.
    """
    generator = torch.Generator().manual_seed(1)
    rows = []
    for shorter, language in ((False, "en"), (False, "de"), (True, "en")):
        for clips, features in windows_of_one_length(samples, shorter):
            for timestamps in (False, True):
                passes = generate(model, features, language, timestamps)
                for _ in range(JITTERS):
                    noise = JITTER * torch.randn(features.shape, generator=generator)
                    near = generate(model, features + noise, language, timestamps)
                    edges = [
                        recordings[clip].file
                        for clip, one, other in zip(clips, passes, near, strict=True)
                        if one.tokens != other.tokens
                    ]
                    if edges:
                        raise SystemExit(f"{edges} are too close to another token: train with another seed")
                rows += [
                    {
                        "file": recordings[clip].file,
                        "language": language,
                        "timestamps": timestamps,
                        "shorter_window": shorter,
                    }
                    | row_of(passed, vocabulary)
                    for clip, passed in zip(clips, passes, strict=True)
                ]
        print(f"{language}, {'shorter' if shorter else 'full'} windows: {len(rows)} passes so far")
    return rows


def count_effects(model: Reference, samples: list[np.ndarray]) -> dict[str, int]:
    """Counts the clips whose tokens change without a rule or with another prompt."""
    ((_, features),) = windows_of_one_length(samples, False)

    def all_tokens(language: str = "en", timestamps: bool = False, task: str = "transcribe") -> list[list[int]]:
        return [passed.tokens for passed in generate(model, features, language, timestamps, task)]

    plain, timed = all_tokens(), all_tokens(timestamps=True)

    def changed(before: list[list[int]], after: list[list[int]]) -> int:
        return sum(one != other for one, other in zip(before, after, strict=True))

    effects = {
        "language": changed(plain, all_tokens(language="de")),
        "task": changed(plain, all_tokens(task="translate")),
        "timestamps": changed(plain, timed),
    }
    with without(model, suppress_tokens=None):
        effects["suppress_tokens"] = changed(plain, all_tokens()) + changed(timed, all_tokens(timestamps=True))
    with without(model, begin_suppress_tokens=None):
        effects["begin_suppress_tokens"] = changed(plain, all_tokens())
    with without(model, max_initial_timestamp_index=None):
        effects["max_initial_timestamp_index"] = changed(timed, all_tokens(timestamps=True))
    with without(model, _detect_timestamp_from_logprob=False):
        effects["sum of timestamps"] = changed(timed, all_tokens(timestamps=True))
    return effects


def weak_points(rows: list[dict], effects: dict[str, int], folder: Path) -> list[str]:
    """Lists the reasons why the fixture would prove too little."""
    english = [
        row["tokens"] for row in rows if row["language"] == "en" and not row["shorter_window"] and not row["timestamps"]
    ]
    verdicts = {row["verdict"] for row in rows}
    longest = max(len(row["tokens"]) for row in rows)
    size = sum(
        file.stat().st_size
        for file in (*folder.glob("*.json"), *folder.glob("onnx/*"))
        if file.name not in ("clips.json", "expected.json")
    )
    return [
        *(f"{name} changes {count} clips" for name, count in effects.items() if count < 2),
        *([f"only {len(set(map(tuple, english)))} different texts"] if len(set(map(tuple, english))) < 26 else []),
        *([f"only the verdicts {verdicts}"] if verdicts != {"words", "rejected", "silence"} else []),
        *(["no text reaches the greatest length"] if longest < LONGEST_TEXT else []),
        *([f"the model has {size} bytes"] if size > MOST_BYTES else []),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--new-clips", action="store_true")
    parser.add_argument("--weights", type=Path, help="file for the trained weights")
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    folder: Path = arguments.folder
    # More threads would slow down such a small model.
    torch.set_num_threads(1)

    if arguments.new_clips:
        recordings = make_clips(folder / "clips", arguments.seed)
        write_lines(folder / "clips.json", [asdict(recording) for recording in recordings])
    recordings = read_recordings(folder)
    samples = read_samples(folder, recordings)
    vocabulary = make_vocabulary(recordings)

    if arguments.weights is None or not arguments.weights.exists():
        trained = train(recordings, samples, vocabulary, arguments.steps, arguments.seed, print)
        state = trained.state_dict()
        if arguments.weights is not None:
            torch.save(state, arguments.weights)
    else:
        state = torch.load(arguments.weights)
    model = Reference(make_config(vocabulary)).eval()
    model.load_state_dict(state)
    model.generation_config = generation_config(vocabulary)
    export_whisper(model, folder)
    write_json_files(folder, vocabulary)
    print(f"the graphs differ from the model by {largest_difference(model, folder):.1e}")

    rows = expectations(model, recordings, samples, vocabulary)
    write_lines(folder / "expected.json", rows)
    effects = count_effects(model, samples)
    print("clips that a rule or a prompt changes:", effects)
    problems = weak_points(rows, effects, folder)
    if problems:
        sys.exit("the fixture proves too little: " + "; ".join(problems))


if __name__ == "__main__":
    main()
