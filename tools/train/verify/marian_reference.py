"""An independent greedy loop over the ONNX files of a Marian folder.

Uses only tokenizers, numpy and onnxruntime, and shares no code with the runner or the training.

    python marian_reference.py FOLDER [--full] < lines.jsonl > out.jsonl

Reads {"text"} lines and writes {"text", "tokens", "gaps", "translation"} lines. `tokens` excludes the end of the
sentence. `gaps` is the difference of the best two log probabilities at each step, including the end. `--full` uses the
32-bit files instead of the 8-bit files.
"""

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

LONGEST = 128
Feeds = dict[str, np.ndarray]


class Graph:
    """One ONNX file on one thread."""

    def __init__(self, file: Path) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        self.outputs = [output.name for output in self.session.get_outputs()]

    def run(self, feeds: Feeds) -> Feeds:
        return dict(zip(self.outputs, self.session.run(None, feeds), strict=True))


def past(answer: Feeds) -> Feeds:
    """Returns the cache of a result under the input names of the next step."""
    return {
        name.replace("present", "past_key_values"): value
        for name, value in answer.items()
        if name.startswith("present")
    }


class Marian:
    def __init__(self, folder: Path, suffix: str) -> None:
        def read(name: str) -> dict[str, Any]:
            file = folder / name
            return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}

        # generation_config.json takes precedence over config.json.
        config = read("config.json") | read("generation_config.json")
        self.start, self.end, self.pad = (config[f"{name}_token_id"] for name in ("decoder_start", "eos", "pad"))
        self.longest = min(config.get("max_length") or LONGEST, config.get("max_position_embeddings") or LONGEST)
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.encoder, self.decoder, self.decoder_with_past = (
            Graph(folder / "onnx" / f"{name}{suffix}.onnx")
            for name in ("encoder_model", "decoder_model", "decoder_with_past_model")
        )

    def best(self, logits: np.ndarray) -> tuple[int, float]:
        """Returns the most probable token, and its log probability minus that of the second token.

        The pad token is never chosen.
        """
        row = logits[0, -1].astype(np.float64)
        row[self.pad] = -np.inf
        first, second = np.argsort(-row, kind="stable")[:2]
        return int(first), float(row[first] - row[second])

    def translate(self, text: str) -> dict[str, Any]:
        ids = np.array([self.tokenizer.encode(text).ids], np.int64)
        mask = np.ones_like(ids)
        encoded = self.encoder.run({"input_ids": ids, "attention_mask": mask})["last_hidden_state"]
        attended: Feeds = {"encoder_attention_mask": mask}
        answer = self.decoder.run(
            {**attended, "input_ids": np.array([[self.start]], np.int64), "encoder_hidden_states": encoded}
        )
        cache = past(answer)
        tokens: list[int] = []
        gaps: list[float] = []
        while len(tokens) < self.longest - 1:
            token, gap = self.best(answer["logits"])
            gaps.append(round(gap, 6))
            if token == self.end:
                break
            tokens.append(token)
            answer = self.decoder_with_past.run({**attended, "input_ids": np.array([[token]], np.int64), **cache})
            cache |= past(answer)
        translation = self.tokenizer.decode(tokens, skip_special_tokens=True) if tokens else ""
        return {"text": text, "tokens": tokens, "gaps": gaps, "translation": translation}


def translate(folder: str | Path, sentences: Iterable[str], suffix: str = "_quantized") -> list[dict[str, Any]]:
    """Returns {text, tokens, gaps, translation} of each sentence. `suffix` "" uses the 32-bit files."""
    marian = Marian(Path(folder), suffix)
    return [marian.translate(text) for text in sentences]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--full", action="store_true", help="use the 32-bit files")
    args = parser.parse_args()
    marian = Marian(args.folder, "" if args.full else "_quantized")
    for line in sys.stdin:
        if line.strip():
            print(json.dumps(marian.translate(json.loads(line)["text"]), ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main()
