"""English morphology: plurals, verb forms, articles, numbers."""

import re
from dataclasses import dataclass

VOWELS = "aeiou"
ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
).split()
TENS = ["", "", *"twenty thirty forty fifty sixty seventy eighty ninety".split()]
ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
).split()


def plural(noun: str) -> str:
    if noun.endswith("y") and noun[-2] not in VOWELS:
        return noun[:-1] + "ies"
    return noun + ("es" if re.search("(s|sh|ch|x)$", noun) else "s")


def article(phrase: str) -> str:
    """Returns `phrase` after "a" or "an"."""
    sounds_like_consonant = phrase.startswith(("use", "uni", "one"))
    return ("an " if phrase[0].lower() in VOWELS and not sounds_like_consonant else "a ") + phrase


def number(n: int) -> str:
    """Returns 0 to 9999 in words, with "and" only after a hundred: "three hundred and forty two"."""
    if n < 20:
        return ONES[n]
    if n < 100:
        return TENS[n // 10] + (" " + ONES[n % 10] if n % 10 else "")
    if n < 1000:
        return ONES[n // 100] + " hundred" + (" and " + number(n % 100) if n % 100 else "")
    return number(n // 1000) + " thousand" + (" " + number(n % 1000) if n % 1000 else "")


def ordinal(n: int) -> str:
    """1 to 31."""
    if n <= 20:
        return ORDINALS[n - 1]
    return "thirtieth" if n == 30 else TENS[n // 10] + " " + ORDINALS[n % 10 - 1]


def year(n: int) -> str:
    """Returns 1901 to 2099 as spoken: "nineteen ninety five", "two thousand five", "twenty twenty four"."""
    if 2000 <= n < 2010:
        return number(n)
    rest = n % 100
    return number(n // 100) + " " + ("hundred" if rest == 0 else "oh " + ONES[rest] if rest < 10 else number(rest))


@dataclass(frozen=True)
class Verb:
    base: str
    third: str
    past: str
    ing: str


def verb(spec: str) -> Verb:
    """Parses "base[/third[/past[/ing]]]"; missing forms are regular. A particle ("look for") stays after its verb."""
    forms = spec.split("/")
    base, *particle = forms[0].split(" ", 1)
    tail = " " + particle[0] if particle else ""
    third = base[:-1] + "ies" if base.endswith("y") and base[-2] not in VOWELS else plural(base)
    past = third[:-1] + "d" if third.endswith("ies") else base + ("d" if base.endswith("e") else "ed")
    ing = base + "ing"
    regular = [forms[0], third + tail, past + tail, ing + tail]
    return Verb(*(forms[i] if i < len(forms) else regular[i] for i in range(4)))
