"""The texts of the speech training: grammar, natural sentences, the translators' sentences and plain words."""
import random
import re
from pathlib import Path

from text import grammar
from text.natural import expand, load_templates

#: Debian's package `scowl`: English words by frequency. Sizes 10 and 20 are the twelve thousand most common words.
SCOWL = Path("/usr/share/dict/scowl")
MAX_WORDS = 16


def spoken_form(text: str) -> str:
    """Returns the form for word error rates: lower-case letters, apostrophes and single spaces."""
    return " ".join(re.sub(r"[^a-z' ]", "", text.lower()).split())


def common_words() -> list[str]:
    """Returns the grammar's lexicon, and the most common words of SCOWL twice as often."""
    words = []
    for tier in ("english-words.10", "american-words.10", "english-words.20", "american-words.20"):
        text = (SCOWL / tier).read_text(encoding="latin-1")
        tier_words = [w for w in text.split() if re.fullmatch(r"[a-z]{2,12}", w) or w in ("a", "I")]
        words += tier_words * (3 if tier.endswith("10") else 1)
    return words + grammar.ALL_WORDS * 2


class Sentences:
    """Draws sentences. Equal seeds give equal sentences while the source texts stay unchanged."""

    def __init__(self, translated=None) -> None:
        """`translated(rng)` returns a sentence of the translators' grammar. Without it, other kinds take its share."""
        self.templates = load_templates()
        self.words = common_words()
        self.translated = translated

    def draw(self, rng: random.Random) -> str:
        """Returns one cased and punctuated sentence of at most MAX_WORDS words."""
        while True:
            text = self.any_kind(rng)
            if len(text.split()) <= MAX_WORDS:
                return text

    def any_kind(self, rng: random.Random) -> str:
        kind = rng.random()
        if kind < 0.20:
            return self.word_list(rng)
        if kind < 0.32 and self.translated:
            return self.translated(rng)
        if kind < 0.60:
            text = grammar.sentence(rng)
        else:
            text = expand(rng.choice(self.templates), rng)
        return self.with_strange_words(text, rng) if rng.random() < 0.2 else text

    def word_list(self, rng: random.Random) -> str:
        words = " ".join(rng.choice(self.words) for _ in range(rng.randint(2, 8)))
        return words[0].upper() + words[1:] + "."

    def with_strange_words(self, text: str, rng: random.Random) -> str:
        """Replaces one or two words by random words, so the model learns to listen instead of to guess."""
        words = text.split()
        for _ in range(rng.randint(1, 2)):
            at = rng.randrange(1, len(words)) if len(words) > 1 else 0
            ending = re.search(r"[.,?]*$", words[at]).group()
            words[at] = rng.choice(self.words) + ending
        text = " ".join(words)
        return text[0].upper() + text[1:]
