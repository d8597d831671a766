"""Rules for statements and questions about people and things: clauses, predicates, places, opinions, comparisons."""

from collections.abc import Sequence

from . import english, french, spanish, words
from .adverbials import (
    PREPOSITIONS,
    UNITS,
    amount,
    at_clock,
    at_place,
    circumstance,
    goal,
    when,
    year,
)
from .clauses import (
    ADVERBS,
    BY_ENGLISH,
    CLITICS,
    DAILY,
    GIVING,
    INTRANSITIVE,
    IT,
    MOTION,
    NO_PROGRESSIVE,
    VERBS,
    Action,
    choose_object,
    clause,
    each_other,
    english_be,
    object_of,
    to_be,
)
from .phrases import (
    ADJECTIVES,
    CITIES,
    COUNTED,
    DEFINITE,
    HE,
    MANY,
    MANY_OWNERS,
    NAMES,
    ONE_OWNERS,
    OWNERS,
    SOME,
    SOME_MANY,
    THE,
    THE_MANY,
    THEY,
    WE,
    YOU,
    A,
    Adjective,
    Choices,
    I,
    Phrase,
    Text,
    assemble,
    couple,
    finish,
    join,
    name,
    noun_phrase,
    nouns,
    person,
    pronoun,
    subject,
    texts,
)
from .phrases import BY_ENGLISH as NOUN

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


def _tense(choices: Choices, action: Action, who: Phrase, without: Sequence[str] = ()) -> str:
    weights = {tense: weight for tense, weight in TENSE_WEIGHTS.items() if tense not in without}
    if action.en in NO_PROGRESSIVE:
        weights.pop("progressive", None)
    if action.en == "read" and not who.third:
        # "they read" is present and past
        weights.pop("present", None)
    if action.en in ("want", "need", "hate", "love", "have", "know"):
        weights = {"present": 4, "past": 2}
    return choices.one("tense", list(weights), list(weights.values()))


def transitive(choices: Choices) -> Text:
    """The teacher opened the window in the kitchen; does she need a key?"""
    who = subject(choices.under("subject"))
    action = choices.one("verb", VERBS)
    tense = _tense(choices, action, who)
    form = choices.one("form", ["statement", "negative", "question"], [7, 2, 2])
    what = choose_object(choices.under("object"), action, negative=form == "negative")
    adverb = (
        choices.one("adverb", ADVERBS)
        if tense == "present" and form == "statement" and choices.chance("often", 0.25)
        else None
    )
    if adverb and adverb.en == "never":
        what = choose_object(choices.under("object"), action, negative=True)
    verbal = clause(who, action, tense, what, form == "negative", form == "question", adverb=adverb)
    text = join(verbal, circumstance(choices, tense, spatial=action.en not in ("know", "have")))
    return finish(text, "?" if form == "question" else ".")


def intransitive(choices: Choices) -> Text:
    """The children slept at home last night."""
    who = subject(choices.under("subject"))
    action = choices.one("verb", INTRANSITIVE)
    tense = _tense(choices, action, who, ("progressive",) if action.en in ("live", "stay") else ())
    form = choices.one("form", ["statement", "negative", "question"], [7, 2, 2])
    adverb = (
        choices.one("adverb", ADVERBS)
        if tense == "present" and form == "statement" and choices.chance("often", 0.2)
        else None
    )
    verbal = clause(who, action, tense, None, form == "negative", form == "question", adverb=adverb)
    after = (
        at_place(choices)
        if action.en in ("live", "stay")
        else circumstance(choices, tense, with_company=action.en != "sleep")
    )
    manner = (
        choices.one("manner", MANNERS[:2] if tense == "past" else MANNERS)
        if action.en in MANNERED and choices.chance("how", 0.3)
        else Text("", "", "")
    )
    return finish(join(verbal, manner, after), "?" if form == "question" else ".")


MANNERS = texts("""
slowly; lentamente; lentement
quietly; en silencio; en silence
very well; muy bien; très bien
a lot; mucho; beaucoup
too much; demasiado; trop""")
MANNERED = {"sleep", "work", "sing", "dance", "swim", "run", "walk", "travel", "eat", "study", "talk", "play"}


