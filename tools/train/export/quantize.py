"""Quantises the ONNX graphs of a model folder to 8 bits: FOLDER/onnx/X.onnx -> FOLDER/onnx/X_quantized.onnx

Weights are unsigned like the activations. Signed weights overflow in the 16-bit sums of processors without VNNI, so
the same files would give other texts there. A merged decoder is not made, because its quantised form is broken.

    python quantize.py FOLDER [--remove-originals]
"""

import argparse
from pathlib import Path

from onnxruntime.quantization import QuantType, quantize_dynamic

GRAPHS = ("encoder_model", "decoder_model", "decoder_with_past_model")
SUFFIX = "_quantized"


def quantize(folder: str | Path, remove_originals: bool = False) -> None:
    """Quantises encoder and decoders. `remove_originals` keeps only the quantised files in the folder."""
    graphs = Path(folder) / "onnx"
    for name in GRAPHS:
        original = graphs / f"{name}.onnx"
        quantize_dynamic(
            original,
            graphs / f"{name}{SUFFIX}.onnx",
            weight_type=QuantType.QUInt8,
            # A product of two activations (queries and keys) stays in 32 bits.
            extra_options={"MatMulConstBOnly": True},
        )
        if remove_originals:
            original.unlink()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--remove-originals", action="store_true")
    arguments = parser.parse_args()
    quantize(arguments.folder, arguments.remove_originals)
    for file in sorted((arguments.folder / "onnx").glob(f"*{SUFFIX}.onnx")):
        print(f"{file.name}: {file.stat().st_size} bytes")


if __name__ == "__main__":
    main()
