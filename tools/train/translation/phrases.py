"""The parts of sentences: choices, text in three languages, noun phrases and subjects that agree.

Text is composed without elision and contraction ("de le", "que il", "a el"). `finish` applies both at the end.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple, TypeVar

from . import english, french, spanish, words

T = TypeVar("T")


class Text(NamedTuple):
    en: str
    es: str
    fr: str


NOTHING = Text("", "", "")


def join(*parts: "Text | str") -> Text:
    """Joins the parts with spaces, language by language. A plain string is equal in each language."""
    texts = [part if isinstance(part, Text) else Text(part, part, part) for part in parts]
    return Text(*(" ".join(piece for piece in pieces if piece) for pieces in zip(*texts, strict=True)))


def texts(table: str) -> list[Text]:
    return [Text(*row[:3]) for row in words.rows(table)]


class Choices:
    """Makes every choice of the grammar: by a random generator, or by hand (`by_hand`) for tests.

    A choice has a path such as "subject.noun". By hand, a missing path takes the first option, "no" or the lowest
    number. `unused` lists the given paths that no rule used.
    """

    def __init__(self, rng: random.Random | None, given: Mapping[str, str | int | bool] | None = None) -> None:
        self._rng = rng
        self._given = dict(given or {})
        self._used: set[str] = set()
        self._path = ""

    @classmethod
    def by_hand(cls, given: Mapping[str, str | int | bool]) -> "Choices":
        return cls(None, given)

    def under(self, name: str) -> "Choices":
        inner = Choices(self._rng)
        inner._given, inner._used, inner._path = self._given, self._used, f"{self._path}{name}."
        return inner

    @property
    def unused(self) -> set[str]:
        return set(self._given) - self._used

    def one(self, name: str, options: Sequence[T], weights: Sequence[float] | None = None) -> T:
        if self._rng:
            return self._rng.choices(options, weights)[0] if weights else self._rng.choice(options)
        wanted = self._take(name)
        if wanted is None:
            return options[0]
        for option in options:
            if label(option) == wanted:
                return option
        raise KeyError(f"{self._path}{name}: unknown option {wanted!r}")

    def chance(self, name: str, probability: float) -> bool:
        return self._rng.random() < probability if self._rng else bool(self._take(name))

    def number(self, name: str, low: int, high: int) -> int:
        return self._rng.randint(low, high) if self._rng else int(self._take(name) or low)

    def _take(self, name: str) -> str | int | bool | None:
        self._used.add(self._path + name)
        return self._given.get(self._path + name)


def label(option: object) -> object:
    """Returns the English name that selects an option by hand."""
    if type(option) is tuple:
        return option[0]
    return getattr(option, "name", None) or getattr(option, "en", option)


@dataclass(frozen=True, eq=False)
class Noun:
    en: str
    en_plural: str
    es: str
    es_plural: str
    es_gender: str
    fr: str
    fr_plural: str
    fr_gender: str
    kind: str
    tags: frozenset[str]

    @property
    def mass(self) -> bool:
        return "mass" in self.tags


@dataclass(frozen=True, eq=False)
class Adjective:
    en: str
    es: tuple[str, str]
    copula: str
    fr: tuple[str, str]
    before: bool
    kinds: frozenset[str]
    comparative: str
    es_plurals: tuple[str, str]

    def spanish(self, gender: str, many: bool) -> str:
        return (self.es_plurals if many else self.es)[gender == "f"]

    def french(self, gender: str, many: bool) -> str:
        word = self.fr[gender == "f"]
        return french.plural(word) if many else word


@dataclass(frozen=True)
class Phrase:
    """A noun phrase or subject. `person` is I, YOU, HE, SHE, WE or THEY. `fr_negative` is the form after a negation."""

    text: Text
    person: int
    es_gender: str = "m"
    fr_gender: str = "m"
    human: bool = False
    pronoun: bool = False
    definite: bool = True
    fr_negative: str = ""
    noun: "Noun | None" = field(default=None)

    @property
    def many(self) -> bool:
        return self.person >= 4

    @property
    def es_person(self) -> int:
        return (0, 1, 2, 2, 3, 4)[self.person] if self.person < 6 else 4

    @property
    def fr_person(self) -> int:
        return (0, 3, 1, 1, 2, 4)[self.person] if self.person < 6 else 4

    @property
    def third(self) -> bool:
        return self.person in (2, 3)


I, YOU, HE, SHE, WE, THEY = range(6)  # noqa: E741
PRONOUNS = [
    Text("I", "", "je"),
    Text("you", "", "vous"),
    Text("he", "él", "il"),
    Text("she", "ella", "elle"),
    Text("we", "", "nous"),
    Text("they", "ellos", "ils"),
]
IRREGULAR_BEFORE_VOWEL = {"nouveau": "nouvel", "vieux": "vieil", "beau": "bel"}
FEMININE_ORDINALS = {"premier": "première", "prochain": "prochaine", "dernier": "dernière"}
SHORT_BEFORE_NOUN = {"bueno": "buen", "malo": "mal"}


def _noun(row: list[str]) -> Noun:
    def forms(text: str, plural: Callable[[str], str]) -> tuple[str, str]:
        one, *many = text.split("/")
        return one, many[0] if many else plural(one)

    def gendered(text: str, plural: Callable[[str], str]) -> tuple[str, str, str]:
        first, *many = text.split("/")
        word, gender = first.rsplit(" ", 1)
        return word, many[0] if many else plural(word), gender

    kind, *tags = row[3].split()
    return Noun(
        *forms(row[0], english.plural),
        *gendered(row[1], spanish.plural),
        *gendered(row[2], french.plural),
        "person" if kind == "kin" else kind,
        frozenset([kind, *tags]),
    )


def _adjective(row: list[str]) -> Adjective:
    masculine, *plural = row[1].split("/")
    pair = (masculine, spanish.feminine(masculine))
    plurals = (plural[0], plural[0]) if plural else (spanish.plural(pair[0]), spanish.plural(pair[1]))
    fr_masculine, fr_feminine = row[3].split("/")
    return Adjective(
        row[0],
        pair,
        row[2],
        (fr_masculine, fr_feminine),
        row[4] == "b",
        frozenset(row[5].split()),
        row[6] if len(row) > 6 else "",
        plurals,
    )


NOUNS = [_noun(row) for row in words.rows(words.NOUNS)]
ADJECTIVES = [_adjective(row) for row in words.rows(words.ADJECTIVES)]
BY_ENGLISH = {noun.en: noun for noun in NOUNS}
TRANSPORT = [noun for noun in NOUNS if noun.en in ("train", "bus", "plane", "boat")]
NAMES = words.WOMEN + words.MEN
CITIES = texts(words.CITIES)


@cache
def nouns(*tags: str) -> list[Noun]:
    """Returns the nouns of these kinds or with these tags."""
    return [noun for noun in NOUNS if noun.kind in tags or noun.tags & set(tags)]


@cache
def attributes(noun: Noun) -> list[Adjective]:
    return [adjective for adjective in ADJECTIVES if noun.kind in adjective.kinds]


@dataclass(frozen=True, eq=False)
class Determiner:
    """A determiner such as "the" or "my". A plural has a + at the end of its name.

    `es` and `fr` are the masculine and the feminine form. `fr` also has both forms before a vowel.
    """

    name: str
    en: str
    es: tuple[str, str]
    fr: tuple[str, str, str, str]
    many: bool = False
    definite: bool = True


def _owner(en: str, es: str, fr: str) -> list[Determiner]:
    """Returns the singular and plural of my, your, his..."""
    es_pair = (es, es[:-1] + "a") if es.endswith("o") else (es, es)
    one = {"mon": ("mon", "ma", "mon", "mon"), "son": ("son", "sa", "son", "son")}.get(fr, (fr,) * 4)
    many = {"mon": "mes", "son": "ses", "notre": "nos", "votre": "vos", "leur": "leurs"}[fr]
    return [
        Determiner(en, en, es_pair, one),
        Determiner(en + "+", en, (es_pair[0] + "s", es_pair[1] + "s"), (many,) * 4, many=True),
    ]


THE = Determiner("the", "the", ("el", "la"), ("le", "la", "le", "la"))
THE_MANY = Determiner("the+", "the", ("los", "las"), ("les",) * 4, many=True)
A = Determiner("a", "a", ("un", "una"), ("un", "une", "un", "une"), definite=False)
SOME_MANY = Determiner("some+", "some", ("unos", "unas"), ("des",) * 4, many=True, definite=False)
MANY = Determiner("many+", "many", ("muchos", "muchas"), ("beaucoup de",) * 4, many=True, definite=False)
SOME = Determiner("some", "some", ("", ""), ("de le", "de la", "de le", "de la"), definite=False)
OWNERS = [
    determiner
    for owner in (
        ("my", "mi", "mon"),
        ("your", "tu", "votre"),
        ("his", "su", "son"),
        ("her", "su", "son"),
        ("our", "nuestro", "notre"),
        ("their", "su", "leur"),
    )
    for determiner in _owner(*owner)
]
THIS = Determiner("this", "this", ("este", "esta"), ("ce", "cette", "cet", "cette"))
THAT = Determiner("that", "that", ("ese", "esa"), ("ce", "cette", "cet", "cette"))
THESE = Determiner("these+", "these", ("estos", "estas"), ("ces",) * 4, many=True)
THOSE = Determiner("those+", "those", ("esos", "esas"), ("ces",) * 4, many=True)
ALL = Determiner("all the+", "all the", ("todos los", "todas las"), ("tous les", "toutes les") * 2, many=True)
COUNTED = Determiner("number+", "", ("", ""), ("",) * 4, many=True, definite=False)
DEFINITE = [THE, THE_MANY, *OWNERS, THIS, THAT, THESE, THOSE, ALL]
FREE = [
    *(THE, THE, THE, A, A, A, SOME, SOME, THE_MANY, SOME_MANY, COUNTED, COUNTED, *OWNERS),
    *(THIS, THAT, THESE, THOSE, ALL),
]
ONE_OWNERS, MANY_OWNERS = OWNERS[::2], OWNERS[1::2]
FOR_MASS = (THE, SOME, *ONE_OWNERS, THIS)


def noun_phrase(
    choices: Choices, among: Sequence[Noun], determiners: Sequence[Determiner] = FREE, adjective_chance: float = 0.35
) -> Phrase:
    """Returns a determiner, perhaps an adjective, and a noun of `among`.

    Kin always gets an owner, other people rarely. Mass nouns get the, some or an owner.
    """
    noun = choices.one("noun", among)
    if noun.mass:
        allowed = [determiner for determiner in determiners if determiner in FOR_MASS] or [THE]
    elif "kin" in noun.tags:
        allowed = [determiner for determiner in determiners if determiner in OWNERS] or list(determiners)
    elif noun.kind == "person" and "owned" not in noun.tags:
        allowed = [determiner for determiner in determiners if determiner not in OWNERS] or list(determiners)
    else:
        allowed = list(determiners)
    if not noun.mass:
        many = "single" not in noun.tags
        allowed = [each for each in allowed if each is not SOME and (many or not each.many)] or [THE]
    determiner = choices.one("determiner", allowed)
    fitting = attributes(noun)
    adjective = choices.one("adjective", fitting) if fitting and choices.chance("described", adjective_chance) else None
    count = choices.number("count", 2, 99 if choices.chance("large", 0.3) else 12) if determiner is COUNTED else 0
    return assemble(noun, determiner, adjective, count)


def assemble(
    noun: Noun, determiner: Determiner, adjective: Adjective | None = None, count: int = 0, ordinal: Text | None = None
) -> Phrase:
    """`ordinal`: first, second... in English, Spanish (masculine), French (masculine)."""
    many = determiner.many
    en = join_words(
        ordinal.en if ordinal else "", adjective.en if adjective else "", noun.en_plural if many else noun.en
    )
    if determiner is A:
        en = english.article(en)
    else:
        en = join_words(english.number(count) if count else determiner.en, en)
    es = _spanish(noun, determiner, adjective, count, ordinal)
    body = _french_body(noun, many, adjective, ordinal)
    fr = _french(noun, determiner, adjective, count, body)
    indefinite = determiner in (A, SOME_MANY, SOME)
    person = THEY if many else HE
    return Phrase(
        Text(en, es, fr),
        person,
        noun.es_gender,
        noun.fr_gender,
        human=noun.kind == "person",
        definite=determiner.definite,
        fr_negative="de " + body if indefinite else "",
        noun=noun,
    )


def join_words(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def _spanish(noun: Noun, determiner: Determiner, adjective: Adjective | None, count: int, ordinal: Text | None) -> str:
    gender, many = noun.es_gender, determiner.many
    word = noun.es_plural if many else noun.es
    before = after = ""
    if adjective:
        form = adjective.spanish(gender, many)
        if adjective.en in ("good", "bad"):
            before = SHORT_BEFORE_NOUN.get(form, form)
        else:
            after = form
    if ordinal:
        form = ordinal.es if gender == "m" else spanish.feminine(ordinal.es)
        before = {"primero": "primer", "tercero": "tercer"}.get(form, form)
    first = determiner.es[gender == "f"]
    if noun.es == "agua" and not before and not many:
        first = {"la": "el", "una": "un"}.get(first, first)
    if count:
        first = spanish.number(count, gender, counting=True)
    return join_words(first, before, word, after)


def _french_body(noun: Noun, many: bool, adjective: Adjective | None, ordinal: Text | None) -> str:
    word = noun.fr_plural if many else noun.fr
    before = after = ""
    if adjective:
        form = adjective.french(noun.fr_gender, many)
        if not adjective.before:
            after = form
        elif not many and noun.fr_gender == "m" and french.starts_with_vowel(word):
            before = IRREGULAR_BEFORE_VOWEL.get(form, form)
        else:
            before = form
    number = ""
    if ordinal:
        number = ordinal.fr
        if noun.fr_gender == "f":
            number = FEMININE_ORDINALS.get(number, number)
    return join_words(number, before, word, after)


def _french(noun: Noun, determiner: Determiner, adjective: Adjective | None, count: int, body: str) -> str:
    if count:
        return french.number(count, noun.fr_gender, counting=True) + " " + body
    vowel = french.starts_with_vowel(body)
    first = determiner.fr[(noun.fr_gender == "f") + 2 * vowel]
    if determiner is SOME_MANY and adjective and adjective.before:
        first = "de"
    return join_words(first, body)


def pronoun(choices: Choices, allowed: Sequence[int] = (I, YOU, HE, SHE, WE, THEY)) -> Phrase:
    person = choices.one("pronoun", [PRONOUNS[index] for index in allowed])
    index = PRONOUNS.index(person)
    gender = "f" if index == SHE else "m"
    return Phrase(person, index, gender, gender, pronoun=True)


def name(choices: Choices) -> Phrase:
    who = choices.one("name", NAMES)
    gender = "f" if who in words.WOMEN else "m"
    return Phrase(Text(who, who, who), SHE if gender == "f" else HE, gender, gender, human=True)


def couple(choices: Choices) -> Phrase:
    """Anna and Tom."""
    first = choices.one("first", NAMES)
    second = choices.one("second", [who for who in NAMES if who != first])
    gender = "f" if first in words.WOMEN and second in words.WOMEN else "m"
    return Phrase(
        Text(f"{first} and {second}", f"{first} y {second}", f"{first} et {second}"),
        THEY,
        gender,
        gender,
        human=True,
    )


def person(choices: Choices) -> Phrase:
    """The teacher, my sister, your friends."""
    return noun_phrase(choices, nouns("person"), [THE, THE, THE_MANY, *OWNERS[:4], *OWNERS], 0.15)


def subject(choices: Choices, kinds: Sequence[str] = ("pronoun", "person", "name", "couple")) -> Phrase:
    weights = {"pronoun": 5, "person": 4, "name": 2, "couple": 0.5}
    kind = choices.one("kind", kinds, [weights[each] for each in kinds])
    return {"pronoun": pronoun, "person": person, "name": name, "couple": couple}[kind](choices)


def mark(form: str) -> str:
    return "?" if form == "question" else "."


def finish(text: Text, mark: str = ".", spanish_opening: bool = True) -> Text:
    """Returns the sentence with its capital, elisions, contractions and punctuation (. or ?)."""
    es, fr = spanish.euphony(text.es), french.elide(text.fr)
    es, fr, en = (each[0].upper() + each[1:] for each in (es, fr, text.en))
    if mark == "?":
        return Text(en + "?", ("¿" if spanish_opening else "") + es + "?", fr + " ?")
    return Text(en + mark, es + mark, fr + mark)