def motion(choices: Choices) -> Text:
    """We went to the market with my friend yesterday."""
    who = subject(choices.under("subject"))
    action = choices.one("verb", MOTION)
    tense = _tense(choices, action, who)
    form = choices.one("form", ["statement", "negative", "question"], [7, 2, 2])
    where = goal(choices, action.goal)
    verbal = clause(who, action, tense, where, form == "negative", form == "question")
    time = when(choices, tense) if choices.chance("timed", 0.6) else Text("", "", "")
    return finish(join(verbal, time), "?" if form == "question" else ".")


def daily(choices: Choices) -> Text:
    """I get up at seven o'clock every day."""
    who = subject(choices.under("subject"))
    action = choices.one("verb", DAILY)
    tense = choices.one("tense", ["present", "past", "future", "must", "want", "can"], [5, 4, 2, 1, 1, 0.5])
    form = choices.one("form", ["statement", "negative", "question"], [8, 1, 2])
    adverb = (
        choices.one("adverb", ADVERBS)
        if tense == "present" and form == "statement" and choices.chance("often", 0.2)
        else None
    )
    verbal = clause(who, action, tense, None, form == "negative", form == "question", adverb=adverb)
    time = at_clock(choices.under("time")) if choices.chance("clock", 0.7) else Text("", "", "")
    if choices.chance("timed", 0.4) or not time.en:
        again = when(choices, tense)
        time = join(time, again) if not (time.en and again.en.startswith("at ")) else time
    return finish(join(verbal, time), "?" if form == "question" else ".")


def giving(choices: Choices) -> Text:
    """She gave the book to her brother."""
    who = subject(choices.under("subject"))
    action = choices.one("verb", GIVING)
    tense = _tense(choices, action, who, ("going", "progressive", "should"))
    thing = object_of(
        action,
        noun_phrase(
            choices.under("object"), list(action.objects), [THE, THE, A, A, SOME, THE_MANY, *OWNERS, COUNTED], 0.25
        ),
    )
    if choices.chance("pronoun", 0.3):
        # to whom a pronoun: me dio el libro, il m'a donné le livre
        others = [
            each
            for each in DATIVES
            if (each.en == "me") <= (who.person != I)
            and (each.en == "us") <= (who.person not in (I, WE))
            and (each.en == "you") <= (who.person != YOU)
        ]
        whom = choices.one("whom", [each for each in others if not (who.person == WE and each.en == "me")])
        text = _dative(who, action, tense, thing, whom)
    else:
        to = (
            noun_phrase(choices.under("to"), nouns("person"), [THE, THE, *OWNERS], 0.1)
            if choices.one("receiver", ["person", "name"], [3, 1]) == "person"
            else name(choices.under("to"))
        )
        le = "les" if to.many else "le"
        whom = Text("", le, "")
        text = _dative(who, action, tense, thing, whom)
        text = join(text, Text("to " + to.text.en, "a " + to.text.es, "à " + to.text.fr))
    return finish(join(text, when(choices, tense) if choices.chance("timed", 0.35) else Text("", "", "")))


DATIVES = texts("""
me; me; me
you; te; vous
him; le; lui
her; le; lui
us; nos; nous
them; les; leur""")


def _dative(who: Phrase, action: Action, tense: str, thing: Text, whom: Text) -> Text:
    from .clauses import Clitic

    clitic = Clitic("", whom.es, whom.fr, "m", False)
    plain = clause(who, action, tense, thing, clitic=clitic if whom.en else Clitic("", whom.es, "", "m", False))
    return plain._replace(en=f"{plain.en} to {whom.en}") if whom.en else plain


def with_pronoun(choices: Choices) -> Text:
    """I saw her in the garden; she cannot find it."""
    who = subject(choices.under("subject"))
    things = choices.chance("thing", 0.4)
    among = [
        action
        for action in VERBS
        if not action.fr.preposition
        and action.en != "have"
        and (any(noun.kind in ("thing", "info") for noun in action.objects) if things else action.takes_people)
    ]
    action = choices.one("verb", among)
    same = {I: ("me", "us"), WE: ("me", "us"), YOU: ("you",)}.get(who.person, ())
    clitic = IT if things else choices.one("whom", [each for each in CLITICS if each.en not in same])
    tense = _tense(choices, action, who)
    form = choices.one("form", ["statement", "negative", "question"], [6, 2, 2])
    text = join(
        clause(who, action, tense, None, form == "negative", form == "question", clitic),
        circumstance(choices, tense, spatial=action.en not in ("know", "have")),
    )
    return finish(text, "?" if form == "question" else ".")


