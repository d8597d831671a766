"""Whisper with extra heads, which teach the positions of words and phones. The exported model does not contain them."""
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import WhisperConfig, WhisperForConditionalGeneration

from model.tokenizer import TIMESTAMPS_PER_SECOND, WINDOW_SECONDS, SpecialIds

MAX_TOKENS = 128


def whisper_config(
    ids: SpecialIds, vocabulary: int, width: int, encoder_layers: int, decoder_layers: int
) -> WhisperConfig:
    """Returns Whisper's layout with heads of 64 and as many positions as the window has frames."""
    return WhisperConfig(
        vocab_size=vocabulary, num_mel_bins=80, d_model=width,
        encoder_layers=encoder_layers, decoder_layers=decoder_layers,
        encoder_attention_heads=width // 64, decoder_attention_heads=width // 64,
        encoder_ffn_dim=4 * width, decoder_ffn_dim=4 * width,
        max_source_positions=WINDOW_SECONDS * TIMESTAMPS_PER_SECOND, max_target_positions=MAX_TOKENS,
        decoder_start_token_id=ids.startoftranscript, eos_token_id=ids.endoftext, pad_token_id=ids.endoftext,
        bos_token_id=ids.endoftext, begin_suppress_tokens=None, suppress_tokens=None,
    )


class SpeechModel(nn.Module):
    """The model for training. Phones come from the middle of the encoder, tokens and CTC from its end."""

    def __init__(self, config: WhisperConfig, phones: int) -> None:
        super().__init__()
        width, vocabulary = config.d_model, config.vocab_size
        self.whisper = WhisperForConditionalGeneration(config)
        self.ctc_head = nn.Linear(width, vocabulary + 1)
        self.phone_head = nn.Linear(width, phones)
        self.token_head = nn.Linear(width, vocabulary + 1)
        self.heads = config.encoder_attention_heads
        self.phone_layer = config.encoder_layers // 2
        nn.init.normal_(self.whisper.model.decoder.embed_tokens.weight, std=width ** -0.5)
        nn.init.normal_(self.whisper.model.decoder.embed_positions.weight, std=0.02)

    def _split(self, x: Tensor) -> Tensor:
        return x.reshape(x.shape[0], -1, self.heads, x.shape[2] // self.heads).transpose(1, 2)

    def _attend(self, attention, x: Tensor, causal: bool = False) -> Tensor:
        query, key, value = (self._split(p(x)) for p in (attention.q_proj, attention.k_proj, attention.v_proj))
        out = F.scaled_dot_product_attention(query, key, value, is_causal=causal)
        return attention.out_proj(out.transpose(1, 2).reshape(x.shape))

    def _cross_attend(self, attention, x: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        query = self._split(attention.q_proj(x))
        key, value = self._split(attention.k_proj(memory)), self._split(attention.v_proj(memory))
        weights = torch.softmax(query @ key.transpose(2, 3) * query.shape[-1] ** -0.5, -1)
        return attention.out_proj((weights @ value).transpose(1, 2).reshape(x.shape)), weights[:, 0]

    def encode(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Maps [b, 80, f] to states [b, f / 2, width] of the last layer and of the phone layer."""
        encoder = self.whisper.model.encoder
        x = F.gelu(encoder.conv1(features))
        x = F.gelu(encoder.conv2(x)).transpose(1, 2)
        x = x + encoder.embed_positions.weight[:x.shape[1]]
        middle = x
        for number, layer in enumerate(encoder.layers, 1):
            x = x + self._attend(layer.self_attn, layer.self_attn_layer_norm(x))
            x = x + layer.fc2(F.gelu(layer.fc1(layer.final_layer_norm(x))))
            if number == self.phone_layer:
                middle = x
        return encoder.layer_norm(x), middle

    def decode(self, memory: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Returns logits [b, t, vocabulary] and attention weights [b, t, f / 2].

        The weights are those of the first cross-attention head of the last layer.
        """
        decoder = self.whisper.model.decoder
        x = decoder.embed_tokens(tokens) + decoder.embed_positions.weight[:tokens.shape[1]]
        weights = None
        for layer in decoder.layers:
            x = x + self._attend(layer.self_attn, layer.self_attn_layer_norm(x), causal=True)
            out, weights = self._cross_attend(layer.encoder_attn, layer.encoder_attn_layer_norm(x), memory)
            x = x + out
            x = x + layer.fc2(F.gelu(layer.fc1(layer.final_layer_norm(x))))
        return F.linear(decoder.layer_norm(x), decoder.embed_tokens.weight), weights
