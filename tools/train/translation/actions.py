"""Rules for actions: with things, between people, in places and at times."""

from . import english, french, spanish, words
from .adverbials import (
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
    VERBS,
    Action,
    Clitic,
    choose_object,
    choose_tense,
    clause,
    each_other,
    english_be,
    object_of,
)
from .phrases import BY_ENGLISH as NOUN
from .phrases import (
    CITIES,
    COUNTED,
    MANY_OWNERS,
    NOTHING,
    OWNERS,
    SOME,
    SOME_MANY,
    THE,
    THE_MANY,
    THEY,
    WE,
    YOU,
    A,
    Choices,
    I,
    Text,
    assemble,
    couple,
    finish,
    join,
    mark,
    name,
    noun_phrase,
    nouns,
    pronoun,
    subject,
    texts,
)


def _frequency(choices: Choices, tense: str, form: str, probability: float) -> Text | None:
    """Returns never, always, often or sometimes, perhaps, for a statement in the present."""
    suits = tense == "present" and form == "statement" and choices.chance("often", probability)
    return choices.one("adverb", ADVERBS) if suits else None


def transitive(choices: Choices) -> Text:
    """The teacher opened the window in the kitchen; does she need a key?"""
    who = subject(choices.under("subject"))
    action = choices.one("verb", VERBS)
    tense = choose_tense(choices, action, who)
    form = choices.one("form", ["statement", "negative", "question"], [7, 2, 2])
    what = choose_object(choices.under("object"), action, negative=form == "negative")
    adverb = _frequency(choices, tense, form, 0.25)
    if adverb and adverb.en == "never":
        what = choose_object(choices.under("object"), action, negative=True)
    verbal = clause(who, action, tense, what, form == "negative", form == "question", adverb=adverb)
    text = join(verbal, circumstance(choices, tense, spatial=action.en not in ("know", "have")))
    return finish(text, mark(form))


def intransitive(choices: Choices) -> Text:
    """The children slept at home last night."""
    who = subject(choices.under("subject"))
    action = choices.one("verb", INTRANSITIVE)
    tense = choose_tense(choices, action, who, ("progressive",) if action.en in ("live", "stay") else ())
    form = choices.one("form", ["statement", "negative", "question"], [7, 2, 2])
    adverb = _frequency(choices, tense, form, 0.2)
    verbal = clause(who, action, tense, None, form == "negative", form == "question", adverb=adverb)
    after = (
        at_place(choices)
        if action.en in ("live", "stay")
        else circumstance(choices, tense, with_company=action.en != "sleep")
    )
    manner = (
        choices.one("manner", MANNERS[:2] if tense == "past" else MANNERS)
        if action.en in MANNERED and choices.chance("how", 0.3)
        else NOTHING
    )
    return finish(join(verbal, manner, after), mark(form))


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
    tense = choose_tense(choices, action, who)
    form = choices.one("form", ["statement", "negative", "question"], [7, 2, 2])
    where = goal(choices, action.goal)
    verbal = clause(who, action, tense, where, form == "negative", form == "question")
    time = when(choices, tense) if choices.chance("timed", 0.6) else NOTHING
    return finish(join(verbal, time), mark(form))


def daily(choices: Choices) -> Text:
    """I get up at seven o'clock every day."""
    who = subject(choices.under("subject"))
    action = choices.one("verb", DAILY)
    tense = choices.one("tense", ["present", "past", "future", "must", "want", "can"], [5, 4, 2, 1, 1, 0.5])
    form = choices.one("form", ["statement", "negative", "question"], [8, 1, 2])
    adverb = _frequency(choices, tense, form, 0.2)
    verbal = clause(who, action, tense, None, form == "negative", form == "question", adverb=adverb)
    time = at_clock(choices.under("time")) if choices.chance("clock", 0.7) else NOTHING
    if choices.chance("timed", 0.4) or not time.en:
        again = when(choices, tense)
        time = join(time, again) if not (time.en and again.en.startswith("at ")) else time
    return finish(join(verbal, time), mark(form))


