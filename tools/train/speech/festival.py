"""Festival's English voices, which no training hears: unit and HTS synthesis of other speakers than espeak's and flite's."""
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import soundfile

#: Debian's festvox-kallpc16k, festvox-kdlpc16k and festvox-us-slt-hts.
VOICES = ["kal_diphone", "ked_diphone", "cmu_us_slt_arctic_hts"]


def say_all(spoken: list[tuple[str, str, float]]) -> list[tuple[np.ndarray, int]]:
    """Speaks (text, voice, stretch of durations) in one run of festival. Returns float samples and rate of each."""
    with tempfile.TemporaryDirectory() as folder:
        lines = []
        for number, (text, voice, stretch) in enumerate(spoken):
            file = Path(folder) / f"{number}.wav"
            lines += [
                f"(voice_{voice})", f"(Parameter.set 'Duration_Stretch {stretch:.2f})",
                f'(utt.save.wave (utt.synth (Utterance Text "{text}")) "{file}")',
            ]
        script = Path(folder) / "say.scm"
        script.write_text("\n".join(lines))
        subprocess.run(["festival", "-b", str(script)], check=True, capture_output=True)
        return [soundfile.read(Path(folder) / f"{number}.wav", dtype="float32") for number in range(len(spoken))]
