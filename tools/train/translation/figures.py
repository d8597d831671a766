"""Rules with numbers (prices, amounts, clock times, dates, ages), and for the weather."""

from . import english, french, spanish
from .adverbials import (
    DAYS,
    FUTURE,
    NOW,
    PAST,
    amount,
    at_clock,
    at_place,
    clock,
    day,
    day_of_month,
)
from .clauses import english_be
from .phrases import (
    ADJECTIVES,
    HE,
    NOTHING,
    ONE_OWNERS,
    SHE,
    THE,
    THE_MANY,
    THESE,
    THEY,
    THIS,
    TRANSPORT,
    WE,
    YOU,
    A,
    Choices,
    I,
    Text,
    assemble,
    finish,
    join,
    join_words,
    noun_phrase,
    nouns,
    subject,
    texts,
)
from .phrases import BY_ENGLISH as NOUN

MONEY = [
    ("dollar", "dólar", "dólares", "dollar"),
    ("euro", "euro", "euros", "euro"),
    ("pound", "libra", "libras", "livre"),
]


def how_much(choices: Choices) -> Text:
    """How much is the coffee?"""
    among = [noun for noun in nouns("food", "drink", "thing") if "fixed" not in noun.tags]
    thing = noun_phrase(choices.under("thing"), among, [THE, THE, THE, THIS, THE_MANY, THESE, *ONE_OWNERS, A], 0.35)
    many = thing.many
    return finish(
        Text(
            f"how much {'are' if many else 'is'} {thing.text.en}",
            f"cuánto {'cuestan' if many else 'cuesta'} {thing.text.es}",
            f"combien {'coûtent' if many else 'coûte'} {thing.text.fr}",
        ),
        "?",
    )


def price(choices: Choices) -> Text:
    """The ticket costs twenty five dollars."""
    among = [noun for noun in nouns("food", "drink", "thing", "event") if not noun.tags & {"fixed", "meal"}]
    thing = noun_phrase(choices.under("thing"), among, [THE, THE, THE, THIS, THE_MANY, THESE, A, *ONE_OWNERS], 0.3)
    n = choices.number("n", 2, choices.one("size", [20, 99, 999, 3000], [3, 5, 3, 0.5]))
    unit, es_one, es_many, fr = choices.one("money", MONEY)
    es_gender = fr_gender = "f" if unit == "pound" else "m"
    past = choices.chance("past", 0.15)
    if past:
        verb = Text("cost", "costaron", "ont coûté") if thing.many else Text("cost", "costó", "a coûté")
    else:
        verb = Text("cost", "cuestan", "coûtent") if thing.many else Text("costs", "cuesta", "coûte")
    cost = Text(
        f"{english.number(n)} {unit}s",
        f"{spanish.number(n, es_gender, counting=True)} {es_many}",
        f"{french.number(n, fr_gender, counting=True)} {fr}s",
    )
    time = choices.one("when", PAST[:2]) if past else NOTHING
    return finish(join(thing.text, verb, cost, time))


COUNTABLE_VALUES = ["answer", "number", "price", "result"]
OF_VALUES = [adjective for adjective in ADJECTIVES if adjective.en in ("new", "good", "important")]


def value(choices: Choices) -> Text:
    """The answer is three hundred and forty two."""
    noun = NOUN[choices.one("what", COUNTABLE_VALUES)]
    what = assemble(
        noun,
        choices.one("determiner", [THE, THE, *ONE_OWNERS]),
        choices.one("adjective", OF_VALUES, [3, 1, 1]) if choices.chance("described", 0.2) else None,
    )
    n = choices.number("n", 0, choices.one("size", [9999, 99, 999, 20], [4, 3, 4, 1]))
    past = choices.chance("past", 0.15)
    return finish(
        join(
            what.text,
            Text("was" if past else "is", "fue" if past else "es", "était" if past else "est"),
            Text(english.number(n), spanish.number(n), french.number(n)),
        )
    )


def digits(choices: Choices) -> Text:
    """My phone number is five five two nine."""
    whose, es, fr = choices.one(
        "whose",
        [
            Text("my", "mi", "mon"),
            Text("your", "tu", "votre"),
            Text("his", "su", "son"),
            Text("her", "su", "son"),
            Text("our", "nuestro", "notre"),
            Text("the", "el", "le"),
        ],
    )
    what = choices.one(
        "what",
        [
            Text("phone number", "número de teléfono", "numéro de téléphone"),
            Text("number", "número", "numéro"),
            Text("ticket number", "número de billete", "numéro de billet"),
        ],
    )
    count = choices.number("count", 3, 7)
    figures = [choices.number(f"digit{place}", 0, 9) for place in range(count)]
    return finish(
        Text(
            f"{whose} {what.en} is " + " ".join(english.number(each) for each in figures),
            f"{es} {what.es} es " + " ".join(spanish.number(each) for each in figures),
            f"{fr} {what.fr} est " + " ".join(french.number(each) for each in figures),
        )
    )


