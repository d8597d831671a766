"""The translators' tokenizer: one Unigram vocabulary for both languages of a model, in Hugging Face's format."""

import json
import random
from pathlib import Path

from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from .corpus import Pair, texts, vary

END, UNKNOWN, PAD = "</s>", "<unk>", "<pad>"
END_ID, PAD_ID = 0, 2
VOCABULARY = 2000
SAMPLE = 60_000


def make(pairs: list[Pair], language: str, folder: Path) -> Tokenizer:
    """Trains on a sample of the pairs. Writes tokenizer.json and tokenizer_config.json to FOLDER."""
    rng = random.Random(0)
    sample = pairs[:SAMPLE]
    lines = [*texts(sample), *(vary(rng, pair.source) for pair in sample[: SAMPLE // 5])]
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.train_from_iterator(
        lines,
        trainers.UnigramTrainer(
            vocab_size=VOCABULARY, special_tokens=[END, UNKNOWN, PAD], unk_token=UNKNOWN, show_progress=False
        ),
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"$A {END}", pair=f"$A $B {END}", special_tokens=[(END, END_ID)]
    )
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    description = {
        "tokenizer_class": "MarianTokenizer",
        "eos_token": END,
        "unk_token": UNKNOWN,
        "pad_token": PAD,
        "source_lang": "en",
        "target_lang": language,
        "model_max_length": 128,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(description, indent=2) + "\n", encoding="utf-8")
    return tokenizer


def load(folder: Path) -> Tokenizer:
    return Tokenizer.from_file(str(folder / "tokenizer.json"))
