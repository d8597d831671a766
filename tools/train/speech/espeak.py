"""espeak-ng through ctypes (libespeak-ng): speech with times of words and phones, and random voices."""
import ctypes as C
import random
import shutil
from pathlib import Path

import numpy as np

#: Variants for the evaluation only. The training does not use them.
HELD_VARIANTS = ["linda", "rob", "Michael", "Andrea"]
#: Accents and variants of the training. The evaluation of known voices uses them too.
KNOWN_ACCENTS = ["en-us"] * 8 + ["en"] * 3 + ["en-gb-scotland", "en-gb-x-rp", "en-us-nyc", "en-gb-x-gbcwmd"]
KNOWN_VARIANTS = (
    [""] * 3 + [f"m{i}" for i in range(1, 8)] + [f"f{i}" for i in range(1, 6)] * 2
    + ["Andy", "Annie", "Alex", "Alicia", "Mike", "steph", "max", "david", "belinda", "anika"]
)
#: Variants that do not sound like human speech.
EFFECTS = {
    "whisper", "whisperf", "croak", "UniRobot", "Demonic", "Storm", "fast", "Mr serious", "RicishayMax", "RicishayMax2",
}
RATE, PITCH, RANGE, GAP = 1, 3, 4, 7
WORD_EVENT, PHONEME_EVENT, END_EVENT = 1, 7, 0


class _Id(C.Union):
    _fields_ = [("number", C.c_int), ("name", C.c_char_p), ("string", C.c_char * 8)]


class _Event(C.Structure):
    _fields_ = [
        ("type", C.c_int), ("unique_identifier", C.c_uint), ("text_position", C.c_int), ("length", C.c_int),
        ("audio_position", C.c_int), ("sample", C.c_int), ("user_data", C.c_void_p), ("id", _Id),
    ]


_Callback = C.CFUNCTYPE(C.c_int, C.POINTER(C.c_short), C.c_int, C.POINTER(_Event))


def random_variant(rng: random.Random) -> str:
    """Returns a voice file of espeak-ng with a random vocal tract, pitch and manner.

    The values lie in the range of the named variants, or slightly outside it.
    """
    tract = rng.uniform(0.84, 1.24)
    # Some voices scale all formants equally, others do not. The upper formants are free.
    spread = rng.uniform(0.02, 0.12)
    base = rng.uniform(55, 240)
    lines = ["language variant", "name made-up", f"pitch {base:.0f} {base * rng.uniform(1.1, 2.2):.0f}"]
    for formant in range(9):
        disorder = spread if formant < 3 else spread * 2.5
        frequency = 100 * (rng.uniform(0.88, 1.08) if formant == 0 else tract * rng.uniform(1 - disorder, 1 + disorder))
        strength = rng.uniform(55, 135) if formant < 6 else rng.choice([0, rng.uniform(50, 130)])
        lines.append(f"formant {formant} {frequency:.0f} {strength:.0f} {rng.uniform(45, 170):.0f}")
    options = [
        f"voicing {rng.uniform(40, 150):.0f}",
        f"consonants {rng.uniform(60, 130):.0f} {rng.uniform(60, 130):.0f}",
        f"flutter {rng.randint(0, 10)}",
        f"roughness {rng.randint(0, 4)}",
        f"intonation {rng.randint(1, 4)}",
        f"breath 0 {rng.randint(0, 30)} {rng.randint(0, 30)} {rng.randint(0, 30)} {rng.randint(0, 20)}",
        f"tone 600 {rng.randint(150, 255)} 1200 {rng.randint(80, 200)} 2000 {rng.randint(40, 180)}",
        "stressAdd " + " ".join(str(rng.randint(-25, 60)) for _ in range(8)),
        f"echo {rng.randint(20, 130)} {rng.randint(5, 20)}",
    ]
    return "\n".join(lines + [line for line in options if rng.random() < 0.4]) + "\n"