def today(choices: Choices) -> Text:
    """Today is Saturday the twenty first of November."""
    weekday = choices.one("weekday", DAYS)
    if choices.chance("short", 0.12):
        which = choices.one(
            "which",
            [
                Text("today is", "hoy es", "aujourd'hui, c'est"),
                Text("tomorrow is", "mañana es", "demain, c'est"),
                Text("yesterday was", "ayer fue", "hier, c'était"),
            ],
        )
        return finish(join(which, weekday))
    date = day_of_month(choices)
    which, es, fr = choices.one(
        "which",
        [
            Text("today is", "hoy es", "aujourd'hui, nous sommes"),
            Text("tomorrow is", "mañana es", "demain, nous serons"),
            Text("yesterday was", "ayer fue", "hier, nous étions"),
        ],
        [6, 1, 1],
    )
    return finish(
        Text(f"{which} {weekday.en} {date.en}", f"{es} {weekday.es}, {date.es}", f"{fr} le {weekday.fr} {date.fr}")
    )


ORDINALS = [
    Text("first", "primero", "premier"),
    Text("second", "segundo", "deuxième"),
    Text("third", "tercero", "troisième"),
    Text("next", "próximo", "prochain"),
    Text("last", "último", "dernier"),
]
START = texts("""
starts; empieza; commence
begins; comienza; commence
ends; termina; se termine""")
STARTS_MANY = texts("""
start; empiezan; commencent
begin; comienzan; commencent
end; terminan; se terminent""")
LEAVE = texts("""
leaves; sale; part
arrives; llega; arrive""")
LEAVE_MANY = texts("""
leave; salen; partent
arrive; llegan; arrivent""")


def _ordinal(choices: Choices) -> "Text | None":
    return choices.one("ordinal", ORDINALS) if choices.chance("ordered", 0.45) else None


def starts(choices: Choices) -> Text:
    """The first lesson starts at nine thirty; the next train leaves at noon."""
    thing = choices.under("thing")
    vehicle = choices.chance("vehicle", 0.35)
    among = TRANSPORT if vehicle else nouns("event")
    noun = thing.one("noun", among)
    many = thing.chance("many", 0.12)
    if many:
        who = assemble(noun, THE_MANY)
        verb = choices.one("verb", LEAVE_MANY if vehicle else STARTS_MANY)
    else:
        ordinal = _ordinal(thing)
        determiner = thing.one("determiner", [THE] if vehicle else [THE, THE, *ONE_OWNERS])
        who = assemble(noun, determiner, ordinal=ordinal)
        verb = choices.one("verb", LEAVE if vehicle else START)
    if choices.chance("dated", 0.25):
        kind = choices.one("on", ["date", "day", "tomorrow"], [1, 2, 1])
        if kind == "date":
            date = day_of_month(choices)
            time = Text("on " + date.en, "el " + date.es, "le " + date.fr)
        else:
            time = day(choices) if kind == "day" else FUTURE[0]
        if kind != "date" and choices.chance("both", 0.5):
            time = join(time, at_clock(choices.under("time")))
    else:
        time = at_clock(choices.under("time"))
    return finish(join(who.text, verb, time))


def when_does(choices: Choices) -> Text:
    """What time does the next train leave? When does the lesson start?"""
    vehicle = choices.chance("vehicle", 0.45)
    among = TRANSPORT if vehicle else nouns("event")
    noun = choices.one("noun", among)
    who = assemble(
        noun, THE if vehicle else choices.one("determiner", [THE, THE, *ONE_OWNERS]), ordinal=_ordinal(choices)
    )
    verbs = LEAVE if vehicle else START
    verb = choices.one("verb", verbs)
    base = (LEAVE_MANY if vehicle else STARTS_MANY)[verbs.index(verb)].en
    question = choices.one(
        "question", [Text("what time", "a qué hora", "à quelle heure"), Text("when", "cuándo", "quand")]
    )
    return finish(
        Text(
            f"{question.en} does {who.text.en} {base}",
            f"{question.es} {verb.es} {who.text.es}",
            f"{question.fr} est-ce que {who.text.fr} {verb.fr}",
        ),
        "?",
    )


def it_is_time(choices: Choices) -> Text:
    """It is nine thirty."""
    time = clock(choices.under("time"))
    if time.en in ("noon", "midnight"):
        return finish(Text("it is " + time.en, "es " + time.es.split()[-1], "il est " + time.fr))
    return finish(
        Text("it is " + time.en, ("es " if time.es.startswith("la ") else "son ") + time.es, "il est " + time.fr)
    )


