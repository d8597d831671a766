"""Exports a Hugging Face Marian model to the three 32-bit ONNX graphs that Stenolog's runner reads:

* encoder_model.onnx             input_ids, attention_mask [batch, source] -> last_hidden_state [batch, source, d_model]
* decoder_model.onnx             encoder_attention_mask, input_ids, encoder_hidden_states -> logits, the whole cache
* decoder_with_past_model.onnx   encoder_attention_mask, input_ids, the whole cache -> logits, the decoder's part of it

Inputs and outputs have the names of Hugging Face's own exports (OPUS-MT folders). A merged decoder is not made.

    python -m translation.export MODEL FOLDER     (MODEL in the format of `save_pretrained`)
"""

import argparse
import shutil
from pathlib import Path

import numpy as np
import onnxruntime
import torch
from export.whisper_onnx import (
    MASKED,
    attend,
    cache_axes,
    cache_names,
    keys_and_values,
    write_graph,
)
from torch import Tensor, nn
from transformers import MarianMTModel

GRAPHS = ("encoder_model", "decoder_model", "decoder_with_past_model")


def feed_forward(layer: nn.Module, states: Tensor) -> Tensor:
    """Marian normalises after each part, Whisper before it."""
    return layer.final_layer_norm(states + layer.fc2(layer.activation_fn(layer.fc1(states))))


def padding_mask(attention_mask: Tensor) -> Tensor:
    """Maps [batch, source] of ones and zeros to values that are added to the scores [batch, 1, 1, source]."""
    return (1.0 - attention_mask.float())[:, None, None] * MASKED


class EncoderGraph(nn.Module):
    def __init__(self, model: MarianMTModel) -> None:
        super().__init__()
        self.encoder = model.model.encoder

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        encoder = self.encoder
        states = encoder.embed_tokens(input_ids) * encoder.embed_scale
        states = states + encoder.embed_positions.weight[: input_ids.shape[1]]
        mask = padding_mask(attention_mask)
        for layer in encoder.layers:
            keys, values = keys_and_values(layer.self_attn, states)
            attended = attend(layer.self_attn, states, keys, values, mask)
            states = feed_forward(layer, layer.self_attn_layer_norm(states + attended))
        return states


class DecoderGraph(nn.Module):
    """The decoder of the first token, which makes the cache, or (`cached`) of later tokens, which extend the cache.

    The cache of a layer is (decoder key, decoder value, encoder key, encoder value).
    """

    def __init__(self, model: MarianMTModel, cached: bool) -> None:
        super().__init__()
        self.decoder = model.model.decoder
        self.cached = cached
        # One matrix for both uses of the embedding, in the layout of MatMul. Otherwise constant folding would store a
        # second, transposed matrix.
        self.register_buffer("embedding", model.lm_head.weight.detach().t().contiguous())
        self.register_buffer("bias", model.final_logits_bias.detach())

    def embed(self, input_ids: Tensor, first_position: int) -> Tensor:
        batch, tokens = input_ids.shape
        columns = torch.index_select(self.embedding, 1, input_ids.reshape(-1)).reshape(-1, batch, tokens)
        positions = torch.arange(tokens) + first_position
        return columns.permute(1, 2, 0) * self.decoder.embed_scale + self.decoder.embed_positions.weight[positions]

    def forward(self, encoder_attention_mask: Tensor, input_ids: Tensor, *rest: Tensor) -> tuple[Tensor, ...]:
        tokens = input_ids.shape[1]
        past_tokens = rest[0].shape[2] if self.cached else 0
        states = self.embed(input_ids, past_tokens)
        row = torch.arange(tokens)[:, None] + past_tokens
        column = torch.arange(tokens + past_tokens if self.cached else tokens)[None, :]
        causal = torch.where(column <= row, 0.0, MASKED)[None, None]
        padding = padding_mask(encoder_attention_mask)
        cache: list[Tensor] = []
        for index, layer in enumerate(self.decoder.layers):
            keys, values = keys_and_values(layer.self_attn, states)
            if self.cached:
                past = rest[4 * index : 4 * index + 4]
                keys, values = torch.cat([past[0], keys], 2), torch.cat([past[1], values], 2)
                source_keys, source_values = past[2], past[3]
            else:
                source_keys, source_values = keys_and_values(layer.encoder_attn, rest[0])
            attended = attend(layer.self_attn, states, keys, values, causal)
            states = layer.self_attn_layer_norm(states + attended)
            attended = attend(layer.encoder_attn, states, source_keys, source_values, padding)
            states = feed_forward(layer, layer.encoder_attn_layer_norm(states + attended))
            cache += [keys, values] if self.cached else [keys, values, source_keys, source_values]
        return (states @ self.embedding + self.bias, *cache)


