"""Exports a Hugging Face Whisper model to the three 32-bit ONNX graphs that Stenolog's runner reads:

* encoder_model.onnx             input_features [batch, mels, frames] -> last_hidden_state [batch, frames / 2, d_model]
* decoder_model.onnx             input_ids [batch, tokens], encoder_hidden_states -> logits, the whole cache
* decoder_with_past_model.onnx   input_ids [batch, tokens], the whole cache -> logits, the decoder's part of the cache

Inputs and outputs have the names of Hugging Face's own exports. Frames may be fewer than the model's full window.
A merged decoder is not made, because it copies the encoder's part of the cache at every step.

    python whisper_onnx.py MODEL FOLDER     (MODEL in the format of `save_pretrained`)
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
import onnxruntime
import torch
from torch import Tensor, nn
from transformers import WhisperForConditionalGeneration

OPSET = 17
PARTS = ("key", "value")
MASKED = -1e9


def split_heads(states: Tensor, heads: int) -> Tensor:
    """[batch, tokens, d_model] -> [batch, heads, tokens, d_model / heads]"""
    return states.reshape(states.shape[0], -1, heads, states.shape[2] // heads).transpose(1, 2)


def attend(attention: nn.Module, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
    """Returns the result of `attention` for normalised `queries`.

    The keys and values are already projected and split into heads.
    """
    query = split_heads(attention.q_proj(queries) * attention.scaling, attention.num_heads)
    scores = query @ keys.transpose(2, 3)
    if mask is not None:
        scores = scores + mask
    mixed = torch.softmax(scores, -1) @ values
    return attention.out_proj(mixed.transpose(1, 2).reshape(queries.shape[0], -1, queries.shape[2]))


def keys_and_values(attention: nn.Module, source: Tensor) -> tuple[Tensor, Tensor]:
    return (
        split_heads(attention.k_proj(source), attention.num_heads),
        split_heads(attention.v_proj(source), attention.num_heads),
    )


def feed_forward(layer: nn.Module, states: Tensor) -> Tensor:
    return layer.fc2(layer.activation_fn(layer.fc1(layer.final_layer_norm(states))))


class EncoderGraph(nn.Module):
    """The encoder. It uses as many positions as there are frames."""

    def __init__(self, model: WhisperForConditionalGeneration) -> None:
        super().__init__()
        self.encoder = model.model.encoder

    def forward(self, input_features: Tensor) -> Tensor:
        encoder = self.encoder
        states = nn.functional.gelu(encoder.conv1(input_features))
        states = nn.functional.gelu(encoder.conv2(states)).transpose(1, 2)
        states = states + encoder.embed_positions.weight[: states.shape[1]]
        for layer in encoder.layers:
            normal = layer.self_attn_layer_norm(states)
            keys, values = keys_and_values(layer.self_attn, normal)
            states = states + attend(layer.self_attn, normal, keys, values, None)
            states = states + feed_forward(layer, states)
        return encoder.layer_norm(states)


class DecoderGraph(nn.Module):
    """The decoder of the prompt, which makes the cache, or (`cached`) of later tokens, which extend the cache.

    The cache of a layer is (decoder key, decoder value, encoder key, encoder value).
    """

    def __init__(self, model: WhisperForConditionalGeneration, cached: bool) -> None:
        super().__init__()
        self.decoder = model.model.decoder
        self.cached = cached
        # One matrix for both uses of the embedding, in the layout of MatMul. Otherwise constant folding would store a
        # second, transposed matrix.
        self.register_buffer("embedding", model.model.decoder.embed_tokens.weight.detach().t().contiguous())

    def embed(self, input_ids: Tensor, first_position: int) -> Tensor:
        batch, tokens = input_ids.shape
        columns = torch.index_select(self.embedding, 1, input_ids.reshape(-1)).reshape(-1, batch, tokens)
        positions = torch.arange(tokens, device=input_ids.device) + first_position
        return columns.permute(1, 2, 0) + self.decoder.embed_positions.weight[positions]

    def forward(self, input_ids: Tensor, *rest: Tensor) -> tuple[Tensor, ...]:
        tokens = input_ids.shape[1]
        past_tokens = rest[0].shape[2] if self.cached else 0
        states = self.embed(input_ids, past_tokens)
        row = torch.arange(tokens)[:, None] + past_tokens
        column = torch.arange(tokens + past_tokens if self.cached else tokens)[None, :]
        mask = torch.where(column <= row, 0.0, MASKED)[None, None]
        cache: list[Tensor] = []
        for index, layer in enumerate(self.decoder.layers):
            normal = layer.self_attn_layer_norm(states)
            keys, values = keys_and_values(layer.self_attn, normal)
            if self.cached:
                past = rest[4 * index : 4 * index + 4]
                keys, values = torch.cat([past[0], keys], 2), torch.cat([past[1], values], 2)
                source_keys, source_values = past[2], past[3]
            else:
                source_keys, source_values = keys_and_values(layer.encoder_attn, rest[0])
            states = states + attend(layer.self_attn, normal, keys, values, mask)
            normal = layer.encoder_attn_layer_norm(states)
            states = states + attend(layer.encoder_attn, normal, source_keys, source_values, None)
            states = states + feed_forward(layer, states)
            cache += [keys, values] if self.cached else [keys, values, source_keys, source_values]
        return (self.decoder.layer_norm(states) @ self.embedding, *cache)


def cache_names(prefix: str, layers: int, kinds: tuple[str, ...] = ("decoder", "encoder")) -> list[str]:
    return [f"{prefix}.{layer}.{kind}.{part}" for layer in range(layers) for kind in kinds for part in PARTS]


def cache_axes(names: list[str], decoder_axis: str) -> dict[str, dict[int, str]]:
    return {name: {0: "batch", 2: decoder_axis if ".decoder." in name else "source"} for name in names}


def write_graph(
    graph: nn.Module,
    example: tuple[Tensor, ...],
    file: Path,
    inputs: list[str],
    outputs: list[str],
    axes: dict[str, dict[int, str]],
) -> None:
    with warnings.catch_warnings():
        # The exporter warns that it is deprecated, and that comparisons of sizes in Python may give wrong graphs.
        # `largest_difference` checks the graphs.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            graph,
            example,
            str(file),
            input_names=inputs,
            output_names=outputs,
            dynamic_axes=axes,
            opset_version=OPSET,
            dynamo=False,
            # Quantisation finds only constant weights, not transposed ones.
            do_constant_folding=True,
        )


def export_whisper(model: WhisperForConditionalGeneration, folder: str | Path) -> None:
    """Writes FOLDER/onnx/*.onnx, config.json and generation_config.json. Leaves the model in evaluation mode."""
    folder = Path(folder)
    graphs = folder / "onnx"
    graphs.mkdir(parents=True, exist_ok=True)
    model = model.eval().cpu().float()
    config = model.config
    if config.scale_embedding:
        raise ValueError("scale_embedding is not supported")
    layers, heads = config.decoder_layers, config.decoder_attention_heads
    # All sizes are different, so the exporter cannot confuse two axes.
    batch, tokens, past_tokens, source = 2, 4, 3, config.max_source_positions
    ids = torch.ones(batch, tokens, dtype=torch.long)
    whole, past = cache_names("present", layers), cache_names("past_key_values", layers)
    extended = cache_names("present", layers, ("decoder",))
    ids_axes = {"input_ids": {0: "batch", 1: "tokens"}, "logits": {0: "batch", 1: "tokens"}}
    write_graph(
        EncoderGraph(model),
        (torch.zeros(1, config.num_mel_bins, 2 * source),),
        graphs / "encoder_model.onnx",
        ["input_features"],
        ["last_hidden_state"],
        {"input_features": {0: "batch", 2: "frames"}, "last_hidden_state": {0: "batch", 1: "source"}},
    )
    write_graph(
        DecoderGraph(model, cached=False),
        (ids, torch.randn(batch, source, config.d_model)),
        graphs / "decoder_model.onnx",
        ["input_ids", "encoder_hidden_states"],
        ["logits", *whole],
        {**ids_axes, "encoder_hidden_states": {0: "batch", 1: "source"}, **cache_axes(whole, "tokens")},
    )
    example_cache = [
        torch.randn(batch, heads, past_tokens if ".decoder." in name else source, config.d_model // heads)
        for name in past
    ]
    write_graph(
        DecoderGraph(model, cached=True),
        (ids[:, :1], *example_cache),
        graphs / "decoder_with_past_model.onnx",
        ["input_ids", *past],
        ["logits", *extended],
        {**ids_axes, **cache_axes(past, "past"), **cache_axes(extended, "length")},
    )
    config.save_pretrained(folder)
    model.generation_config.save_pretrained(folder)


def largest_difference(model: WhisperForConditionalGeneration, folder: str | Path, steps: int = 3) -> float:
    """Returns the largest difference between the logits of the graphs and of the model.

    The input is random features, a prompt of three tokens, and `steps` more tokens.
    """
    model = model.eval().cpu().float()
    config = model.config
    sessions = {
        name: onnxruntime.InferenceSession(
            str(Path(folder) / "onnx" / f"{name}.onnx"), providers=["CPUExecutionProvider"]
        )
        for name in ("encoder_model", "decoder_model", "decoder_with_past_model")
    }
    features = torch.randn(1, config.num_mel_bins, 2 * config.max_source_positions)
    ids = torch.randint(0, config.vocab_size, (1, 3 + steps))
    with torch.no_grad():
        expected = model(input_features=features, decoder_input_ids=ids).logits.numpy()

    def run(name: str, feeds: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        session = sessions[name]
        return dict(zip([output.name for output in session.get_outputs()], session.run(None, feeds), strict=True))

    encoded = run("encoder_model", {"input_features": features.numpy()})["last_hidden_state"]
    answer = run("decoder_model", {"input_ids": ids[:, :3].numpy(), "encoder_hidden_states": encoded})
    logits, cache = [answer["logits"]], {}
    for step in range(steps):
        cache |= {
            name.replace("present", "past_key_values"): value
            for name, value in answer.items()
            if name.startswith("present")
        }
        answer = run("decoder_with_past_model", {"input_ids": ids[:, 3 + step : 4 + step].numpy(), **cache})
        logits.append(answer["logits"])
    return float(np.abs(np.concatenate(logits, 1) - expected).max())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    model = WhisperForConditionalGeneration.from_pretrained(arguments.model)
    export_whisper(model, arguments.folder)
    print(f"logits differ from the model's by at most {largest_difference(model, arguments.folder):.1e}")
    for file in sorted((arguments.folder / "onnx").glob("*_model.onnx")):
        print(f"{file.name}: {file.stat().st_size} bytes")


if __name__ == "__main__":
    main()