def event_date(choices: Choices) -> Text:
    """The party is on the third of May."""
    thing = noun_phrase(
        choices.under("thing"),
        [noun for noun in nouns("event") if "meal" not in noun.tags],
        [THE, THE, *ONE_OWNERS],
        0.15,
    )
    past = choices.chance("past", 0.15)
    is_ = Text("was" if past else "is", "fue" if past else "es", "était" if past else "est")
    kind = choices.one("kind", ["date", "weekday", "clock", "place"], [3, 2, 1.5, 1.5])
    if kind == "date":
        date = day_of_month(choices)
        time = Text("on " + date.en, "el " + date.es, "le " + date.fr)
    elif kind == "weekday":
        time = day(choices)
    else:
        away = thing.noun and thing.noun.en in ("trip", "visit")
        time = at_clock(choices.under("time")) if kind == "clock" or away else at_place(choices)
    return finish(join(thing.text, is_, time))


WEATHER = texts("""
cold; hace frío; il fait froid
hot; hace calor; il fait chaud
sunny; hace sol; il fait soleil
windy; hace viento; il y a du vent
cloudy; está nublado; le temps est nuageux
foggy; hay niebla; il y a du brouillard
raining; está lloviendo; il pleut
snowing; está nevando; il neige
dark; está oscuro; il fait nuit
late; es tarde; il est tard
early; es temprano; il est tôt""")
VERY = {
    "cold": Text("", "hace mucho frío", "il fait très froid"),
    "hot": Text("", "hace mucho calor", "il fait très chaud"),
    "windy": Text("", "hace mucho viento", "il y a beaucoup de vent"),
    "late": Text("", "es muy tarde", "il est très tard"),
}
WEATHER_PAST = {"hace": "hacía", "está": "estaba", "hay": "había", "es": "era"}
WEATHER_PAST_FR = {
    "il fait": "il faisait",
    "il y a": "il y avait",
    "le temps est": "le temps était",
    "il pleut": "il pleuvait",
    "il neige": "il neigeait",
    "il est": "il était",
}


def weather(choices: Choices) -> Text:
    """It is very cold today; it was raining in London yesterday."""
    which = choices.one("weather", WEATHER)
    past = choices.chance("past", 0.3)
    en, es, fr = which
    if which.en in VERY and choices.chance("very", 0.4):
        en, es, fr = "very " + en, VERY[which.en].es, VERY[which.en].fr
    if past:
        first, rest = es.split(" ", 1)
        es = WEATHER_PAST[first] + " " + rest
        start = next(start for start in WEATHER_PAST_FR if fr.startswith(start))
        fr = WEATHER_PAST_FR[start] + fr[len(start) :]
    text = Text(f"it {'was' if past else 'is'} {en}", es, fr)
    if which.en not in ("late", "early", "dark"):
        if choices.chance("somewhere", 0.4):
            text = join(text, at_place(choices))
        if choices.chance("time", 0.6):
            text = join(text, choices.one("when", PAST if past else NOW[:4]))
    return finish(text)


def age(choices: Choices) -> Text:
    """My brother is twenty three years old. How old is she?"""
    who = subject(choices.under("subject"), ("pronoun", "person", "name"))
    n = choices.number("n", 2, 99)
    have_es = ("tengo", "tienes", "tiene", "tenemos", "tienen")[who.es_person]
    have_fr = french.AVOIR[who.fr_person]
    if choices.chance("question", 0.25) and who.person not in (I, WE):
        if who.pronoun:
            fr = {YOU: "avez-vous", HE: "a-t-il", SHE: "a-t-elle", THEY: "ont-ils"}[who.person]
        else:
            fr = f"{have_fr} {who.text.fr}"
        return finish(
            Text(
                f"how old {english_be(who)} {who.text.en}",
                join_words("cuántos años", have_es, who.text.es),
                f"quel âge {fr}",
            ),
            "?",
        )
    return finish(
        join(
            who.text,
            Text(
                f"{english_be(who)} {english.number(n)} years old",
                f"{have_es} {spanish.number(n, 'm', counting=True)} años",
                f"{have_fr} {french.number(n, 'm', counting=True)} ans",
            ),
        )
    )


def lasts(choices: Choices) -> Text:
    """The lesson lasts two hours."""
    away = choices.chance("away", 0.25)
    among = [noun for noun in nouns("event") if (noun.en in ("trip", "visit")) == away]
    thing = noun_phrase(choices.under("thing"), among, [THE, THE, THIS, *ONE_OWNERS, THE_MANY], 0.2)
    unit = choices.one("unit", ["day", "week"] if away else ["minute", "hour"])
    span = amount(choices, [unit], 2, {"hour": 6, "minute": 50}.get(unit, 12))
    past = choices.chance("past", 0.4)
    if past:
        verb = Text("lasted", "duraron", "ont duré") if thing.many else Text("lasted", "duró", "a duré")
    else:
        verb = Text("last", "duran", "durent") if thing.many else Text("lasts", "dura", "dure")
    return finish(join(thing.text, verb, span))
