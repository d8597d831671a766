"""Makes the demo's sample: synthetic speech with the times of all words.

usage: make-sample.py TEXT_FILE OUT_STEM [--voice en-us+rob] [--rate 155] [--seed 1]

TEXT_FILE has one sentence per line. Writes OUT_STEM.flac (16 kHz mono) and OUT_STEM.json:
{voice, sentences: [{text, start, end, words: [[word, start, end], ...]}]}, times in seconds.
Needs Debian's espeak-ng (libespeak-ng1) and flac, and Python's numpy and soxr.
Use a voice that is not in the training data of models/demo-en.
"""
import argparse
import ctypes
import json
import random
import subprocess
import tempfile
import wave

import numpy as np
import soxr

RATE = 16000


class Id(ctypes.Union):
    _fields_ = [("number", ctypes.c_int), ("name", ctypes.c_char_p), ("string", ctypes.c_char * 8)]


class Event(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int), ("unique_identifier", ctypes.c_uint), ("text_position", ctypes.c_int),
        ("length", ctypes.c_int), ("audio_position", ctypes.c_int), ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p), ("id", Id),
    ]


WORD_EVENT, END_OF_LIST = 1, 0
CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(Event))


class Synthesizer:
    def __init__(self, voice, rate):
        self.lib = ctypes.CDLL("libespeak-ng.so.1")
        self.sample_rate = self.lib.espeak_Initialize(2, 0, None, 0)
        self.callback = CALLBACK(self._collect)
        self.lib.espeak_SetSynthCallback(self.callback)
        if self.lib.espeak_SetVoiceByName(voice.encode()) != 0:
            raise SystemExit(f"unknown voice: {voice}")
        for parameter, value in ((1, rate), (3, 50), (4, 50)):
            self.lib.espeak_SetParameter(parameter, value, 0)

    def _collect(self, samples, count, events):
        if count > 0 and samples:
            self.chunks.append(np.ctypeslib.as_array(samples, (count,)).copy())
        i = 0
        while events[i].type != END_OF_LIST:
            if events[i].type == WORD_EVENT:
                self.words.append((events[i].audio_position / 1000, events[i].text_position - 1, events[i].length))
            i += 1
        return 0

    def say(self, text):
        """Returns samples at 16 kHz without silence at the ends, and the (word, start, end) of each word.

        The times are in seconds from the first sample.
        """
        self.chunks, self.words = [], []
        raw = text.encode()
        self.lib.espeak_Synth(raw, len(raw) + 1, 0, 1, 0, 1, None, None)
        self.lib.espeak_Synchronize()
        speech = np.concatenate(self.chunks).astype(np.float32) / 32768
        loud = np.flatnonzero(np.abs(speech) > 0.003)
        first, last = loud[0], loud[-1]
        starts = [max(0.0, at - first / self.sample_rate) for at, _, _ in self.words]
        ends = starts[1:] + [(last - first) / self.sample_rate]
        words = [[text[position:position + length], round(start, 3), round(end, 3)]
                 for (_, position, length), start, end in zip(self.words, starts, ends)]
        return soxr.resample(speech[first:last + 1], self.sample_rate, RATE), words


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("text_file")
    parser.add_argument("out_stem")
    parser.add_argument("--voice", default="en-us+rob")
    parser.add_argument("--rate", type=int, default=155)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    random.seed(options.seed)
    noise = np.random.default_rng(options.seed)
    synthesizer = Synthesizer(options.voice, options.rate)
    pieces, sentences, at = [np.zeros(RATE // 2, np.float32)], [], 0.5
    for text in (line.strip() for line in open(options.text_file)):
        if not text:
            continue
        speech, words = synthesizer.say(text)
        sentences.append({
            "text": text, "start": round(at, 3), "end": round(at + len(speech) / RATE, 3),
            "words": [[word, round(at + start, 3), round(at + end, 3)] for word, start, end in words],
        })
        pause = random.uniform(1.3, 2.0)
        pieces += [speech * (0.5 / np.abs(speech).max()), np.zeros(int(pause * RATE), np.float32)]
        at = sum(map(len, pieces)) / RATE
    audio = np.concatenate(pieces)
    audio = np.clip((audio + noise.normal(0, 0.001, len(audio))) * 32767, -32768, 32767).astype(np.int16)
    with tempfile.NamedTemporaryFile(suffix=".wav") as file:
        with wave.open(file.name, "wb") as out:
            out.setparams((1, 2, RATE, 0, "NONE", ""))
            out.writeframes(audio.tobytes())
        target = f"{options.out_stem}.flac"
        subprocess.run(["flac", "--silent", "--force", "--best", "-o", target, file.name], check=True)
    with open(f"{options.out_stem}.json", "w") as out:
        seconds = round(len(audio) / RATE, 2)
        json.dump({"voice": options.voice, "seconds": seconds, "sentences": sentences}, out, indent=1)
        out.write("\n")


main()