class Espeak:
    """A synthesizer; one per process, because the library keeps global state. `made_up` voices are named x0, x1, ..."""

    def __init__(self, work: Path, made_up: int = 0, seed: int = 0) -> None:
        """`work`: folder for a copy of espeak-ng's data with the random variants."""
        installed = next(Path("/usr").glob("lib/*/espeak-ng-data"), Path("/usr/share/espeak-ng-data"))
        data = work / "espeak-ng-data"
        if not data.exists():
            shutil.copytree(installed, data)
        variants = data / "voices" / "!v"
        rng = random.Random(seed)
        self.made_up = [f"x{number}" for number in range(made_up)]
        for name in self.made_up:
            (variants / name).write_text(random_variant(rng))
        self.named = sorted(
            f.name for f in (installed / "voices" / "!v").iterdir()
            if f.name not in EFFECTS and f.name not in HELD_VARIANTS and not f.name.startswith(("klatt6", "robosoft"))
        )
        self.lib = C.CDLL("libespeak-ng.so.1")
        self.callback = _Callback(self._receive)
        self.rate = self.lib.espeak_Initialize(2, 0, str(work).encode(), 1)
        assert self.rate > 0, "espeak-ng could not be initialized"
        self.lib.espeak_SetSynthCallback(self.callback)
        self.pieces: list[np.ndarray] = []
        self.words: list[tuple[int, int]] = []
        self.phones: list[tuple[int, str]] = []

    def _receive(self, samples, count, events) -> int:
        if count > 0 and samples:
            self.pieces.append(np.ctypeslib.as_array(samples, (count,)).copy())
        at = 0
        while events[at].type != END_EVENT:
            event = events[at]
            if event.type == PHONEME_EVENT:
                self.phones.append((event.audio_position, bytes(event.id.string).split(b"\0")[0].decode()))
            # The library ends each clause with an empty word, which is skipped.
            if event.type == WORD_EVENT and event.length > 0:
                self.words.append((event.audio_position, event.text_position - 1))
            at += 1
        return 0

    def say(self, text: str, voice: str, rate=160, pitch=50, pitch_range=50, gap=0):
        """Speaks the text. Returns float samples at `self.rate`, and the times of words and phones.

        The words are [(seconds, character)] and the phones [(seconds, name)].
        """
        self.pieces, self.words, self.phones = [], [], []
        if self.lib.espeak_SetVoiceByName(voice.encode()) != 0:
            raise ValueError(f"espeak-ng has no voice {voice}")
        for parameter, value in ((RATE, rate), (PITCH, pitch), (RANGE, pitch_range), (GAP, gap)):
            self.lib.espeak_SetParameter(parameter, value, 0)
        encoded = text.encode()
        self.lib.espeak_Synth(encoded, len(encoded) + 1, 0, 1, 0, 1, None, None)
        self.lib.espeak_Synchronize()
        audio = np.concatenate(self.pieces).astype(np.float32) / 32768
        return audio, [(ms / 1000, at) for ms, at in self.words], [(ms / 1000, name) for ms, name in self.phones]

    def known_voice(self, rng: random.Random) -> str:
        return _voice(rng.choice(KNOWN_ACCENTS), rng.choice(KNOWN_VARIANTS))

    def held_voice(self, rng: random.Random) -> str:
        return _voice(rng.choice(KNOWN_ACCENTS), rng.choice(HELD_VARIANTS))

    def made_up_voice(self, rng: random.Random) -> str:
        return _voice(rng.choice(KNOWN_ACCENTS), rng.choice(self.made_up))

    def any_voice(self, rng: random.Random) -> str:
        """Returns a voice for training: a known voice, another variant that no test needs, or a random voice."""
        kind = rng.random()
        if kind < 0.35:
            return self.known_voice(rng)
        variant = rng.choice(self.named) if kind < 0.6 or not self.made_up else rng.choice(self.made_up)
        return _voice(rng.choice(KNOWN_ACCENTS), variant)


def _voice(accent: str, variant: str) -> str:
    return accent + ("+" + variant if variant else "")
