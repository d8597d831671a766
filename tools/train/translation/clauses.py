"""Verbs in clauses: tense, negation, question, pronouns before or after the verb, agreement of participles."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from . import english, french, spanish, words
from .phrases import (
    FREE,
    HE,
    NOTHING,
    SHE,
    SOME,
    SOME_MANY,
    Choices,
    Determiner,
    Noun,
    Phrase,
    Text,
    join_words,
    name,
    noun_phrase,
    nouns,
)


@dataclass(frozen=True, eq=False)
class Action:
    """A verb in the three languages and its possible objects."""

    en_verb: english.Verb
    es: spanish.Verb
    fr: french.Verb
    objects: tuple[Noun, ...] = ()
    # for verbs of motion: the Spanish, French and English preposition of the goal
    goal: Text = NOTHING

    @property
    def en(self) -> str:
        return self.en_verb.base

    @cached_property
    def takes_people(self) -> bool:
        return any(noun.kind == "person" for noun in self.objects)


def _objects(spec: str) -> tuple[Noun, ...]:
    if spec == "cook-food":
        return tuple(noun for noun in nouns("food") if "cook" in noun.tags)
    return tuple(nouns(*spec.split()))


def _action(row: list[str]) -> Action:
    return Action(
        english.verb(row[0]),
        spanish.verb(row[1]),
        french.verb(row[2]),
        _objects(row[3]) if len(row) == 4 else (),
        Text(row[5], row[3], row[4]) if len(row) == 6 else NOTHING,
    )


VERBS = [_action(row) for row in words.rows(words.VERBS)]
INTRANSITIVE = [_action(row) for row in words.rows(words.INTRANSITIVE)]
MOTION = [_action(row) for row in words.rows(words.MOTION)]
DAILY = [_action(row) for row in words.rows(words.DAILY)]
GIVING = [_action(row) for row in words.rows(words.GIVING)]
BY_ENGLISH = {action.en: action for action in VERBS}

TENSES = ("present", "past", "future", "going", "progressive", "can", "must", "want", "should")
ENGLISH_MODALS = {"future": "will", "can": "can", "must": "must", "should": "should"}
# the finite verbs before an infinitive, by person
SPANISH_FRONT = {
    "future": ("voy", "vas", "va", "vamos", "van"),
    "can": ("puedo", "puedes", "puede", "podemos", "pueden"),
    "must": ("debo", "debes", "debe", "debemos", "deben"),
    "want": ("quiero", "quieres", "quiere", "queremos", "quieren"),
    "should": ("debería", "deberías", "debería", "deberíamos", "deberían"),
}
FRENCH_FRONT = {
    "future": ("vais", "va", "allons", "allez", "vont"),
    "can": ("peux", "peut", "pouvons", "pouvez", "peuvent"),
    "must": ("dois", "doit", "devons", "devez", "doivent"),
    "want": ("veux", "veut", "voulons", "voulez", "veulent"),
    "should": ("devrais", "devrait", "devrions", "devriez", "devraient"),
}
SPANISH_FRONT["going"], FRENCH_FRONT["going"] = SPANISH_FRONT["future"], FRENCH_FRONT["future"]
SPANISH_IS = ("estoy", "estás", "está", "estamos", "están")
NO_PROGRESSIVE = {
    "see",
    "want",
    "need",
    "love",
    "hate",
    "know",
    "have",
    "forget",
    "understand",
    "find",
    "lose",
    "break",
    "accept",
    "receive",
    "keep",
    "choose",
}


TENSE_WEIGHTS = {
    "present": 4.0,
    "past": 6,
    "future": 3,
    "going": 1.5,
    "progressive": 1.5,
    "can": 1.5,
    "must": 1,
    "want": 1.5,
    "should": 0.7,
}


def choose_tense(choices: Choices, action: Action, who: Phrase, without: Sequence[str] = ()) -> str:
    """Chooses a tense that fits the verb."""
    weights = {tense: weight for tense, weight in TENSE_WEIGHTS.items() if tense not in without}
    if action.en in NO_PROGRESSIVE:
        weights.pop("progressive", None)
    if action.en == "read" and not who.third:
        # "they read" can be present or past
        weights.pop("present", None)
    if action.en in ("want", "need", "hate", "love", "have", "know"):
        weights = {"present": 4, "past": 2}
    return choices.one("tense", list(weights), list(weights.values()))


@dataclass(frozen=True)
class Clitic:
    """An object pronoun that stands before the verb."""

    en: str
    es: str
    fr: str
    gender: str
    many: bool


CLITICS = [
    Clitic("me", "me", "me", "m", False),
    Clitic("you", "te", "vous", "m", False),
    Clitic("him", "lo", "le", "m", False),
    Clitic("her", "la", "la", "f", False),
    Clitic("us", "nos", "nous", "m", True),
    Clitic("them", "los", "les", "m", True),
]
IT = Clitic("it", "lo", "le", "m", False)


def english_be(who: Phrase, past: bool = False) -> str:
    if past:
        return "was" if who.person in (0, HE, SHE) else "were"
    return "am" if who.person == 0 else "is" if who.third else "are"


def _english(action: Action, who: Phrase, tense: str) -> tuple[str, str, str]:
    """Returns (auxiliary, rest of the verb, form without auxiliary or nothing)."""
    verb = action.en_verb
    do = "does" if who.third else "do"
    if tense == "present":
        return do, verb.base, verb.third if who.third else verb.base
    if tense == "past":
        return "did", verb.base, verb.past
    if tense == "want":
        return do, "want to " + verb.base, ("wants to " if who.third else "want to ") + verb.base
    if tense in ("going", "progressive"):
        return english_be(who), verb.ing if tense == "progressive" else "going to " + verb.base, ""
    return ENGLISH_MODALS[tense], verb.base, ""


def spanish_verb(action: Action, who: Phrase, tense: str, clitic: str = "") -> tuple[str, str]:
    """Returns (pronoun and finite verb, rest of the verb). A question puts its subject between the two."""
    verb, person = action.es, who.es_person
    if verb.reflexive:
        clitic = spanish.REFLEXIVE[person]
    if tense in SPANISH_FRONT:
        return SPANISH_FRONT[tense][person], join_words(
            "a" if tense in ("future", "going") else "", verb.infinitive_with(clitic)
        )
    if tense == "progressive":
        return join_words(clitic, SPANISH_IS[person]), verb.gerund
    form = verb.present if tense == "present" else verb.imperfect if verb.state else verb.past
    return join_words(clitic, form[person]), ""


def agree(participle: str, gender: str, many: bool) -> str:
    first, *rest = participle.split(" ", 1)
    first += "e" if gender == "f" else ""
    first += "s" if many and not first.endswith("s") else ""
    return " ".join([first, *rest])


def french_verb(
    action: Action,
    who: Phrase,
    tense: str,
    negation: str = "",
    adverb: str = "",
    clitic: "Clitic | None" = None,
    each_other: bool = False,
) -> str:
    """Returns everything from ne to the infinitive or participle. `negation` is pas, jamais or nothing."""
    verb, person = action.fr, who.fr_person
    before = french.REFLEXIVE[person] if verb.reflexive or each_other else clitic.fr if clitic else ""
    ne = "ne" if negation else ""
    if tense in FRENCH_FRONT:
        return join_words(ne, FRENCH_FRONT[tense][person], negation, adverb, before, verb.infinitive)
    if tense == "past" and not action.es.state:
        etre = verb.etre or each_other
        auxiliary = (french.ETRE if etre else french.AVOIR)[person]
        participle = verb.participle
        if etre:
            participle = agree(participle, who.fr_gender, who.many)
        elif clitic:
            participle = agree(participle, clitic.gender, clitic.many)
        return join_words(ne, before, auxiliary, negation, adverb, participle)
    form = (verb.imperfect if tense == "past" else verb.present)[person]
    finite, *rest = form.split(" ", 1)
    return join_words(ne, before, finite, negation, adverb, *rest)


ADVERBS = [
    Text("never", "nunca", "jamais"),
    Text("always", "siempre", "toujours"),
    Text("often", "a menudo", "souvent"),
    Text("sometimes", "a veces", "parfois"),
]


def clause(
    who: Phrase,
    action: Action,
    tense: str,
    what: "Text | None" = None,
    negative: bool = False,
    question: bool = False,
    clitic: "Clitic | None" = None,
    adverb: "Text | None" = None,
) -> Text:
    """Returns a clause without capital and punctuation.

    `what` follows the verb. `adverb` (never, always...) is only for the present.
    """
    what = what or NOTHING
    auxiliary, rest, plain = _english(action, who, tense)
    subject, after = who.text, what.en if clitic is None else join_words(clitic.en, what.en)
    if question:
        en = join_words(auxiliary, subject.en, "not" if negative else "", rest, after)
    elif negative:
        not_ = "cannot" if auxiliary == "can" else auxiliary + " not"
        en = join_words(subject.en, not_, rest, after)
    else:
        en = join_words(subject.en, adverb.en if adverb else "", plain or auxiliary + " " + rest, after)
    never = adverb is ADVERBS[0]
    head, tail = spanish_verb(action, who, tense, clitic.es if clitic else "")
    head = join_words("no" if negative else "", adverb.es if adverb else "", head)
    es = join_words(head, subject.es, tail, what.es) if question else join_words(subject.es, head, tail, what.es)
    negation = "jamais" if never else "pas" if negative else ""
    group = french_verb(action, who, tense, negation, adverb.fr if adverb and not never else "", clitic)
    fr = join_words("est-ce que" if question else "", subject.fr, group, what.fr)
    return Text(en, es, fr)


def object_of(action: Action, thing: Phrase, negative: bool = False) -> Text:
    """Returns the noun phrase as the verb's object.

    Spanish adds the personal a. French uses de after a negation and after avoir besoin.
    """
    text = thing.text
    some_person = action.en in ("need", "look for", "find") and not thing.definite
    if thing.human and action.en != "have" and not some_person:
        text = text._replace(es="a " + text.es)
    if action.fr.preposition:
        # de replaces the partitive and the plural article: besoin de pain, besoin de livres
        article = text.fr.split(" ")[0] in ("des", "de") and thing.fr_negative
        text = text._replace(fr=thing.fr_negative if article else "de " + text.fr)
    elif negative and thing.fr_negative:
        text = text._replace(fr=thing.fr_negative)
    return text


def choose_object(
    choices: Choices, action: Action, negative: bool = False, determiners: Sequence[Determiner] = FREE
) -> Text:
    """Chooses an object that fits the verb. A negation excludes "some"."""
    if action.takes_people and action.en != "have" and determiners is FREE and choices.chance("named", 0.12):
        return object_of(action, name(choices))
    allowed = [each for each in determiners if not (negative and each in (SOME, SOME_MANY))]
    return object_of(action, noun_phrase(choices, action.objects, allowed), negative)


def each_other(who: Phrase, action: Action, tense: str) -> Text:
    """We see each other: nos vemos, nous nous voyons."""
    auxiliary, rest, plain = _english(action, who, tense)
    en = join_words(who.text.en, plain or auxiliary + " " + rest, "each other")
    head, tail = spanish_verb(action, who, tense, spanish.REFLEXIVE[who.es_person])
    return Text(
        en,
        join_words(who.text.es, head, tail),
        join_words(who.text.fr, french_verb(action, who, tense, each_other=True)),
    )


def to_be(who: Phrase, copula: str, past: bool, negative: bool, question: bool, what: Text) -> Text:
    """who is what. `copula`: s for ser, e for estar, t for tener and avoir (hambre, faim)."""
    es_forms = {
        "s": (("soy", "eres", "es", "somos", "son"), ("era", "eras", "era", "éramos", "eran")),
        "e": (SPANISH_IS, ("estaba", "estabas", "estaba", "estábamos", "estaban")),
        "t": (("tengo", "tienes", "tiene", "tenemos", "tienen"), ("tenía", "tenías", "tenía", "teníamos", "tenían")),
    }[copula][past]
    fr_forms = (
        (french.AVOIR, ("avais", "avait", "avions", "aviez", "avaient"))
        if copula == "t"
        else (french.ETRE, ("étais", "était", "étions", "étiez", "étaient"))
    )[past]
    be = english_be(who, past)
    es_verb, fr_verb = es_forms[who.es_person], fr_forms[who.fr_person]
    subject, no = who.text, "not" if negative else ""
    group = join_words("ne" if negative else "", fr_verb, "pas" if negative else "")
    if question:
        return Text(
            join_words(be, subject.en, no, what.en),
            join_words("no" if negative else "", es_verb, subject.es, what.es),
            join_words("est-ce que", subject.fr, group, what.fr),
        )
    return Text(
        join_words(subject.en, be, no, what.en),
        join_words(subject.es, "no" if negative else "", es_verb, what.es),
        join_words(subject.fr, group, what.fr),
    )
