"""One grammar for three languages: English sentences with their Spanish and French translations.

`sentence(rng)` draws a sentence; equal generator states give equal sentences. The English side is plain ASCII, cased,
ends in . or ?, spells out numbers and has at most 14 words. The training of the speech model uses it too. Only Python's
standard library is needed. `python -m translation.grammar 20` prints samples; `--check` tests the golden triples and
the demo.
"""

import argparse
import random
import re
from collections.abc import Callable, Mapping

from . import actions, combined, descriptions, figures, greetings
from .phrases import Choices, Text

MAX_WORDS = 14
RULES: dict[str, tuple[float, Callable[[Choices], Text]]] = {
    "transitive": (26, actions.transitive),
    "intransitive": (7, actions.intransitive),
    "motion": (5, actions.motion),
    "daily": (4, actions.daily),
    "giving": (5, actions.giving),
    "with_pronoun": (5, actions.with_pronoun),
    "reciprocal": (1.5, actions.reciprocal),
    "predicate": (8, descriptions.predicate),
    "feeling": (2.5, descriptions.feeling),
    "where_is": (3, descriptions.where_is),
    "located": (4, descriptions.located),
    "there_is": (6, descriptions.there_is),
    "opinion": (6, combined.opinion),
    "because": (5, combined.because),
    "likes": (3.5, descriptions.likes),
    "comparison": (3, descriptions.comparison),
    "part_of": (2.5, combined.part_of),
    "belongings": (3, combined.belongings),
    "wh_question": (5, combined.wh_question),
    "speaks": (2, actions.speaks),
    "born": (1.2, actions.born),
    "profession": (2, descriptions.profession),
    "would_like": (3, actions.would_like),
    "buys_container": (1.5, actions.buys_container),
    "for_a_time": (2, actions.for_a_time),
    "conditional": (1.5, actions.conditional),
    "greeting": (2.5, greetings.greeting),
    "thanks": (1.5, greetings.thanks),
    "whole_phrase": (1.2, greetings.whole_phrase),
    "see_you": (0.8, greetings.see_you),
    "my_name": (1.2, greetings.my_name),
    "request": (4, greetings.request),
    "order": (3.5, greetings.order),
    "how_much": (2.5, figures.how_much),
    "price": (4, figures.price),
    "value": (4, figures.value),
    "digits": (1.5, figures.digits),
    "today": (2.5, figures.today),
    "starts": (4.5, figures.starts),
    "when_does": (1.5, figures.when_does),
    "it_is_time": (1.2, figures.it_is_time),
    "event_date": (2, figures.event_date),
    "weather": (2.5, figures.weather),
    "age": (2, figures.age),
    "lasts": (1.2, figures.lasts),
}
NAMES, WEIGHTS = list(RULES), [weight for weight, _ in RULES.values()]


def sentence(rng: random.Random) -> tuple[str, dict[str, str]]:
    """Returns (English, {"es": ..., "fr": ...})."""
    while True:
        rule = rng.choices(NAMES, WEIGHTS)[0]
        text = RULES[rule][1](Choices(rng))
        if len(text.en.split()) <= MAX_WORDS:
            return text.en, {"es": text.es, "fr": text.fr}


def derive(rule: str, given: Mapping[str, str | int | bool]) -> Text:
    """Returns the sentence of a rule for given choices. A choice that is not given takes the first option.

    Raises KeyError for an unknown choice, and for a given choice that the rule does not use.
    """
    choices = Choices.by_hand(given)
    text = RULES[rule][1](choices)
    if choices.unused:
        raise KeyError(f"{rule}: unused choices {sorted(choices.unused)}")
    return text


def faults(text: Text) -> list[str]:
    """Lists the formal faults of a triple, independent of its meaning."""
    found = []
    if not re.fullmatch(r"[A-Z][A-Za-z' ]*[.?]", text.en) or "  " in text.en:
        found.append("English form")
    if not re.fullmatch(r"¿?[A-ZÁÉÍÓÚÑ][A-Za-záéíóúñüÉÁ, ¿]*[.?]", text.es) or "  " in text.es:
        found.append("Spanish form")
    if not re.fullmatch(r"[A-ZÀÉÊÎÔ][A-Za-zàâçéèêëîïôûùœÉÀ,' -]*( \?|\.)", text.fr) or "  " in text.fr:
        found.append("French form")
    if re.search(r"\b(a el|de el|muy mucho) ", text.es):
        found.append("Spanish contraction")
    if re.search(
        r"\b([jJ]e|[nN]e|[dD]e|[lL]e|[lL]a|[qQ]ue|ce|ma|sa) (?!onz)[aeiouéêèàâîôœ]|(?<!\w)(à|de) les? ", text.fr
    ):
        found.append("French elision or contraction")
    return found


def check(samples: int) -> int:
    """Prints the differences and returns their number."""
    from .golden import DEMO, GOLDEN

    wrong = 0
    for rule, given, expected in [*DEMO, *GOLDEN]:
        try:
            made = derive(rule, given)
        except KeyError as problem:
            made = Text(str(problem), "", "")
        if made != expected:
            wrong += 1
            print(f"{rule} {given}\n  expected {expected}\n  made     {made}")
    rng = random.Random(7)
    for _ in range(samples):
        english, other = sentence(rng)
        bad = faults(Text(english, other["es"], other["fr"]))
        if bad:
            wrong += 1
            print(bad, english, other)
    print(f"{len(DEMO)} demo sentences, {len(GOLDEN)} golden triples, {samples} samples: {wrong} wrong")
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description="Samples of the bilingual grammar.")
    parser.add_argument("count", nargs="?", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--check", action="store_true", help="test the demo, the golden triples and 20,000 samples"
    )
    args = parser.parse_args()
    if args.check:
        raise SystemExit(1 if check(20_000) else 0)
    rng = random.Random(args.seed)
    for _ in range(args.count):
        english, other = sentence(rng)
        print(english, other["es"], other["fr"], sep=" | ")


if __name__ == "__main__":
    main()
