"""Computes Whisper's log-mel spectrogram in torch, and varies voices and rooms."""
import numpy as np
import torch
from torch import Tensor, nn
from transformers.audio_utils import mel_filter_bank

RATE = 16_000
WINDOW = 400
MELS = 80
#: Factors of the vocal tract: > 1 is shorter than the recorded one.
WARPS = np.linspace(0.88, 1.14, 14)


def _filters() -> np.ndarray:
    return mel_filter_bank(WINDOW // 2 + 1, MELS, 0.0, RATE / 2, RATE, norm="slaney", mel_scale="slaney").T


def _warped_filters(factor: float) -> np.ndarray:
    """Returns mel filters that read frequency f at f / factor below 80 % of the band, and linearly above."""
    bins = np.arange(WINDOW // 2 + 1, dtype=np.float64)
    top, knee = WINDOW // 2, 0.8 * WINDOW // 2 / max(1.0, factor)
    source = np.where(bins <= knee, bins * factor, top - (top - knee * factor) * (top - bins) / (top - knee))
    filters = _filters()
    result = np.zeros_like(filters)
    low = np.floor(source).astype(int).clip(0, top - 1)
    part = source - low
    for bin_, (at, fraction) in enumerate(zip(low, part)):
        result[:, at] += filters[:, bin_] * (1 - fraction)
        result[:, at + 1] += filters[:, bin_] * fraction
    return result


class LogMel(nn.Module):
    """Maps samples [batch, n] to features [batch, 80, n / hop], like Hugging Face's WhisperFeatureExtractor.

    The mel scale is Slaney's. A value more than 8 below the maximum is raised to 8 below the maximum.
    """

    def __init__(self, hop: int) -> None:
        super().__init__()
        self.hop = hop
        self.register_buffer("filters", torch.tensor(_filters(), dtype=torch.float32))
        self.register_buffer("warped", torch.tensor(np.stack([_warped_filters(f) for f in WARPS]), dtype=torch.float32))
        self.register_buffer("hann", torch.hann_window(WINDOW))

    def forward(self, samples: Tensor, augment: bool = False) -> Tensor:
        spectrum = torch.stft(
            samples, WINDOW, self.hop, window=self.hann, center=True, pad_mode="reflect", return_complex=True
        )
        power = torch.view_as_real(spectrum[..., :-1]).square().sum(-1)
        if not augment:
            return _normalized(torch.log10(torch.clamp(self.filters @ power, min=1e-10)))
        batch = len(samples)
        choice = torch.randint(len(WARPS), (batch,))
        straight = torch.rand(batch) < 0.35
        filters = torch.where(straight[:, None, None], self.filters, self.warped[choice])
        log = _roughened(torch.log10(torch.clamp(filters @ power, min=1e-10))) + _equalizer(batch)
        return _masked(_normalized(log))


def _normalized(log: Tensor) -> Tensor:
    log = torch.maximum(log, log.amax((1, 2), keepdim=True) - 8.0)
    return (log + 4) / 4


def _equalizer(batch: int) -> Tensor:
    """Returns a smooth curve over the bands for each row, up to about 10 dB: another microphone and timbre."""
    knots = torch.randn(batch, 1, 6) * 0.4 * (torch.rand(batch, 1, 1) < 0.7)
    return nn.functional.interpolate(knots, size=MELS, mode="linear", align_corners=True).transpose(1, 2)


def _roughened(log: Tensor) -> Tensor:
    """Blurs the bands of some rows and adds jitter to others, because synthesizers differ in spectral detail."""
    batch = len(log)
    blur = torch.rand(batch, 1, 1) * 0.3 * (torch.rand(batch, 1, 1) < 0.3)
    padded = nn.functional.pad(log, (0, 0, 1, 1), mode="replicate")
    log = log + blur * (padded[:, 2:] + padded[:, :-2] - 2 * log)
    jitter = torch.rand(batch, 1, 1) * 0.12 * (torch.rand(batch, 1, 1) < 0.3)
    return log + jitter * torch.randn_like(log)


def _masked(features: Tensor) -> Tensor:
    """Applies SpecAugment with small masks: a few bands or up to 0.12 s of some rows get the lowest value."""
    batch, bands, frames = features.shape
    floor = features.amin((1, 2))
    for row in range(batch):
        if torch.rand(()) < 0.4:
            width = int(torch.randint(2, 11, ()))
            at = int(torch.randint(0, bands - width, ()))
            features[row, at:at + width] = floor[row]
        if torch.rand(()) < 0.25 and frames > 40:
            at = int(torch.randint(0, frames - 6, ()))
            features[row, :, at:at + int(torch.randint(2, 7, ()))] = floor[row]
    return features
