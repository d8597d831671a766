"""Synthesises the clips of the exactness fixture with espeak-ng, flite and numpy.

The clips are FLAC files, with the times of their sentences.
"""

import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile
import soxr

from exactness.clip_list import CLIPS, Clip, Sentence

RATE = 16000
# Existing audio: the demo's sample and other fixtures.
REPOSITORY = Path(__file__).resolve().parents[3]
SAMPLE = REPOSITORY / "interfaces/cli/streaming/demo/sample"
# Seconds of silence after the last sentence.
SILENCE_AFTER = 0.2


@dataclass(frozen=True)
class Spoken:
    """A sentence and its time in the clip, in seconds."""

    start: float
    end: float
    text: str
    german: str


@dataclass(frozen=True)
class Recording:
    file: str
    habits: tuple[str, ...]
    spoken: tuple[Spoken, ...]


def from_program(*command: str) -> np.ndarray:
    """Returns the audio that a synthesizer writes to the file `{}` of its command."""
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/speech.wav"
        subprocess.run([part.replace("{}", file) for part in command], check=True)
        samples, rate = soundfile.read(file, dtype="float32")
    return soxr.resample(samples, rate, RATE)


def from_sample(index: int) -> np.ndarray:
    sentence = json.loads(SAMPLE.with_suffix(".json").read_text())["sentences"][index]
    samples, _ = soundfile.read(SAMPLE.with_suffix(".flac"), dtype="float32")
    return samples[round((sentence["start"] - 0.05) * RATE) : round((sentence["end"] + 0.05) * RATE)]


def synthesise(sentence: Sentence) -> np.ndarray:
    """Returns the sentence without surrounding silence, scaled to at most half of full scale."""
    kind, _, voice = sentence.voice.partition(":")
    if kind == "espeak":
        name, speed, pitch = voice.rsplit(":", 2)
        samples = from_program("espeak-ng", "-v", name, "-s", speed, "-p", pitch, "-w", "{}", sentence.text)
    elif kind == "flite":
        samples = from_program("flite", "-voice", voice, "-t", sentence.text, "-o", "{}")
    elif kind == "sample":
        samples = from_sample(int(voice))
    else:
        samples, _ = soundfile.read(REPOSITORY / voice, dtype="float32")
    loud = np.flatnonzero(np.abs(samples) > 0.003)
    spoken = samples[loud[0] : loud[-1] + 1]
    return 0.5 * spoken / np.abs(spoken).max()


def background(sound: str, samples: int, generator: np.random.Generator) -> np.ndarray:
    time = np.arange(samples) / RATE
    if sound == "white":
        return 0.02 * generator.standard_normal(samples)
    if sound == "hum":
        return sum(0.1 / harmonic * np.sin(2 * np.pi * 50 * harmonic * time) for harmonic in (1, 2, 3, 5))
    if sound == "chord":
        swell = 0.5 - 0.5 * np.cos(2 * np.pi * time / 2.5)
        return 0.15 * swell * sum(np.sin(2 * np.pi * tone * time) for tone in (261.6, 329.6, 392.0))
    raise ValueError(f"unknown sound {sound}")


def render(clip: Clip, generator: np.random.Generator) -> tuple[np.ndarray, tuple[Spoken, ...]]:
    """Returns the clip's samples as 16-bit integers, and its sentences."""
    voices = [synthesise(sentence) for sentence in clip.sentences]
    spoken = tuple(
        Spoken(round(sentence.start, 3), round(sentence.start + len(voice) / RATE, 3), sentence.text, sentence.german)
        for sentence, voice in zip(clip.sentences, voices, strict=True)
    )
    seconds = clip.seconds if clip.seconds is not None else max(end.end for end in spoken) + SILENCE_AFTER
    samples = np.zeros(round(seconds * RATE))
    for sentence, voice in zip(clip.sentences, voices, strict=True):
        first = round(sentence.start * RATE)
        room = max(0, len(samples) - first)
        samples[first : first + len(voice)] += voice[:room]
    if clip.sound is not None:
        samples += background(clip.sound, len(samples), generator)
    limited = np.clip(clip.gain * samples, -clip.clip_at, clip.clip_at)
    return np.clip(np.round(limited * 32767), -32768, 32767).astype(np.int16), spoken


def make_clips(folder: Path, seed: int) -> list[Recording]:
    """Writes FOLDER/NAME.flac for every clip."""
    generator = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    recordings = []
    for clip in CLIPS:
        samples, spoken = render(clip, generator)
        soundfile.write(folder / f"{clip.name}.flac", samples, RATE, subtype="PCM_16")
        recordings.append(Recording(f"{clip.name}.flac", clip.habits, spoken))
    return recordings
