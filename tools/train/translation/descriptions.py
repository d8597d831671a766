"""Rules for descriptions: states, places, existence, likes and comparisons."""

from . import english, french, spanish, words
from .adverbials import (
    PREPOSITIONS,
    at_place,
)
from .clauses import (
    to_be,
)
from .phrases import (
    ADJECTIVES,
    COUNTED,
    DEFINITE,
    MANY,
    NOTHING,
    ONE_OWNERS,
    OWNERS,
    SOME,
    SOME_MANY,
    THE,
    THE_MANY,
    TRANSPORT,
    WE,
    A,
    Adjective,
    Choices,
    I,
    Phrase,
    Text,
    assemble,
    finish,
    join,
    join_words,
    mark,
    name,
    noun_phrase,
    nouns,
    person,
    pronoun,
    subject,
)
from .phrases import BY_ENGLISH as NOUN

# states that Spanish and French express with "have": copula of to_be; Spanish, with very; French, with very
SPECIAL = {
    "hungry": ("t", "hambre", "mucha hambre", "faim", "très faim"),
    "thirsty": ("t", "sed", "mucha sed", "soif", "très soif"),
    "sleepy": ("t", "sueño", "mucho sueño", "sommeil", "très sommeil"),
    "right": ("t", "razón", "", "raison", ""),
    "cold": ("t", "frío", "mucho frío", "froid", "très froid"),
    "afraid": ("t", "miedo", "mucho miedo", "peur", "très peur"),
}
DEGREES = [Text("very", "muy", "très"), Text("too", "demasiado", "trop"), Text("really", "realmente", "vraiment")]


def describable(choices: Choices) -> Phrase:
    """Returns a noun phrase that an adjective can describe."""
    kind = choices.one("kind", ["pronoun", "person", "name", "thing"], [2.5, 2, 1, 6])
    if kind == "pronoun":
        return pronoun(choices)
    if kind == "name":
        return name(choices)
    if kind == "person":
        return person(choices)
    among = [
        noun for noun in nouns("animal", "thing", "place", "food", "drink", "info", "event") if "meal" not in noun.tags
    ]
    return noun_phrase(choices, among, [THE, THE, THE, THE, THE_MANY, *DEFINITE], 0.2)


WITHOUT_DEGREE = set(
    "perfect closed broken delicious wonderful terrible open ready empty full "
    "red green black white blue yellow gray brown".split()
)


def predicate_of(choices: Choices, who: Phrase) -> tuple[Adjective, Text]:
    """Returns an adjective that agrees with `who`, perhaps with very."""
    kind = who.noun.kind if who.noun else "person"
    # "empty" stands only next to its noun
    fitting = [each for each in ADJECTIVES if kind in each.kinds and each.en != "empty"]
    adjective = choices.one("adjective", fitting)
    degree = NOTHING
    if adjective.en not in WITHOUT_DEGREE and choices.chance("degree", 0.45):
        degree = choices.one("how", DEGREES)
    text = Text(adjective.en, adjective.spanish(who.es_gender, who.many), adjective.french(who.fr_gender, who.many))
    return adjective, join(degree, text)


def predicate(choices: Choices) -> Text:
    """The old bridge is very beautiful; were the shops closed?"""
    text, question = predicate_clause(choices, True)
    return finish(text, "?" if question else ".")


def predicate_clause(choices: Choices, questions: bool) -> tuple[Text, bool]:
    who = describable(choices.under("subject"))
    adjective, what = predicate_of(choices, who)
    form = choices.one("form", ["statement", "negative", "question"], [6, 1.5, 1.5]) if questions else "statement"
    past = choices.chance("past", 0.3)
    return to_be(who, adjective.copula, past, form == "negative", form == "question", what), form == "question"


def state(choices: Choices, past: bool) -> Text:
    """Returns a state without punctuation: the train was late, I was hungry, the house was very old."""
    kind = choices.one("state", ["late", "special", "adjective"], [2, 1.5, 4])
    if kind == "late":
        which = choices.under("subject")
        who = (
            noun_phrase(which, TRANSPORT, [THE, THE, *ONE_OWNERS], 0)
            if which.one("kind", ["vehicle", "other"]) == "vehicle"
            else subject(which)
        )
        return _late(who, past)
    if kind == "special":
        who = subject(choices.under("subject"))
        return _special(choices, who, past)
    who = describable(choices.under("subject"))
    adjective, what = predicate_of(choices, who)
    return to_be(who, adjective.copula, past, False, False, what)


def _late(who: Phrase, past: bool) -> Text:
    """Late: Spanish uses a verb (llegó tarde), French an expression (en retard)."""
    base = to_be(who, "e", past, False, False, Text("late", "", "en retard"))
    arrives = (
        ("llegué", "llegaste", "llegó", "llegamos", "llegaron")
        if past
        else ("llego", "llegas", "llega", "llegamos", "llegan")
    )[who.es_person]
    return base._replace(es=join_words(who.text.es, arrives, "tarde"))


