"""What is spoken to train the speech model: a mix of grammar, natural sentences, the translators' sentences and plain words."""
import random
import re
from pathlib import Path

from text import grammar
from text.natural import expand, load_templates

#: Debian's package `scowl`: words of English by how common they are; 10 and 20 are the commonest twelve thousand.
SCOWL = Path("/usr/share/dict/scowl")
MAX_WORDS = 16


def spoken_form(text: str) -> str:
    """Lower case letters, apostrophes and single spaces: what word error rates compare."""
    return " ".join(re.sub(r"[^a-z' ]", "", text.lower()).split())


def common_words() -> list[str]:
    """The grammar's own lexicon, and twice as often the commonest words of SCOWL."""
    words = []
    for tier in ("english-words.10", "american-words.10", "english-words.20", "american-words.20"):
        text = (SCOWL / tier).read_text(encoding="latin-1")
        tier_words = [w for w in text.split() if re.fullmatch(r"[a-z]{2,12}", w) or w in ("a", "I")]
        words += tier_words * (3 if tier.endswith("10") else 1)
    return words + grammar.ALL_WORDS * 2


class Sentences:
    """Draws sentences; the same seed gives the same sentences as long as the texts are the same."""

    def __init__(self, translated=None) -> None:
        """`translated(rng)` gives a sentence of the translators' grammar; without it the other kinds share its part."""
        self.templates = load_templates()
        self.words = common_words()
        self.translated = translated

    def draw(self, rng: random.Random) -> str:
        """One cased and punctuated sentence of at most MAX_WORDS words."""
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
        """One or two words exchanged for any others, so that the model learns to hear rather than to guess."""
        words = text.split()
        for _ in range(rng.randint(1, 2)):
            at = rng.randrange(1, len(words)) if len(words) > 1 else 0
            ending = re.search(r"[.,?]*$", words[at]).group()
            words[at] = rng.choice(self.words) + ending
        text = " ".join(words)
        return text[0].upper() + text[1:]