def reciprocal(choices: Choices) -> Text:
    """We see each other every day."""
    who = choices.one("who", ["pronoun", "couple", "persons"], [3, 1, 1])
    phrase = (
        pronoun(choices, (WE, THEY))
        if who == "pronoun"
        else couple(choices)
        if who == "couple"
        else noun_phrase(choices.under("subject"), nouns("person"), [THE_MANY, *MANY_OWNERS], 0.1)
    )
    action = choices.one(
        "verb",
        [
            BY_ENGLISH[verb]
            for verb in (
                "see",
                "help",
                "call",
                "love",
                "hate",
                "know",
                "understand",
                "listen to",
                "wait for",
                "look for",
                "invite",
            )
        ],
    )
    tense = _tense(choices, action, phrase, ("progressive", "want", "going"))
    return finish(
        join(
            each_other(phrase, action, tense),
            circumstance(choices, tense, spatial=action.en not in ("know", "love", "hate")),
        )
    )


SPECIAL = {
    "hungry": ("t", "hambre", "mucha hambre", "faim", "très faim"),
    "thirsty": ("t", "sed", "mucha sed", "soif", "très soif"),
    "sleepy": ("t", "sueño", "mucho sueño", "sommeil", "très sommeil"),
    "right": ("t", "razón", "", "raison", ""),
    "cold": ("t", "frío", "mucho frío", "froid", "très froid"),
    "afraid": ("t", "miedo", "mucho miedo", "peur", "très peur"),
}
DEGREES = texts("""
very; muy; très
too; demasiado; trop
really; realmente; vraiment
so; tan; si""")
PLAIN_DEGREES = [Text("very", "muy", "très"), Text("too", "demasiado", "trop"), Text("really", "realmente", "vraiment")]


def _describable(choices: Choices) -> Phrase:
    """Something to say an adjective of."""
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


def _predicate(choices: Choices, who: Phrase) -> tuple[Adjective, Text]:
    """An adjective for who, agreeing, perhaps with very."""
    kind = who.noun.kind if who.noun else "person"
    fitting = [each for each in ADJECTIVES if kind in each.kinds and (each.copula == "s" or each.en not in ("empty",))]
    adjective = choices.one("adjective", fitting)
    degree = Text("", "", "")
    if adjective.en not in WITHOUT_DEGREE and choices.chance("degree", 0.45):
        degree = choices.one("how", PLAIN_DEGREES)
    text = Text(adjective.en, adjective.spanish(who.es_gender, who.many), adjective.french(who.fr_gender, who.many))
    return adjective, join(degree, text)


def predicate(choices: Choices) -> Text:
    """The old bridge is very beautiful; were the shops closed?"""
    text, question = _predicate_clause(choices, True)
    return finish(text, "?" if question else ".")


def _predicate_clause(choices: Choices, questions: bool) -> tuple[Text, bool]:
    who = _describable(choices.under("subject"))
    adjective, what = _predicate(choices, who)
    form = choices.one("form", ["statement", "negative", "question"], [6, 1.5, 1.5]) if questions else "statement"
    past = choices.chance("past", 0.3)
    return to_be(who, adjective.copula, past, form == "negative", form == "question", what), form == "question"


def _state(choices: Choices, past: bool) -> Text:
    """A state without mark: the train was late, I was hungry, the house was very old."""
    kind = choices.one("state", ["late", "special", "adjective"], [2, 1.5, 4])
    if kind == "late":
        among = [noun for noun in nouns("vehicle") if noun.en in ("train", "bus", "plane", "boat")]
        which = choices.under("subject")
        who = (
            noun_phrase(which, among, [THE, THE, *ONE_OWNERS], 0)
            if which.one("kind", ["vehicle", "other"]) == "vehicle"
            else subject(which)
        )
        return _late(who, past)
    if kind == "special":
        who = subject(choices.under("subject"))
        return _special(choices, who, past)
    who = _describable(choices.under("subject"))
    adjective, what = _predicate(choices, who)
    return to_be(who, adjective.copula, past, False, False, what)