def _special(choices: Choices, who: Phrase, past: bool, negative: bool = False, question: bool = False) -> Text:
    what = choices.one("special", list(SPECIAL))
    copula, es, es_very, fr, fr_very = SPECIAL[what]
    very = bool(es_very) and choices.chance("very", 0.4) and not negative
    return to_be(
        who,
        copula,
        past,
        negative,
        question,
        Text("very " + what if very else what, es_very if very else es, fr_very if very else fr),
    )


def feeling(choices: Choices) -> Text:
    """I am very hungry; are you right? My sister is late."""
    who = subject(choices.under("subject"))
    past = choices.chance("past", 0.3)
    if choices.chance("late", 0.25):
        return finish(_late(who, past))
    form = choices.one("form", ["statement", "negative", "question"], [6, 1.5, 1.5])
    return finish(_special(choices, who, past, form == "negative", form == "question"), mark(form))


def where_is(choices: Choices) -> Text:
    """Where is the station?"""
    kind = choices.one("kind", ["place", "thing", "person", "event"], [4, 4, 2, 1])
    if kind == "person":
        who = subject(choices.under("subject"))
    else:
        tags = {"place": ("place",), "thing": ("carry", "animal", "vehicle", "food"), "event": ("event",)}[kind]
        among = [noun for noun in nouns(*tags) if "meal" not in noun.tags]
        who = noun_phrase(choices.under("subject"), among, [THE, THE, THE, THE_MANY, *OWNERS], 0.25)
    past = choices.chance("past", 0.1)
    copula = "s" if kind == "event" else "e"
    text = to_be(who, copula, past, False, True, NOTHING)
    fr = text.fr.replace("est-ce que ", "", 1)
    subject_fr, verb = fr.rsplit(" ", 1)
    fr = f"où {verb} {subject_fr}" if not who.pronoun else f"où {verb}-{subject_fr}"
    if who.person == I:
        fr = "où suis-je" if not past else "où étais-je"
    return finish(Text("where " + text.en, "dónde " + text.es, fr), "?")


def located(choices: Choices) -> Text:
    """The keys are on the table; my brother was at the station."""
    if choices.one("kind", ["thing", "person"], [3, 2]) == "person":
        who = subject(choices.under("subject"))
    else:
        who = noun_phrase(
            choices.under("subject"), nouns("carry", "animal", "vehicle", "food", "drink"), DEFINITE, 0.25
        )
    form = choices.one("form", ["statement", "negative", "question"], [6, 1, 2])
    past = choices.chance("past", 0.3)
    where = at_place(choices) if who.human or who.pronoun or choices.chance("in place", 0.4) else _beside_thing(choices)
    return finish(to_be(who, "e", past, form == "negative", form == "question", where), mark(form))


INSIDE = [Text("on", "sobre", "sur"), Text("in", "en", "dans"), Text("under", "debajo de", "sous"), *PREPOSITIONS]
ON = {
    "on": ("table", "chair", "bed", "book", "box"),
    "in": ("box", "bag", "suitcase", "basket", "car", "bottle", "cup"),
    "under": ("table", "chair", "bed", "tree", "car", "book", "blanket"),
}


def _beside_thing(choices: Choices) -> Text:
    """on the table, in my bag, under the old chair, behind the door."""
    choices = choices.under("spot")
    preposition = choices.one("preposition", INSIDE)
    among = (
        [NOUN[each] for each in ON[preposition.en]]
        if preposition.en in ON
        else nouns("seat", "fixed", "vehicle", "plant", "place")
    )
    return join(preposition, noun_phrase(choices, among, [THE, THE, THE, *ONE_OWNERS], 0.2).text)


def there_is(choices: Choices) -> Text:
    """There are many children in the garden."""
    past = choices.chance("past", 0.2)
    form = choices.one("form", ["statement", "negative", "question"], [7, 1, 2])
    negative = form == "negative"
    determiners = [A, SOME, SOME_MANY, MANY, COUNTED] if form == "statement" else [A, MANY]
    among = [
        noun
        for noun in nouns("person", "animal", "thing", "food", "place", "drink")
        if "kin" not in noun.tags and not (noun.mass and negative)
    ]
    thing = noun_phrase(choices.under("thing"), among, determiners if form != "question" else [A], 0.25)
    if thing.noun and thing.noun.mass and form == "question":
        return there_is(choices)
    be = ("were" if thing.many else "was") if past else ("are" if thing.many else "is")
    es_be, fr_be = ("había", "avait") if past else ("hay", "a")
    es_thing = thing.text.es
    if negative and thing.text.en.startswith(("a ", "an ")):
        es_thing = es_thing.split(" ", 1)[1]
    where = at_place(choices) if choices.chance("in place", 0.7) else _beside_thing(choices)
    fr_thing = thing.fr_negative if negative and thing.fr_negative else thing.text.fr
    if form == "question":
        head = Text(f"{be} there", es_be, f"est-ce qu'il y {fr_be}")
    elif negative:
        head = Text(f"there {be} not", "no " + es_be, f"il n'y {fr_be} pas")
    else:
        head = Text(f"there {be}", es_be, f"il y {fr_be}")
    return finish(join(head, Text(thing.text.en, es_thing, fr_thing), where), mark(form))


