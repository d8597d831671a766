"""Rules that join clauses: opinions, reasons, owners, parts, and questions with who, what, where and why."""

from .adverbials import at_place, circumstance, when
from .clauses import (
    INTRANSITIVE,
    VERBS,
    choose_object,
    choose_tense,
    clause,
    object_of,
    to_be,
)
from .descriptions import describable, predicate_clause, predicate_of, state
from .phrases import BY_ENGLISH as NOUN
from .phrases import (
    HE,
    NAMES,
    NOTHING,
    ONE_OWNERS,
    THE,
    Choices,
    Phrase,
    Text,
    assemble,
    finish,
    join,
    noun_phrase,
    nouns,
    subject,
    texts,
)

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
        return finish(join(start, predicate_clause(choices, False)[0]))
    if inner == "state":
        return finish(join(start, state(choices, False)))
    who = subject(choices.under("subject"))
    action = choices.one("verb", VERBS)
    tense = choose_tense(choices, action, who, ("progressive", "want"))
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
        what = at_place(choices) if choices.chance("somewhere", 0.6) or action.en == "stay" else NOTHING
    first = clause(who, action, tense, what, negative)
    return finish(join(first, Text("because", "porque", "parce que"), state(choices.under("why"), past)))


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
        return finish(
            clause(who, action, choose_tense(choices, action, who, ("progressive",)), object_of(action, phrase))
        )
    adjective, what = predicate_of(choices, phrase)
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
        tense = choose_tense(choices, action, phrase)
        return finish(
            join(
                clause(phrase, action, tense, choose_object(choices.under("object"), action)),
                when(choices, tense) if choices.chance("timed", 0.4) else NOTHING,
            )
        )
    if kind == "object":
        action = choices.one("verb", [verb for verb in VERBS if thing in verb.objects])
        who = subject(choices.under("who"))
        tense = choose_tense(choices, action, who)
        return finish(
            join(clause(who, action, tense, object_of(action, phrase)), circumstance(choices, tense, spatial=False))
        )
    adjective, what = predicate_of(choices, phrase)
    return finish(to_be(phrase, adjective.copula, choices.chance("past", 0.2), False, False, what))


WHY = [
    Text("why", "por qué", "pourquoi"),
    Text("where", "dónde", "où"),
    Text("when", "cuándo", "quand"),
    Text("how", "cómo", "comment"),
]


# verbs whose object allows a question with "what"
ASKED_WHAT = [
    verb
    for verb in VERBS
    if not verb.fr.preposition and any(noun.kind not in ("person", "place", "animal") for noun in verb.objects)
]


def wh_question(choices: Choices) -> Text:
    """Who opened the door? What did she buy? Where did Anna find the key? Why is he sad?"""
    kind = choices.one("kind", ["who", "what", "adverb", "why"], [3, 3, 3, 1.5])
    if kind == "why":
        who = describable(choices.under("subject"))
        adjective, what = predicate_of(choices, who)
        return finish(join(WHY[0], to_be(who, adjective.copula, choices.chance("past", 0.3), False, True, what)), "?")
    if kind == "who":
        action = choices.one("verb", VERBS)
        someone = Phrase(Text("who", "quién", "qui"), HE)
        tense = choose_tense(choices, action, someone, ("progressive", "going", "want"))
        return finish(
            join(
                clause(someone, action, tense, choose_object(choices.under("object"), action)),
                when(choices, tense) if choices.chance("timed", 0.3) else NOTHING,
            ),
            "?",
        )
    who = subject(choices.under("subject"))
    action = choices.one("verb", ASKED_WHAT if kind == "what" else VERBS)
    tense = choose_tense(choices, action, who, ("progressive",))
    if kind == "what":
        text = clause(who, action, tense, None, question=True)
        time = when(choices, tense) if choices.chance("timed", 0.3) else NOTHING
        return finish(join(Text("what " + text.en, "qué " + text.es, "qu'" + text.fr), time), "?")
    question = choices.one("question", WHY)
    if action.en in ("know", "have", "want", "need", "love", "hate") and question.en != "why":
        question = WHY[0]
    return finish(
        join(question, clause(who, action, tense, choose_object(choices.under("object"), action), question=True)), "?"
    )