def _late(who: Phrase, past: bool) -> Text:
    """Spanish says that one arrives late: llegó tarde; French that one is en retard."""
    base = to_be(who, "e", past, False, False, Text("late", "", "en retard"))
    arrives = (
        ("llegué", "llegaste", "llegó", "llegamos", "llegaron")
        if past
        else ("llego", "llegas", "llega", "llegamos", "llegan")
    )[who.es_person]
    return base._replace(es=" ".join(filter(None, [who.text.es, arrives, "tarde"])))


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
    return finish(
        _special(choices, who, past, form == "negative", form == "question"), "?" if form == "question" else "."
    )


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
    text = to_be(who, copula, past, False, True, Text("", "", ""))
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
    return finish(
        to_be(who, "e", past, form == "negative", form == "question", where), "?" if form == "question" else "."
    )


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
    return finish(join(head, Text(thing.text.en, es_thing, fr_thing), where), "?" if form == "question" else ".")


OPINIONS = texts("""
I think that; creo que; je crois que
I know that; sé que; je sais que
I am sure that; estoy seguro de que; je suis sûr que
we know that; sabemos que; nous savons que
we think that; creemos que; nous croyons que
he says that; él dice que; il dit que
she says that; ella dice que; elle dit que
they say that; ellos dicen que; ils disent que
everyone knows that; todos saben que; tout le monde sait que""")


def opinion(choices: Choices) -> Text:
    """I think that the old bridge is very beautiful."""
    start = choices.one("start", OPINIONS, [6, 2, 1, 1, 1.5, 1, 1, 0.7, 0.7])
    inner = choices.one("inner", ["predicate", "state", "action"], [5, 1, 2])
    if inner == "predicate":
        return finish(join(start, _predicate_clause(choices, False)[0]))
    if inner == "state":
        return finish(join(start, _state(choices, False)))
    who = subject(choices.under("subject"))
    action = choices.one("verb", VERBS)
    tense = _tense(choices, action, who, ("progressive", "want"))
    return finish(join(start, clause(who, action, tense, choose_object(choices.under("object"), action))))


def because(choices: Choices) -> Text:
    """We waited at the station because the train was late."""
    who = subject(choices.under("subject"))
    past = not choices.chance("present", 0.35)
    tense = "past" if past else "present"
    negative = choices.chance("negative", 0.2)
    if choices.chance("transitive", 0.6):
        action = choices.one("verb", VERBS)
        what = choose_object(choices.under("object"), action, negative)
    else:
        action = choices.one("verb", [verb for verb in INTRANSITIVE if verb.en not in ("live",)])
        what = at_place(choices) if choices.chance("somewhere", 0.6) or action.en == "stay" else Text("", "", "")
    first = clause(who, action, tense, what, negative)
    return finish(join(first, Text("because", "porque", "parce que"), _state(choices.under("why"), past)))


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
    es = " ".join(filter(None, [whom, "no" if negative else "", clitic, "gustan" if many else "gusta", what.es]))
    verb = ("aime", "aime", "aimons", "aimez", "aiment")[who.fr_person]
    fr = " ".join(
        filter(
            None,
            [
                "est-ce que" if question else "",
                who.text.fr,
                "ne" if negative else "",
                verb,
                "pas" if negative else "",
                what.fr,
            ],
        )
    )
    do = "does" if who.third else "do"
    en = (
        f"{do} {who.text.en} like {what.en}"
        if question
        else f"{who.text.en} {do} not like {what.en}"
        if negative
        else f"{who.text.en} {'likes' if who.third else 'like'} {what.en}"
    )
    return finish(Text(en, es, fr), "?" if question else ".")


def comparison(choices: Choices) -> Text:
    """The train is faster... the apples are cheaper than the oranges."""
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
        "?" if form == "question" else ".",
    )


PARTS = {
    "door": ("house", "school", "car", "church", "garage", "hotel", "office", "shop"),
    "window": ("house", "kitchen", "car", "room", "bedroom", "train"),
    "key": ("house", "car", "room", "office", "suitcase", "box", "garage"),
    "price": ("ticket", "book", "car", "house", "coffee", "bread", "shirt", "dinner"),
    "color": ("car", "house", "shirt", "door", "flower", "dress", "hat"),
    "name": ("street", "book", "hotel", "city", "song", "movie", "river", "village"),
    "story": ("city", "castle", "house", "book", "village"),
    "result": ("exam", "game", "project", "meeting"),
    "garden": ("house", "school", "hotel", "castle", "museum"),
    "map": ("city", "museum", "island", "park"),
}