def export_marian(model: MarianMTModel, folder: Path) -> None:
    """Writes FOLDER/onnx/*.onnx, config.json and generation_config.json. Leaves the model in evaluation mode."""
    graphs = folder / "onnx"
    graphs.mkdir(parents=True, exist_ok=True)
    model = model.eval().cpu().float()
    config = model.config
    layers, heads = config.decoder_layers, config.decoder_attention_heads
    # All sizes are different, so the exporter cannot confuse two axes.
    batch, source, tokens, past_tokens = 2, 7, 4, 3
    source_ids, target_ids = torch.ones(batch, source, dtype=torch.long), torch.ones(batch, tokens, dtype=torch.long)
    source_mask = torch.ones(batch, source, dtype=torch.long)
    whole, past = cache_names("present", layers), cache_names("past_key_values", layers)
    extended = cache_names("present", layers, ("decoder",))
    mask_axes = {"encoder_attention_mask": {0: "batch", 1: "source"}}
    token_axes = {"input_ids": {0: "batch", 1: "tokens"}, "logits": {0: "batch", 1: "tokens"}}
    write_graph(
        EncoderGraph(model),
        (source_ids, source_mask),
        graphs / "encoder_model.onnx",
        ["input_ids", "attention_mask"],
        ["last_hidden_state"],
        {name: {0: "batch", 1: "source"} for name in ("input_ids", "attention_mask", "last_hidden_state")},
    )
    write_graph(
        DecoderGraph(model, cached=False),
        (source_mask, target_ids, torch.randn(batch, source, config.d_model)),
        graphs / "decoder_model.onnx",
        ["encoder_attention_mask", "input_ids", "encoder_hidden_states"],
        ["logits", *whole],
        {
            **mask_axes,
            **token_axes,
            "encoder_hidden_states": {0: "batch", 1: "source"},
            **cache_axes(whole, "tokens"),
        },
    )
    example_cache = [
        torch.randn(batch, heads, past_tokens if ".decoder." in name else source, config.d_model // heads)
        for name in past
    ]
    write_graph(
        DecoderGraph(model, cached=True),
        (source_mask, target_ids[:, :1], *example_cache),
        graphs / "decoder_with_past_model.onnx",
        ["encoder_attention_mask", "input_ids", *past],
        ["logits", *extended],
        {**mask_axes, **token_axes, **cache_axes(past, "past"), **cache_axes(extended, "length")},
    )
    config.save_pretrained(folder)
    model.generation_config.save_pretrained(folder)


def largest_difference(model: MarianMTModel, folder: Path, steps: int = 3) -> float:
    """Returns the largest difference between the logits of the graphs and of the model.

    The input is two sources of random tokens. One of them is shorter than the other.
    """
    model = model.eval().cpu().float()
    sessions = {
        name: onnxruntime.InferenceSession(str(folder / "onnx" / f"{name}.onnx"), providers=["CPUExecutionProvider"])
        for name in GRAPHS
    }
    source = torch.randint(3, model.config.vocab_size, (2, 9))
    mask = torch.ones_like(source)
    mask[1, 6:] = 0
    target = torch.randint(3, model.config.vocab_size, (2, 1 + steps))
    with torch.no_grad():
        expected = model(input_ids=source, attention_mask=mask, decoder_input_ids=target).logits.numpy()

    def run(name: str, feeds: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        session = sessions[name]
        return dict(zip([output.name for output in session.get_outputs()], session.run(None, feeds), strict=True))

    attended = {"encoder_attention_mask": mask.numpy()}
    feeds = {"input_ids": source.numpy(), "attention_mask": mask.numpy()}
    encoded = run("encoder_model", feeds)["last_hidden_state"]
    feeds = {"input_ids": target[:, :1].numpy(), "encoder_hidden_states": encoded}
    answer = run("decoder_model", {**attended, **feeds})
    logits, cache = [answer["logits"]], {}
    for step in range(1, 1 + steps):
        cache |= {
            name.replace("present", "past_key_values"): value
            for name, value in answer.items()
            if name.startswith("present")
        }
        answer = run("decoder_with_past_model", {**attended, "input_ids": target[:, step : step + 1].numpy(), **cache})
        logits.append(answer["logits"])
    return float(np.abs(np.concatenate(logits, 1) - expected).max())


def export_folder(source: Path, folder: Path) -> float:
    """Exports the folder `source`, which the training wrote. Returns the largest difference of the graphs."""
    model = MarianMTModel.from_pretrained(source)
    export_marian(model, folder)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copyfile(source / name, folder / name)
    return largest_difference(model, folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("folder", type=Path)
    args = parser.parse_args()
    print(f"logits differ from the model's by at most {export_folder(args.model, args.folder):.1e}")


if __name__ == "__main__":
    main()