def likes(choices: Choices) -> Text:
    """I like coffee: me gusta el café."""
    who = subject(choices.under("subject"), ("pronoun", "person", "name"))
    thing = choices.under("object")
    if thing.one("kind", ["generic", "own"]) == "generic":
        noun = thing.one("noun", [noun for noun in nouns("food", "drink", "animal") if noun.en != "mouse"])
        generic = assemble(noun, THE if noun.mass else THE_MANY)
        what = generic.text._replace(en=noun.en if noun.mass else noun.en_plural)
        many = generic.many
    else:
        phrase = noun_phrase(thing, nouns("thing", "place", "info"), [THE, THE_MANY, *DEFINITE[2:]], 0.4)
        what, many = phrase.text, phrase.many
    form = choices.one("form", ["statement", "negative", "question"], [5, 2, 2])
    negative, question = form == "negative", form == "question"
    clitic = ("me", "te", "le", "nos", "les")[who.es_person]
    whom = ("", "", "a él", "a ella", "", "a ellos")[who.person] if who.pronoun else "a " + who.text.es
    es = join_words(whom, "no" if negative else "", clitic, "gustan" if many else "gusta", what.es)
    verb = ("aime", "aime", "aimons", "aimez", "aiment")[who.fr_person]
    ne, pas = ("ne", "pas") if negative else ("", "")
    fr = join_words("est-ce que" if question else "", who.text.fr, ne, verb, pas, what.fr)
    do = "does" if who.third else "do"
    if question:
        en = f"{do} {who.text.en} like {what.en}"
    else:
        likes_ = f"{do} not like" if negative else "likes" if who.third else "like"
        en = f"{who.text.en} {likes_} {what.en}"
    return finish(Text(en, es, fr), mark(form))


def comparison(choices: Choices) -> Text:
    """The apples are cheaper than the oranges; is Anna older than my brother?"""
    kind = choices.one("kind", ["person", "animal", "thing", "place", "food", "info", "event"], [3, 1, 3, 2, 1, 1, 1])
    among = [noun for noun in nouns(kind) if not noun.mass and "meal" not in noun.tags]
    determiners = [THE, THE, THE, THE_MANY, *OWNERS, *OWNERS]
    first = (
        name(choices.under("first"))
        if kind == "person" and choices.chance("named", 0.4)
        else noun_phrase(choices.under("first"), among, determiners, 0)
    )
    second = noun_phrase(choices.under("second"), [noun for noun in among if noun is not first.noun], determiners, 0)
    adjective = choices.one("adjective", [each for each in ADJECTIVES if each.comparative and kind in each.kinds])
    es_word, fr_word = adjective.spanish(first.es_gender, first.many), adjective.french(first.fr_gender, first.many)
    es = {"good": "mejores" if first.many else "mejor"}.get(adjective.en, "más " + es_word)
    fr = {
        "good": {"bon": "meilleur", "bonne": "meilleure", "bons": "meilleurs", "bonnes": "meilleures"}.get(fr_word, "")
    }.get(adjective.en, "plus " + fr_word)
    form = choices.one("form", ["statement", "negative", "question"], [6, 1, 1.5])
    past = choices.chance("past", 0.15)
    text = Text(
        f"{adjective.comparative} than {second.text.en}", f"{es} que {second.text.es}", f"{fr} que {second.text.fr}"
    )
    return finish(
        to_be(first, adjective.copula, past, form == "negative", form == "question", text),
        mark(form),
    )


def profession(choices: Choices) -> Text:
    """My sister is a doctor."""
    who = subject(choices.under("subject"))
    row = choices.one("profession", [Text(*row) for row in words.rows(words.PROFESSIONS)])
    female = who.es_gender == "f"
    es, fr = row.es.split("/")[female], row.fr.split("/")[female]
    if who.many or who.person == WE:
        es, fr = spanish.plural(es), french.plural(fr)
    en = english.plural(row.en) if who.many or who.person == WE else english.article(row.en)
    form = choices.one("form", ["statement", "negative", "question"], [6, 1.5, 1.5])
    past = choices.chance("past", 0.15)
    return finish(
        to_be(who, "s", past, form == "negative", form == "question", Text(en, es, fr)),
        mark(form),
    )