def part_of(choices: Choices) -> Text:
    """The door of the house is open; I know the name of the street."""
    part = NOUN[choices.one("part", list(PARTS))]
    whole = noun_phrase(
        choices.under("whole"), [NOUN[each] for each in PARTS[part.en]], [THE, THE, THE, *ONE_OWNERS], 0.1
    )
    head = assemble(part, THE)
    of = Text(
        f"{head.text.en} of {whole.text.en}", f"{head.text.es} de {whole.text.es}", f"{head.text.fr} de {whole.text.fr}"
    )
    phrase = Phrase(of, HE, head.es_gender, head.fr_gender, noun=part)
    if choices.chance("as object", 0.35):
        action = choices.one(
            "verb",
            [verb for verb in VERBS if part in verb.objects and verb.en not in ("have", "take", "wear", "build")],
        )
        who = subject(choices.under("who"))
        return finish(clause(who, action, _tense(choices, action, who, ("progressive",)), object_of(action, phrase)))
    adjective, what = _predicate(choices, phrase)
    past = choices.chance("past", 0.2)
    return finish(to_be(phrase, adjective.copula, past, False, False, what))


def belongings(choices: Choices) -> Text:
    """Anna's book is on the table; Tom's sister bought a car."""
    owner = choices.one("owner", NAMES)
    thing = choices.one("thing", nouns("kin", "carry", "vehicle"))
    head = assemble(thing, THE)
    phrase = Phrase(
        Text(f"{owner}'s {thing.en}", f"{head.text.es} de {owner}", f"{head.text.fr} de {owner}"),
        HE,
        thing.es_gender,
        thing.fr_gender,
        human=thing.kind == "person",
        noun=thing,
    )
    kind = choices.one("kind", ["does", "object", "predicate"], [2, 2, 2])
    if kind == "does" and phrase.human:
        action = choices.one("verb", VERBS)
        tense = _tense(choices, action, phrase)
        return finish(
            join(
                clause(phrase, action, tense, choose_object(choices.under("object"), action)),
                when(choices, tense) if choices.chance("timed", 0.4) else Text("", "", ""),
            )
        )
    if kind == "object":
        action = choices.one("verb", [verb for verb in VERBS if thing in verb.objects])
        who = subject(choices.under("who"))
        tense = _tense(choices, action, who)
        return finish(
            join(clause(who, action, tense, object_of(action, phrase)), circumstance(choices, tense, spatial=False))
        )
    adjective, what = _predicate(choices, phrase)
    return finish(to_be(phrase, adjective.copula, choices.chance("past", 0.2), False, False, what))


WHY = [
    Text("why", "por qué", "pourquoi"),
    Text("where", "dónde", "où"),
    Text("when", "cuándo", "quand"),
    Text("how", "cómo", "comment"),
]


def wh_question(choices: Choices) -> Text:
    """Who opened the door? What did she buy? Where did Anna find the key? Why is he sad?"""
    kind = choices.one("kind", ["who", "what", "adverb", "why"], [3, 3, 3, 1.5])
    if kind == "why":
        who = _describable(choices.under("subject"))
        adjective, what = _predicate(choices, who)
        return finish(join(WHY[0], to_be(who, adjective.copula, choices.chance("past", 0.3), False, True, what)), "?")
    if kind == "who":
        action = choices.one("verb", VERBS)
        someone = Phrase(Text("who", "quién", "qui"), HE)
        tense = _tense(choices, action, someone, ("progressive", "going", "want"))
        return finish(
            join(
                clause(someone, action, tense, choose_object(choices.under("object"), action)),
                when(choices, tense) if choices.chance("timed", 0.3) else Text("", "", ""),
            ),
            "?",
        )
    who = subject(choices.under("subject"))
    action = choices.one(
        "verb",
        [
            verb
            for verb in VERBS
            if not (
                kind == "what"
                and (verb.fr.preposition or all(noun.kind in ("person", "place", "animal") for noun in verb.objects))
            )
        ],
    )
    tense = _tense(choices, action, who, ("progressive",))
    if kind == "what":
        text = clause(who, action, tense, None, question=True)
        en = _what_english(action, text.en)
        time = when(choices, tense) if choices.chance("timed", 0.3) else Text("", "", "")
        return finish(join(Text("what " + en, "qué " + text.es, "qu'" + text.fr), time), "?")
    question = choices.one("question", WHY)
    if action.en in ("know", "have", "want", "need", "love", "hate") and question.en != "why":
        question = WHY[0]
    return finish(
        join(question, clause(who, action, tense, choose_object(choices.under("object"), action), question=True)), "?"
    )


