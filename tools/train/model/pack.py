"""Converts a trained checkpoint to a model folder: `python -m model.pack WORK OUT`.

The folder has the layout of Hugging Face's ONNX exports, with 8-bit weights.
"""
import argparse
import json
from pathlib import Path

import torch
from tokenizers import Tokenizer
from transformers import WhisperFeatureExtractor, WhisperForConditionalGeneration

from export.quantize import quantize
from export.whisper_onnx import export_whisper, largest_difference
from model.network import MAX_TOKENS, whisper_config
from model.tokenizer import WINDOW_SECONDS, SpecialIds
from model.train import HOP

#: Stenolog's own members, which other loaders ignore: the training used shorter windows and timestamps.
STENOLOG = {"dynamic_window": True, "timestamps": True, "vocabulary": False}
#: The first timestamp is at most one second.
MAX_INITIAL_TIMESTAMP = 25


def load_model(work: Path, ids: SpecialIds, vocabulary: int) -> WhisperForConditionalGeneration:
    """Loads the Whisper part of WORK/checkpoint.pt. Its shape is read from its weights."""
    weights = torch.load(work / "checkpoint.pt", map_location="cpu")["model"]
    own = {name.removeprefix("whisper."): value for name, value in weights.items() if name.startswith("whisper.")}
    layers = lambda part: 1 + max(int(name.split(".")[3]) for name in own if name.startswith(f"model.{part}.layers."))
    width = own["model.encoder.conv1.weight"].shape[0]
    config = whisper_config(ids, vocabulary, width, layers("encoder"), layers("decoder"))
    model = WhisperForConditionalGeneration(config)
    model.load_state_dict(own)
    return model.eval()


def write_json(file: Path, value: dict) -> None:
    file.write_text(json.dumps(value, indent=1) + "\n")


def pack(work: Path, out: Path) -> None:
    """Writes the whole folder except MODEL.md. Fails when the graphs and torch disagree."""
    tokenizer = Tokenizer.from_file(str(work / "tokenizer.json"))
    ids = SpecialIds(tokenizer)
    model = load_model(work, ids, tokenizer.get_vocab_size())
    export_whisper(model, out)
    difference = largest_difference(model, out)
    assert difference < 1e-3, f"the exported graphs differ by {difference}"
    quantize(out, remove_originals=True)
    tokenizer.save(str(out / "tokenizer.json"))
    config = json.loads((out / "config.json").read_text())
    write_json(out / "config.json", config | {"stenolog": STENOLOG})
    write_json(out / "generation_config.json", {
        "lang_to_id": {"<|en|>": ids.en},
        "task_to_id": {"translate": ids.translate, "transcribe": ids.transcribe},
        "no_timestamps_token_id": ids.notimestamps, "is_multilingual": True, "max_length": MAX_TOKENS,
        "eos_token_id": ids.endoftext, "pad_token_id": ids.endoftext, "bos_token_id": ids.endoftext,
        "decoder_start_token_id": ids.startoftranscript, "prev_sot_token_id": ids.startofprev,
        "max_initial_timestamp_index": MAX_INITIAL_TIMESTAMP, "return_timestamps": False,
        "suppress_tokens": [], "begin_suppress_tokens": [],
    })
    names = {f"{kind}_token": "<|endoftext|>" for kind in ("bos", "eos", "unk", "pad")}
    tokens = {"tokenizer_class": "WhisperTokenizer", **names, "model_max_length": MAX_TOKENS}
    write_json(out / "tokenizer_config.json", tokens)
    front = WhisperFeatureExtractor(feature_size=80, hop_length=HOP, chunk_length=WINDOW_SECONDS).to_dict()
    front.pop("mel_filters", None)
    write_json(out / "preprocessor_config.json", front | {"processor_class": "WhisperProcessor"})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("out", type=Path)
    arguments = parser.parse_args()
    pack(arguments.work, arguments.out)
    size = sum(file.stat().st_size for file in arguments.out.rglob("*") if file.is_file())
    print(f"{arguments.out}: {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