def giving(choices: Choices) -> Text:
    """She gave the book to her brother."""
    who = subject(choices.under("subject"))
    action = choices.one("verb", GIVING)
    tense = choose_tense(choices, action, who, ("going", "progressive", "should"))
    thing = object_of(
        action,
        noun_phrase(
            choices.under("object"), list(action.objects), [THE, THE, A, A, SOME, THE_MANY, *OWNERS, COUNTED], 0.25
        ),
    )
    if choices.chance("pronoun", 0.3):
        # to whom a pronoun: me dio el libro, il m'a donné le livre
        whom = choices.one("whom", [each for each in DATIVES if each.en not in OWN_OBJECTS.get(who.person, ())])
        text = clause(who, action, tense, thing, clitic=Clitic("", whom.es, whom.fr, "m", False))
        text = text._replace(en=f"{text.en} to {whom.en}")
    else:
        to = (
            noun_phrase(choices.under("to"), nouns("person"), [THE, THE, *OWNERS], 0.1)
            if choices.one("receiver", ["person", "name"], [3, 1]) == "person"
            else name(choices.under("to"))
        )
        # Spanish announces the receiver with a pronoun: le dio el libro a su hermano
        text = clause(who, action, tense, thing, clitic=Clitic("", "les" if to.many else "le", "", "m", False))
        text = join(text, Text("to " + to.text.en, "a " + to.text.es, "à " + to.text.fr))
    return finish(join(text, when(choices, tense) if choices.chance("timed", 0.35) else NOTHING))


DATIVES = texts("""
me; me; me
you; te; vous
him; le; lui
her; le; lui
us; nos; nous
them; les; leur""")


# Objects that a subject cannot have, because they would need a reflexive ("I saw me")
OWN_OBJECTS = {I: ("me", "us"), WE: ("me", "us"), YOU: ("you",)}


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
    whom = [each for each in CLITICS if each.en not in OWN_OBJECTS.get(who.person, ())]
    clitic = IT if things else choices.one("whom", whom)
    tense = choose_tense(choices, action, who)
    form = choices.one("form", ["statement", "negative", "question"], [6, 2, 2])
    text = join(
        clause(who, action, tense, None, form == "negative", form == "question", clitic),
        circumstance(choices, tense, spatial=action.en not in ("know", "have")),
    )
    return finish(text, mark(form))


MUTUAL = (
    *("see", "help", "call", "love", "hate", "know", "understand"),
    *("listen to", "wait for", "look for", "invite"),
)


def reciprocal(choices: Choices) -> Text:
    """We see each other every day."""
    who = choices.one("who", ["pronoun", "couple", "persons"], [3, 1, 1])
    if who == "pronoun":
        phrase = pronoun(choices, (WE, THEY))
    elif who == "couple":
        phrase = couple(choices)
    else:
        phrase = noun_phrase(choices.under("subject"), nouns("person"), [THE_MANY, *MANY_OWNERS], 0.1)
    action = choices.one("verb", [BY_ENGLISH[verb] for verb in MUTUAL])
    tense = choose_tense(choices, action, phrase, ("progressive", "want", "going"))
    return finish(
        join(
            each_other(phrase, action, tense),
            circumstance(choices, tense, spatial=action.en not in ("know", "love", "hate")),
        )
    )


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
        join(text, when(choices, tense) if choices.chance("timed", 0.25) else NOTHING),
        mark(form),
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
    where, time = NOTHING, NOTHING
    kind = choices.one("kind", ["year", "place", "both"], [3, 1, 1])
    if kind != "year":
        city = choices.one("city", CITIES)
        where = Text("in " + city.en, "en " + city.es, "à " + city.fr)
    if kind != "place":
        time = year(choices)
    return finish(join(text._replace(en=en), where, time))


def would_like(choices: Choices) -> Text:
    """I would like a cup of coffee; we would like to visit the museum tomorrow."""
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
                when(choices, "future") if choices.chance("timed", 0.3) else NOTHING,
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
    tense = choose_tense(choices, action, who)
    return finish(join(clause(who, action, tense, _container(choices)), circumstance(choices, tense)))


def for_a_time(choices: Choices) -> Text:
    """We waited for two hours."""
    who = subject(choices.under("subject"))
    action = choices.one("verb", [verb for verb in INTRANSITIVE if verb.en != "live"])
    tense = choices.one("tense", ["past", "future", "must"], [5, 2, 0.5])
    span = amount(choices, [unit[0].en for unit in UNITS], 2, 30)
    where = at_place(choices) if choices.chance("somewhere", 0.5) else NOTHING
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
        if choices.chance("tomorrow", 0.4) and not condition.en.endswith(("late", "necessary", "possible"))
        else NOTHING
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