def _what_english(action: Action, english_question: str) -> str:
    return english_question


def speaks(choices: Choices) -> Text:
    """My sister studies music; does he speak French?"""
    who = subject(choices.under("subject"))
    language = choices.one("kind", ["language", "subject"]) == "language"
    what = choices.one("what", texts(words.LANGUAGES) if language else texts(words.SUBJECTS_TAUGHT))
    tense = choices.one("tense", ["present", "can", "want", "past", "must"], [5, 1, 1.5, 1, 0.5])
    form = choices.one("form", ["statement", "negative", "question"], [5, 2, 2])
    if language:
        verb = choices.one("verb", LANGUAGE_VERBS)
        thing = what if verb.en == "speak" else Text(what.en, what.es, "le " + what.fr)
    else:
        sport = what.en in ("football", "tennis")
        verb = PLAY if sport else choices.one("verb", SUBJECT_VERBS)
        thing = Text(what.en, ("a " if sport else "") + what.es, ("à " if sport else "") + what.fr)
    text = clause(who, verb, tense, thing, form == "negative", form == "question")
    return finish(
        join(text, when(choices, tense) if choices.chance("timed", 0.25) else Text("", "", "")),
        "?" if form == "question" else ".",
    )


def _plain_action(en: str, es: str, fr: str) -> Action:
    return Action(english.verb(en), spanish.verb(es), french.verb(fr))


STUDY = _plain_action("study", "estudiar", "étudier")
TEACH = _plain_action("teach/teaches/taught", "enseñar", "enseigner")
LEARN = _plain_action("learn", "aprender", "apprendre appris apprends apprend apprenons apprenez apprennent")
SPEAK = _plain_action("speak/speaks/spoke", "hablar", "parler")
PLAY = _plain_action("play", "jugar ue", "jouer")
LANGUAGE_VERBS = [SPEAK, LEARN, STUDY, TEACH]
SUBJECT_VERBS = [STUDY, TEACH, LEARN]
BORN = _plain_action("be", "nacer yo=nazco", "naître né nais naît naissons naissez naissent etre")


def born(choices: Choices) -> Text:
    """She was born in nineteen ninety five in London."""
    who = subject(choices.under("subject"), ("pronoun", "person", "name"))
    text = clause(who, BORN, "past")
    en = f"{who.text.en} {english_be(who, True)} born"
    where, time = Text("", "", ""), Text("", "", "")
    kind = choices.one("kind", ["year", "place", "both"], [3, 1, 1])
    if kind != "year":
        city = choices.one("city", CITIES)
        where = Text("in " + city.en, "en " + city.es, "à " + city.fr)
    if kind != "place":
        time = year(choices)
    return finish(join(text._replace(en=en), where, time))


def profession(choices: Choices) -> Text:
    """My sister is a doctor."""
    who = subject(choices.under("subject"))
    row = choices.one("profession", [Text(*row) for row in words.rows(words.PROFESSIONS)])
    female = who.es_gender == "f"
    es, fr = row.es.split("/")[female], row.fr.split("/")[female]
    if who.many:
        es, fr = spanish.plural(es), french.plural(fr)
    elif who.person == WE:
        es, fr = spanish.plural(es), french.plural(fr)
    en = english.plural(row.en) if who.many or who.person == WE else english.article(row.en)
    form = choices.one("form", ["statement", "negative", "question"], [6, 1.5, 1.5])
    past = choices.chance("past", 0.15)
    return finish(
        to_be(who, "s", past, form == "negative", form == "question", Text(en, es, fr)),
        "?" if form == "question" else ".",
    )


