"""Measures the translators on sentences that the training did not use, in 32 and 8 bits, and on the demo's sentences.

    python -m translation.evaluate es --work DIR --model FOLDER [--full FOLDER] [--write FILE]

Uses verify/marian_reference.py, which shares no code with the training, on the 8-bit files of FOLDER (`--full`: the
folder of the 32-bit files). An exact match is equal word for word, including punctuation and capitals. `--write` saves
the 200 sentences of the verification as JSON lines of {"text"}. They are not part of the training or of these results.
"""

import argparse
import json
import random
from pathlib import Path

from verify.marian_reference import translate

from . import corpus
from .corpus import Pair
from .golden import DEMO
from .greetings import WHOLE
from .phrases import finish


def compare(folder: Path, pairs: list[Pair], suffix: str) -> list[tuple[Pair, str]]:
    """Returns the pairs that the folder's files do not translate word for word, with the actual translations."""
    made = translate(folder, [pair.source for pair in pairs], suffix)
    return [
        (pair, each["translation"])
        for pair, each in zip(pairs, made, strict=True)
        if each["translation"] != pair.target
    ]


def set_phrases(language: str) -> list[Pair]:
    """Good night; how are you: phrases outside the rules, which the model must learn by heart."""
    texts = [finish(text, mark) for mark, phrases in WHOLE.items() for text in phrases]
    return [Pair(text.en, getattr(text, language)) for text in texts]


def percent(wrong: int, of: int) -> str:
    return f"{100 * (of - wrong) / of:.2f} % of {of}"


def evaluate(language: str, work: Path, model: Path, full: Path | None = None, show: int = 8) -> dict[str, float]:
    """Prints the results. Returns the shares of exact matches by set."""
    _, unseen, verification = corpus.split(corpus.load(work), language)
    everything = unseen + verification
    rng = random.Random(1)
    varied = [Pair(corpus.vary(rng, pair.source), pair.target) for pair in everything]
    demo = [Pair(text.en, getattr(text, language)) for _, _, text in DEMO]
    runs = [
        ("unseen, 8 bits", model, everything, "_quantized"),
        ("the same without mark or capital, 8 bits", model, varied, "_quantized"),
        ("demo, 8 bits", model, demo, "_quantized"),
        ("set phrases (not held back), 8 bits", model, set_phrases(language), "_quantized"),
    ]
    if full:
        runs.insert(0, ("unseen, 32 bits", full, everything, ""))
    shares = {}
    for name, folder, pairs, suffix in runs:
        wrong = compare(folder, pairs, suffix)
        shares[name] = 1 - len(wrong) / len(pairs)
        print(f"{language} {name}: exact {percent(len(wrong), len(pairs))}", flush=True)
        for pair, made in wrong[:show]:
            print(f"   {pair.source}\n      wanted {pair.target}\n      made   {made}")
    return shares


def write_verification(language: str, work: Path, file: Path) -> None:
    _, _, verification = corpus.split(corpus.load(work), language)
    with file.open("w", encoding="utf-8") as out:
        for pair in verification:
            out.write(json.dumps({"text": pair.source}) + "\n")


def show_demo(language: str, model: Path) -> None:
    for each in translate(model, [text.en for _, _, text in DEMO]):
        print(f"{language}  {each['text']}  ->  {each['translation']}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("language", choices=list(corpus.LANGUAGES))
    parser.add_argument("--work", type=Path, required=True, help="folder of the training, with the sentences")
    parser.add_argument("--model", type=Path, required=True, help="folder with the 8-bit files")
    parser.add_argument("--full", type=Path, help="folder with the 32-bit files")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the sentences for verification and stop")
    args = parser.parse_args()
    if args.write:
        write_verification(args.language, args.work, args.write)
        return
    evaluate(args.language, args.work, args.model, args.full)
    show_demo(args.language, args.model)


if __name__ == "__main__":
    main()
