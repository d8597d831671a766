"""Makes both translators from nothing and prints their results.

    python -m translation.make --work DIR --models FOLDER

Writes translate-en-es and translate-en-fr to FOLDER (only 8-bit files; MODEL.md is hand-written). DIR keeps the
sentences, checkpoints and 32-bit files. A repeated run continues with the unfinished steps.
"""

import argparse
import os
import shutil
from pathlib import Path

from export.quantize import quantize

from . import corpus
from .evaluate import evaluate, show_demo
from .export import export_folder
from .train import MINUTES, train


def make(language: str, work: Path, models: Path, minutes: float, start_from: str | None, threads: int) -> None:
    """Trains, exports, quantises and measures one language."""
    full, small = work / language / "onnx-32", models / f"translate-en-{language}"
    train(language, work, minutes, threads=threads, start_from=start_from)
    difference = export_folder(work / language / "model", full)
    print(f"{language}: the graphs' logits differ from the model's by at most {difference:.1e}")
    shutil.rmtree(small / "onnx", ignore_errors=True)
    shutil.copytree(full, small, dirs_exist_ok=True)
    quantize(small, remove_originals=True)
    size = sum(file.stat().st_size for file in small.rglob("*") if file.is_file())
    print(f"{language}: {size / 1e6:.2f} MB in {small}")
    evaluate(language, work, small, full)
    show_demo(language, small)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True, help="folder of sentences, checkpoints and 32-bit files")
    parser.add_argument("--models", type=Path, required=True, help="folder of model folders")
    parser.add_argument(
        "--minutes", type=float, default=MINUTES, help="training minutes of the first model; the second gets half"
    )
    parser.add_argument("--threads", type=int, default=int(os.environ.get("OMP_NUM_THREADS", "1")))
    args = parser.parse_args()
    first, *others = corpus.LANGUAGES
    make(first, args.work, args.models, args.minutes, None, args.threads)
    for language in others:
        make(language, args.work, args.models, args.minutes / 2, first, args.threads)


if __name__ == "__main__":
    main()
