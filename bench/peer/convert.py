"""Converts a Whisper folder with int8 ONNX graphs to a CTranslate2 model with the same weights.

The graphs must come from the exporter of tools/train, which names each product after its linear layer. The script
de-quantises each weight; CTranslate2 quantises it again, row by row. It requires untrained biases and norms (zeros and
ones). `--check` compares the outputs of both encoders for random features and fails below a cosine of 0.99.
"""

import argparse
import json
import shutil
from pathlib import Path

import ctranslate2
import numpy as np
import onnx
from ctranslate2.specs import whisper_spec
from onnx import numpy_helper

TIMESTAMP_STEP = 0.02


class Graph:
    """The float weights of an int8 graph, by the names of their products."""

    def __init__(self, path: Path) -> None:
        graph = onnx.load(str(path)).graph
        self.tensors = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
        products = [node for node in graph.node if node.op_type in ("MatMulInteger", "ConvInteger")]
        self.products = {node.name.removeprefix("/").split("/")[0]: node.input[1] for node in products}

    def dequantised(self, quantised: str) -> np.ndarray:
        name = quantised.removesuffix("_quantized")
        zero, scale = self.tensors[f"{name}_zero_point"], self.tensors[f"{name}_scale"]
        return (self.tensors[quantised].astype(np.float32) - zero.astype(np.float32)) * scale

    def linear(self, kind: str, index: int) -> np.ndarray:
        """Returns [outputs, inputs], the layout of CTranslate2. The graphs hold the transpose."""
        name = kind if index == 0 else f"{kind}_{index}"
        return np.ascontiguousarray(self.dequantised(self.products[name]).T)

    def require_untrained(self) -> None:
        for name, tensor in self.tensors.items():
            if name.endswith("norm.weight") and not np.all(tensor == 1):
                raise SystemExit(f"{name} is trained: this script is for random weights")
            if name.endswith(".bias") and np.any(tensor != 0) and "conv" not in name:
                raise SystemExit(f"{name} is trained: this script is for random weights")


def set_linear(spec, weight: np.ndarray) -> None:
    spec.weight = weight
    spec.bias = np.zeros(weight.shape[0], dtype=np.float32)


def set_norm(spec, width: int) -> None:
    spec.gamma = np.ones(width, dtype=np.float32)
    spec.beta = np.zeros(width, dtype=np.float32)


def set_attention(spec, graph: Graph, index: int, width: int, is_self: bool) -> None:
    query, key, value, out = (graph.linear(kind, index) for kind in ("q_proj", "k_proj", "v_proj", "out_proj"))
    parts = [[query, key, value], [out]] if is_self else [[query], [key, value], [out]]
    for linear, weights in zip(spec.linear, parts):
        set_linear(linear, np.concatenate(weights))
    set_norm(spec.layer_norm, width)


def set_feed_forward(spec, graph: Graph, index: int, width: int) -> None:
    set_linear(spec.linear_0, graph.linear("fc1", index))
    set_linear(spec.linear_1, graph.linear("fc2", index))
    set_norm(spec.layer_norm, width)


def spec_of(folder: Path, config: dict) -> whisper_spec.WhisperSpec:
    encoder = Graph(folder / "onnx" / "encoder_model_quantized.onnx")
    decoder = Graph(folder / "onnx" / "decoder_model_quantized.onnx")
    encoder.require_untrained()
    decoder.require_untrained()
    width = config["d_model"]
    spec = whisper_spec.WhisperSpec(
        config["encoder_layers"],
        config["encoder_attention_heads"],
        config["decoder_layers"],
        config["decoder_attention_heads"],
    )
    for name in ("conv1", "conv2"):
        conv = getattr(spec.encoder, name)
        conv.weight = encoder.dequantised(encoder.products[name])
        conv.bias = encoder.tensors.get(f"e.{name}.bias", np.zeros(width, dtype=np.float32))
    spec.encoder.position_encodings.encodings = encoder.tensors["e.embed_positions.weight"]
    set_norm(spec.encoder.layer_norm, width)
    for index, layer in enumerate(spec.encoder.layer):
        set_attention(layer.self_attention, encoder, index, width, is_self=True)
        set_feed_forward(layer.ffn, encoder, index, width)
    embeddings = np.ascontiguousarray(decoder.dequantised("wt_quantized").T)
    spec.decoder.embeddings.weight = embeddings
    spec.decoder.projection.weight = embeddings
    spec.decoder.position_encodings.encodings = decoder.dequantised("d.embed_positions.weight_quantized")
    set_norm(spec.decoder.layer_norm, width)
    for index, layer in enumerate(spec.decoder.layer):
        set_attention(layer.self_attention, decoder, 2 * index, width, is_self=True)
        set_attention(layer.attention, decoder, 2 * index + 1, width, is_self=False)
        set_feed_forward(layer.ffn, decoder, index, width)
    return spec


def vocabulary_of(tokenizer: dict, size: int) -> list[str]:
    tokens = {index: token for token, index in tokenizer["model"]["vocab"].items()}
    tokens.update({added["id"]: added["content"] for added in tokenizer["added_tokens"]})
    first_time = max(tokens) + 1
    return [tokens.get(index, f"<|{(index - first_time) * TIMESTAMP_STEP:.2f}|>") for index in range(size)]


def convert(folder: Path, out: Path) -> None:
    def read(name: str) -> dict:
        return json.loads((folder / name).read_text())

    config, generation = read("config.json"), read("generation_config.json")
    spec = spec_of(folder, config)
    spec.config.suppress_ids = generation.get("suppress_tokens") or []
    spec.config.suppress_ids_begin = generation.get("begin_suppress_tokens") or []
    spec.config.lang_ids = sorted(generation["lang_to_id"].values())
    spec.config.alignment_heads = generation["alignment_heads"]
    spec.register_vocabulary(vocabulary_of(read("tokenizer.json"), config["vocab_size"]))
    spec.validate()
    spec.optimize(quantization="int8")
    out.mkdir(parents=True, exist_ok=True)
    spec.save(str(out))
    for name in ("tokenizer.json", "preprocessor_config.json"):
        shutil.copy(folder / name, out / name)


def check(folder: Path, out: Path) -> None:
    import onnxruntime

    features = np.random.default_rng(1).standard_normal((1, 80, 3000)).astype(np.float32)
    encoder = folder / "onnx" / "encoder_model_quantized.onnx"
    session = onnxruntime.InferenceSession(str(encoder), providers=["CPUExecutionProvider"])
    (ours,) = session.run(None, {"input_features": features})
    model = ctranslate2.models.Whisper(str(out), device="cpu", compute_type="int8")
    theirs = np.array(model.encode(ctranslate2.StorageView.from_array(features)))
    cosine = float(np.sum(ours * theirs) / np.sqrt(np.sum(ours**2) * np.sum(theirs**2)))
    print(f"cosine of the encoders' outputs: {cosine:.4f}")
    if cosine < 0.99:
        raise SystemExit("the converted weights differ from the weights of the graphs")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="Whisper folder with int8 ONNX graphs of untrained weights")
    parser.add_argument("out", type=Path, help="folder for the CTranslate2 model")
    parser.add_argument("--check", action="store_true", help="compare the encoders' outputs")
    arguments = parser.parse_args()
    convert(arguments.folder, arguments.out)
    if arguments.check:
        check(arguments.folder, arguments.out)


if __name__ == "__main__":
    main()
