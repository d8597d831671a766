"""Festival's English voices: one for training with times of words and phones, and two for the evaluation."""
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile

from speech.flite import PHONES

#: Debian's festvox-kdlpc16k, and festvox-kallpc16k and festvox-us-slt-hts.
TRAINED_VOICE = "ked_diphone"
HELD_VOICES = ["kal_diphone", "cmu_us_slt_arctic_hts"]


@dataclass
class Order:
    """A text to speak, slowed down by the factor `stretch`.

    `pitch` in Hz changes only the diphone voices. None keeps their pitch.
    """

    text: str
    voice: str
    stretch: float
    pitch: float | None = None

    def script(self, file: Path) -> str:
        pitch = "" if self.pitch is None else (
            f"(set! int_lr_params '((target_f0_mean {self.pitch:.0f}) (target_f0_std {self.pitch / 7:.0f})"
            " (model_f0_mean 170) (model_f0_std 34)))"
        )
        return (
            f"(voice_{self.voice}) {pitch} (Parameter.set 'Duration_Stretch {self.stretch:.2f})"
            f'(set! said (utt.synth (Utterance Text "{self.text}"))) (utt.save.wave said "{file}.wav")'
            f'(utt.save.segs said "{file}.segments") (utt.save.words said "{file}.words")'
        )


@dataclass
class Said:
    """Float samples, their rate, [(seconds, character)] of words and [(seconds, name)] of phones.

    The words are empty when festival did not split the text at its spaces.
    """

    audio: np.ndarray
    rate: int
    words: list[tuple[float, int]]
    phones: list[tuple[float, str]]


def say_all(orders: list[Order]) -> list[Said]:
    """Speaks all texts in one run of festival."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / str(number) for number in range(len(orders))]
        script = Path(folder) / "say.scm"
        script.write_text("\n".join(order.script(file) for order, file in zip(orders, files)))
        subprocess.run(["festival", "-b", str(script)], check=True, capture_output=True)
        return [read(order.text, file) for order, file in zip(orders, files)]


def read(text: str, file: Path) -> Said:
    audio, rate = soundfile.read(f"{file}.wav", dtype="float32")
    phones, begin = [], 0.0
    for end, name in labels(Path(f"{file}.segments")):
        phones.append((begin, PHONES.get(name, name)))
        begin = end
    # The 's of "John's" is a separate word here; it ends together with the word before.
    ends = [end for end, word in labels(Path(f"{file}.words")) if not word.startswith("'")]
    places = [at for at in range(len(text)) if text[at] != " " and (at == 0 or text[at - 1] == " ")]
    starts = [
        next((start for start, name in phones if name != "_" and start > last - 0.001), None)
        for last in [0.0, *ends[:-1]]
    ]
    whole = len(places) == len(starts) and None not in starts
    return Said(audio, rate, list(zip(starts, places)) if whole else [], phones)


def labels(file: Path) -> list[tuple[float, str]]:
    """Returns (end in seconds, name) of each line of a festival label file."""
    rows = [line.split() for line in file.read_text().splitlines() if line != "#"]
    return [(float(row[0]), row[2]) for row in rows]