def would_like(choices: Choices) -> Text:
    """I would like a cup of coffee; do you have any... bread."""
    kind = choices.one("kind", ["container", "thing", "to do"], [3, 2, 3])
    who = (
        pronoun(choices.under("subject"), (I, WE))
        if choices.chance("first", 0.8)
        else subject(choices.under("subject"))
    )
    es = ("quisiera", "quisieras", "quisiera", "quisiéramos", "quisieran")[who.es_person]
    fr = ("voudrais", "voudrait", "voudrions", "voudriez", "voudraient")[who.fr_person]
    start = join(who.text, Text("would like", es, fr))
    if kind == "to do":
        action = choices.one(
            "verb",
            [
                verb
                for verb in VERBS
                if verb.en not in ("want", "need", "lose", "forget", "hate", "break", "love", "receive")
            ],
        )
        what = choose_object(choices.under("object"), action)
        return finish(
            join(
                start,
                Text("to " + action.en, action.es.infinitive, action.fr.infinitive),
                what,
                when(choices, "future") if choices.chance("timed", 0.3) else Text("", "", ""),
            )
        )
    if kind == "container":
        return finish(join(start, _container(choices)))
    return finish(
        join(
            start,
            noun_phrase(
                choices.under("object"), nouns("food", "carry", "drink"), [A, A, COUNTED, THE, SOME_MANY, SOME], 0.35
            ).text,
        )
    )


def _container(choices: Choices) -> Text:
    """a cup of coffee, two bottles of water."""
    holder = NOUN[choices.one("holder", ["cup", "glass", "bottle", "box", "plate"])]
    filled = {
        "cup": ("coffee", "tea", "chocolate"),
        "glass": ("water", "milk", "juice", "wine", "beer"),
        "bottle": ("water", "wine", "beer", "milk"),
        "box": ("chocolate", "tea", "rice"),
        "plate": ("rice", "soup", "meat"),
    }[holder.en]
    content = NOUN[choices.one("content", filled)]
    many = choices.chance("several", 0.35)
    head = assemble(holder, COUNTED, count=choices.number("count", 2, 12)) if many else assemble(holder, A)
    return Text(f"{head.text.en} of {content.en}", f"{head.text.es} de {content.es}", f"{head.text.fr} de {content.fr}")


def buys_container(choices: Choices) -> Text:
    """She bought two bottles of water at the market."""
    who = subject(choices.under("subject"))
    action = choices.one(
        "verb", [BY_ENGLISH[verb] for verb in ("buy", "bring", "drink", "sell", "want", "share", "find")]
    )
    tense = _tense(choices, action, who)
    return finish(join(clause(who, action, tense, _container(choices)), circumstance(choices, tense)))


def for_a_time(choices: Choices) -> Text:
    """We waited for two hours; I have... lived there for three years is left out."""
    who = subject(choices.under("subject"))
    action = choices.one("verb", [verb for verb in INTRANSITIVE if verb.en != "live"])
    tense = choices.one("tense", ["past", "future", "must"], [5, 2, 0.5])
    span = amount(choices, [unit[0].en for unit in UNITS], 2, 30)
    where = at_place(choices) if choices.chance("somewhere", 0.5) else Text("", "", "")
    text = clause(who, action, tense, where, choices.chance("negative", 0.1))
    return finish(join(text, Text("for " + span.en, "durante " + span.es, "pendant " + span.fr)))


IF = texts("""
if it rains; si llueve; s'il pleut
if it snows; si nieva; s'il neige
if it is cold; si hace frío; s'il fait froid
if it is hot; si hace calor; s'il fait chaud
if it is late; si es tarde; s'il est tard
if it is necessary; si es necesario; si c'est nécessaire
if it is possible; si es posible; si c'est possible""")


def conditional(choices: Choices) -> Text:
    """We will stay at home if it rains."""
    who = subject(choices.under("subject"))
    condition = choices.one("if", IF)
    tomorrow = (
        Text("tomorrow", "mañana", "demain")
        if choices.chance("tomorrow", 0.4)
        and condition.en[:5] == "if it"
        and not any(word in condition.en for word in ("late", "necessary", "possible"))
        else Text("", "", "")
    )
    tense = choices.one("tense", ["future", "must", "can"], [5, 1, 1])
    if choices.chance("transitive", 0.5):
        action = choices.one(
            "verb", [verb for verb in VERBS if verb.en not in ("want", "need", "hate", "have", "know", "love")]
        )
        what = choose_object(choices.under("object"), action)
    else:
        action = choices.one("verb", [verb for verb in INTRANSITIVE if verb.en not in ("live", "cry")])
        what = at_place(choices)
    return finish(join(clause(who, action, tense, what), condition, tomorrow))
