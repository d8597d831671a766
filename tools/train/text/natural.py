"""Natural sentences from hand-written templates (natural/*.txt).

Each line is a template with alternatives in braces: `{My|Her} {cat|dog} sleeps.`
"""
import random
import re
from pathlib import Path

TEMPLATES = Path(__file__).parent / "natural"
INNERMOST = re.compile(r"\{([^{}]*)\}")


def load_templates() -> list[str]:
    """Returns all templates of all topics, without empty lines."""
    files = sorted(TEMPLATES.glob("*.txt"))
    return [line.strip() for file in files for line in file.read_text().splitlines() if line.strip()]


def expand(template: str, rng: random.Random) -> str:
    """Returns one sentence of a template: every brace becomes one of its alternatives, innermost first."""
    text = template
    while INNERMOST.search(text):
        text = INNERMOST.sub(lambda match: rng.choice(match.group(1).split("|")), text)
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r" ([.,?])", r"\1", text)
    return text[0].upper() + text[1:]
