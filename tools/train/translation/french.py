"""French morphology: plurals, the verb, numbers, elision and contractions.

The persons are je 0, il/elle 1, nous 2, vous 3, ils/elles 4 ("you" is always vous).
A verb is written `infinitive [participle je il nous vous ils] [stem=...] [etre] [de]`. Without forms it is regular
(-er, -ir like finir, -re like vendre). `stem=` is the stressed stem (achèt, appell), `etre` the auxiliary and `de` the
preposition of the object. `_` joins the words of a phrase ("avoir_besoin"). `se_` at the start makes it reflexive.
"""

import re
from dataclasses import dataclass

ONES = (
    "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept "
    "dix-huit dix-neuf"
).split()
TENS = ["", "", *"vingt trente quarante cinquante soixante soixante quatre-vingt quatre-vingt".split()]
REFLEXIVE = ("me", "se", "nous", "vous", "se")
AVOIR = ("ai", "a", "avons", "avez", "ont")
ETRE = ("suis", "est", "sommes", "êtes", "sont")
VOWELS = "aeiouhàâéèêîïôœ"
NO_ELISION = ("huit", "onz")


def starts_with_vowel(text: str) -> bool:
    low = text.lower()
    return low[0] in VOWELS and not low.startswith(NO_ELISION)


def plural(word: str) -> str:
    if word.endswith(("eau", "eu")) and word != "bleu":
        return word + "x"
    if word.endswith("al"):
        return word[:-2] + "aux"
    return word if word.endswith(("s", "x", "z")) or " " in word else word + "s"


def number(n: int, gender: str = "m", counting: bool = False) -> str:
    """Returns 0 to 9999 with traditional hyphens: vingt et un, soixante et onze, quatre-vingts, cent quarante-deux."""
    one = "une" if gender == "f" and counting else "un"
    if n >= 1000:
        thousands, rest = divmod(n, 1000)
        head = "mille" if thousands == 1 else ONES[thousands] + " mille"
        return head + (" " + number(rest, gender, counting) if rest else "")
    if n >= 100:
        hundreds, rest = divmod(n, 100)
        head = "cent" if hundreds == 1 else ONES[hundreds] + " cent"
        return head + ("" if hundreds == 1 else "s") if not rest else head + " " + number(rest, gender, counting)
    if n < 20:
        return one if n == 1 else ONES[n]
    ten, unit = divmod(n, 10)
    if ten in (7, 9):
        unit += 10
    if unit == 0:
        return "quatre-vingts" if ten == 8 else TENS[ten]
    word = one if unit == 1 else ONES[unit]
    return TENS[ten] + (" et " if unit in (1, 11) and ten < 8 else "-") + word


@dataclass(frozen=True)
class Verb:
    infinitive: str
    participle: str
    present: tuple[str, ...]
    imperfect: tuple[str, ...]
    reflexive: bool
    etre: bool
    preposition: str


def verb(spec: str) -> Verb:
    words = spec.split()
    reflexive = words[0].startswith("se_")
    words[0] = words[0].removeprefix("se_")
    etre, preposition = "etre" in words, "de" if "de" in words else ""
    strong = next((word[5:] for word in words if word.startswith("stem=")), "")
    words = [word for word in words if word not in ("etre", "de") and not word.startswith("stem=")]
    infinitive, *tail = words[0].split("_", 1)
    after = " " + tail[0].replace("_", " ") if tail else ""
    if len(words) == 7:
        participle, *present = [word.replace("_", " ") for word in words[1:]]
        nous = present[2].split(" ")[0]
    else:
        participle, *present = [
            form + after
            for form in (
                [words[1], *_present(infinitive, strong)[1:]] if len(words) == 2 else _present(infinitive, strong)
            )
        ]
        nous = present[2].removesuffix(after)
    stem = nous.removesuffix("ons")
    soft = {"ge": "g", "ç": "c"}
    bare = next((stem[: -len(end)] + short for end, short in soft.items() if stem.endswith(end)), stem)
    imperfect = tuple(
        (bare if end in ("ions", "iez") else stem) + end + after for end in ("ais", "ait", "ions", "iez", "aient")
    )
    return Verb(infinitive + after, participle, tuple(present), imperfect, reflexive, etre or reflexive, preposition)


def _present(infinitive: str, strong: str) -> list[str]:
    """Returns the participle and the five forms of a regular verb."""
    stem, ending = infinitive[:-2], infinitive[-2:]
    if ending == "ir":
        return [stem + "i", stem + "is", stem + "it", stem + "issons", stem + "issez", stem + "issent"]
    if ending == "re":
        return [stem + "u", stem + "s", stem, stem + "ons", stem + "ez", stem + "ent"]
    if not strong:
        strong = stem[:-1] + "i" if stem.endswith(("oy", "uy")) else re.sub(r"é([^aeiouyé]+)$", r"è\1", stem)
    soft = {"g": "ge", "c": "ç"}
    ons = next((stem[:-1] + spelled for last, spelled in soft.items() if stem.endswith(last)), stem)
    return [stem + "é", strong + "e", strong + "e", ons + "ons", stem + "ez", strong + "ent"]


ELIDED = re.compile(
    r"\b([Jj]e|[Nn]e|[Dd]e|[Mm]e|[Tt]e|[Ss]e|[Ll]e|[Ll]a|[Qq]ue|[Ss]i(?= ils?\b))"
    rf" (?=[{VOWELS}{VOWELS.upper()}])(?!huit|onz)"
)
CONTRACTED = re.compile(r"(?<!\w)([Àà]|[Dd]e) (les?) ")
CONTRACTIONS = {
    "à le": "au",
    "à les": "aux",
    "de le": "du",
    "de les": "des",
    "À le": "Au",
    "À les": "Aux",
    "De le": "Du",
    "De les": "Des",
}


def elide(text: str) -> str:
    """Applies elision (j', l', qu', s'il) and contractions (du, des, au, aux) to a sentence without them."""
    text = ELIDED.sub(lambda found: found[1][:-1] + "'", text)
    return CONTRACTED.sub(lambda found: CONTRACTIONS[f"{found[1]} {found[2]}"] + " ", text)
