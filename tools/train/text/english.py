"""Forms of English words, and numbers as they are spoken."""
import re

from text.lexicon import IRREGULAR_PASTS, IRREGULAR_PLURALS, ONES, ORDINALS, TENS

VOWELS = "aeiou"
DOUBLING = {"sit", "run", "stop", "begin", "swim", "get", "cut", "hit", "win", "drop", "plan", "forget"}


def ends_in_consonant_y(word: str) -> bool:
    return word.endswith("y") and word[-2] not in VOWELS


def past(verb: str) -> str:
    if verb in IRREGULAR_PASTS:
        return IRREGULAR_PASTS[verb]
    if verb.endswith("e"):
        return verb + "d"
    return verb[:-1] + "ied" if ends_in_consonant_y(verb) else verb + "ed"


def third_person(verb: str) -> str:
    if ends_in_consonant_y(verb):
        return verb[:-1] + "ies"
    return verb + ("es" if re.search("(s|sh|ch|x|o)$", verb) else "s")


def gerund(verb: str) -> str:
    if verb in DOUBLING:
        return verb + verb[-1] + "ing"
    if verb == "die":
        return "dying"
    return (verb[:-1] if verb.endswith("e") and verb != "see" else verb) + "ing"


def plural(noun: str) -> str:
    if noun in IRREGULAR_PLURALS:
        return IRREGULAR_PLURALS[noun]
    if ends_in_consonant_y(noun):
        return noun[:-1] + "ies"
    return noun + ("es" if re.search("(s|sh|ch|x)$", noun) or noun in ("potato", "tomato") else "s")


def with_article(phrase: str) -> str:
    vowel = phrase[0] in VOWELS and not phrase.startswith(("use", "uni"))
    return ("an " if vowel else "a ") + phrase


def cardinal(number: int) -> str:
    """Returns 0 to millions in words, in British style: three hundred and forty two."""
    if number < 20:
        return ONES[number]
    if number < 100:
        return TENS[number // 10] + ("" if number % 10 == 0 else " " + ONES[number % 10])
    if number < 1000:
        rest = "" if number % 100 == 0 else " and " + cardinal(number % 100)
        return ONES[number // 100] + " hundred" + rest
    if number < 1_000_000:
        rest = "" if number % 1000 == 0 else " " + cardinal(number % 1000)
        return cardinal(number // 1000) + " thousand" + rest
    return cardinal(number // 1_000_000) + " million"


def ordinal(number: int) -> str:
    """Returns 1 to 31 as words: first to thirty first."""
    if number <= 20:
        return ORDINALS[number - 1]
    if number == 30:
        return "thirtieth"
    return ("twenty " if number < 30 else "thirty ") + ORDINALS[number % 10 - 1]
