"""Makes demo-en and the translators from nothing and prints their results: `python make.py WORK`.

Continues an interrupted run: complete corpora are kept, and training resumes from its last checkpoint.
"""
import argparse
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent
MODELS = ROOT.parent.parent / "models"


@dataclass
class Corpus:
    name: str
    voices: str
    count: int
    seed: int


#: 70 hours of speech. Each espeak corpus has ninety random voices. The other corpora sound more human, so the training
#: uses them twice as often.
CORPORA = [
    Corpus("e1", "espeak", 22_000, 101), Corpus("f1", "flite", 5_500, 201), Corpus("e2", "espeak", 16_000, 102),
    Corpus("f2", "flite", 5_500, 202), Corpus("e3", "espeak", 14_000, 103), Corpus("f3", "flite", 5_500, 203),
    Corpus("e4", "made-up", 14_000, 104), Corpus("k1", "festival", 12_000, 301),
]
HELD_BACK = "test-known,test-held,test-flite,test-festival,test-hand"


def python(*arguments: object) -> None:
    """Runs a module or script of this folder. Stops the whole run when it fails."""
    subprocess.run([sys.executable, *map(str, arguments)], cwd=ROOT, check=True)


def synthesize(work: Path, corpus: Corpus, scale: float) -> None:
    """Makes the corpus unless its marker file says that it is complete."""
    done = work / f"{corpus.name}.done"
    if not done.exists():
        count = max(20, int(corpus.count * scale))
        options = ("--voices", corpus.voices, "--count", count, "--seed", corpus.seed)
        python("-m", "speech.synthesize", work, corpus.name, *options)
        done.touch()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path, help="folder for corpora and checkpoints (12 GB)")
    parser.add_argument("--models", type=Path, default=MODELS, help="folder for the finished models")
    parser.add_argument("--hours", type=float, default=500, help="hours of speech for the training, with repetitions")
    parser.add_argument(
        "--scale", type=float, default=1.0, help="factor on the sizes of the corpora; 0.01 for a trial run"
    )
    parser.add_argument("--minutes", type=float, help="CPU minutes for the first translator; the second gets half")
    parser.add_argument(
        "--processes", type=int, default=2, help="number of parallel synthesizers and training processes"
    )
    arguments = parser.parse_args()
    work, models = arguments.work.resolve(), arguments.models.resolve()
    work.mkdir(parents=True, exist_ok=True)
    python("-m", "speech.evaluation", work)
    with ThreadPoolExecutor(arguments.processes) as pool:
        list(pool.map(lambda corpus: synthesize(work, corpus, arguments.scale), CORPORA))
    names = ",".join(corpus.name + ("*2" if corpus.voices in ("flite", "festival") else "") for corpus in CORPORA)
    python(
        "-m", "torch.distributed.run", "--nproc-per-node", arguments.processes, "-m", "model.train", work,
        "--data", names, "--unseen", HELD_BACK, "--check", "test-known,test-held", "--hours", arguments.hours,
    )
    python("-m", "model.pack", work, models / "demo-en")
    minutes = [] if arguments.minutes is None else ["--minutes", arguments.minutes]
    python("-m", "translation.make", "--work", work / "translation", "--models", models, *minutes)
    # Missed limits do not make the earlier steps a failure.
    sys.exit(subprocess.run([sys.executable, "evaluate.py", str(work), str(models / "demo-en")], cwd=ROOT).returncode)


if __name__ == "__main__":
    main()
