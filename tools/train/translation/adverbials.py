"""When, where and how: clock times, dates, places and phrases that fit the tense of the verb."""

from collections.abc import Sequence

from . import english, french, spanish, words
from .phrases import (
    BY_ENGLISH,
    CITIES,
    NOTHING,
    ONE_OWNERS,
    THE,
    A,
    Choices,
    Phrase,
    Text,
    assemble,
    attributes,
    join,
    name,
    noun_phrase,
    nouns,
    person,
    texts,
)

DAYS, MONTHS, SEASONS = texts(words.DAYS), texts(words.MONTHS), texts(words.SEASONS)
PLACES = {row[0]: row[1:] for row in words.rows(words.PLACES)}
PREPOSITIONS = [
    Text("near", "cerca de", "près de"),
    Text("behind", "detrás de", "derrière"),
    Text("in front of", "delante de", "devant"),
    Text("next to", "al lado de", "à côté de"),
]
HABITUAL = texts("""
every day; todos los días; tous les jours
every morning; todas las mañanas; tous les matins
every evening; todas las noches; tous les soirs
every week; todas las semanas; toutes les semaines
in the morning; por la mañana; le matin
in the afternoon; por la tarde; l'après-midi
in the evening; por la noche; le soir
at night; por la noche; la nuit
after work; después del trabajo; après le travail
on weekends; los fines de semana; le week-end""")
NOW = texts("""
today; hoy; aujourd'hui
now; ahora; maintenant
right now; ahora mismo; en ce moment
this morning; esta mañana; ce matin
tonight; esta noche; ce soir""")
PAST = texts("""
yesterday; ayer; hier
yesterday; ayer; hier
last night; anoche; hier soir
last week; la semana pasada; la semaine dernière
last month; el mes pasado; le mois dernier
last year; el año pasado; l'année dernière
last summer; el verano pasado; l'été dernier
yesterday morning; ayer por la mañana; hier matin
yesterday evening; ayer por la noche; hier soir
this morning; esta mañana; ce matin
today; hoy; aujourd'hui""")
FUTURE = texts("""
tomorrow; mañana; demain
tomorrow; mañana; demain
tonight; esta noche; ce soir
next week; la próxima semana; la semaine prochaine
next month; el próximo mes; le mois prochain
next year; el próximo año; l'année prochaine
tomorrow morning; mañana por la mañana; demain matin
tomorrow afternoon; mañana por la tarde; demain après-midi
this evening; esta noche; ce soir
today; hoy; aujourd'hui
soon; pronto; bientôt""")
UNITS = [
    (Text("minute", "minuto", "minute"), "m", "f"),
    (Text("hour", "hora", "heure"), "f", "f"),
    (Text("day", "día", "jour"), "m", "m"),
    (Text("week", "semana", "semaine"), "f", "f"),
    (Text("month", "mes", "mois"), "m", "m"),
    (Text("year", "año", "an"), "m", "m"),
]
LARGEST = {"hour": 24, "week": 12, "month": 12}
HOME = Text("at home", "en casa", "à la maison")


def clock(choices: Choices) -> Text:
    """nine thirty, las nueve y media, neuf heures trente: Spanish with its article, all without "at"."""
    form = choices.one(
        "form", ["clock", "minutes", "half", "past", "to", "noon", "midnight"], [3, 4, 1.5, 1, 1, 0.3, 0.3]
    )
    if form == "noon":
        return Text("noon", "el mediodía", "midi")
    if form == "midnight":
        return Text("midnight", "la medianoche", "minuit")
    hour = choices.number("hour", 1, 11 if form in ("half", "past", "to") else 12)
    es = ("la " if hour == 1 else "las ") + spanish.number(hour, "f", counting=True)
    fr = french.number(hour, "f", counting=True) + (" heure" if hour == 1 else " heures")
    en = english.number(hour)
    if form == "half":
        return Text("half past " + en, es + " y media", fr + " et demie")
    if form == "past":
        return Text("quarter past " + en, es + " y cuarto", fr + " et quart")
    if form == "to":
        return Text("quarter to " + en, es + " menos cuarto", fr + " moins le quart")
    if form == "minutes":
        minutes = choices.one("minutes", [10, 15, 20, 25, 30, 30, 30, 35, 40, 45, 50, 55])
        tail = {30: "media", 15: "cuarto"}.get(minutes, spanish.number(minutes))
        return Text(f"{en} {english.number(minutes)}", f"{es} y {tail}", f"{fr} {french.number(minutes)}")
    part = choices.one("part", ["", "o'clock", "morning", "afternoon", "evening"], [1, 3, 1, 1, 1])
    if part == "morning" and hour < 12:
        return Text(en + " in the morning", es + " de la mañana", fr + " du matin")
    if part == "afternoon" and hour < 7:
        return Text(en + " in the afternoon", es + " de la tarde", fr + " de l'après-midi")
    if part == "evening" and 7 < hour < 12:
        return Text(en + " in the evening", es + " de la noche", fr + " du soir")
    return Text(en + " o'clock" if part == "o'clock" else en, es, fr)


def at_clock(choices: Choices) -> Text:
    time = clock(choices)
    return Text("at " + time.en, "a medianoche" if time.en == "midnight" else "a " + time.es, "à " + time.fr)


def day_of_month(choices: Choices) -> Text:
    """the twenty first of November, veintiuno de noviembre, vingt et un novembre: English with its article."""
    day = choices.number("day", 1, 31)
    month = choices.one("month", MONTHS)
    es = "primero" if day == 1 else spanish.number(day)
    fr = "premier" if day == 1 else french.number(day)
    return Text(f"the {english.ordinal(day)} of {month.en}", f"{es} de {month.es}", f"{fr} {month.fr}")


def amount(choices: Choices, units: Sequence[str], low: int = 2, high: int = 60) -> Text:
    """two hours, twenty one days."""
    unit, es_gender, fr_gender = choices.one("unit", [unit for unit in UNITS if unit[0].en in units])
    n = choices.number("n", low, min(high, LARGEST.get(unit.en, high)))
    return Text(
        f"{english.number(n)} {unit.en}s",
        f"{spanish.number(n, es_gender, counting=True)} {spanish.plural(unit.es)}",
        f"{french.number(n, fr_gender, counting=True)} {french.plural(unit.fr)}",
    )


def year(choices: Choices) -> Text:
    n = choices.number("year", 1901, 2035)
    return Text("in " + english.year(n), "en " + spanish.number(n), "en " + french.number(n))


def day(choices: Choices) -> Text:
    which = choices.one("day", DAYS)
    return Text("on " + which.en, "el " + which.es, which.fr)


def month(choices: Choices) -> Text:
    which = choices.one("month", MONTHS)
    return Text("in " + which.en, "en " + which.es, "en " + which.fr)


def season(choices: Choices) -> Text:
    which = choices.one("season", SEASONS)
    return Text("in " + which.en, "en " + which.es, which.fr)


def when(choices: Choices, tense: str) -> Text:
    """Returns a time that fits the tense."""
    choices = choices.under("when")
    if tense == "past":
        kind = choices.one("kind", ["fixed", "day", "ago", "clock", "month", "year"], [5, 2, 2, 1, 1, 0.7])
        if kind == "ago":
            span = amount(choices, ("minute", "hour", "day", "week", "month", "year"), 2, 20)
            return Text(span.en + " ago", "hace " + span.es, "il y a " + span.fr)
        if kind == "fixed":
            return choices.one("time", PAST)
    elif tense in ("present", "progressive"):
        kind = choices.one("kind", ["fixed", "day", "season"], [5, 1, 1]) if tense == "present" else "fixed"
        if kind == "fixed":
            return choices.one("time", HABITUAL if tense == "present" else NOW)
        if kind == "day":
            which = choices.one("day", DAYS)
            return Text(f"on {which.en}s", "los " + _many_days(which.es), "le " + which.fr)
    else:
        kind = choices.one("kind", ["fixed", "day", "clock", "in", "month"], [5, 2, 1, 1, 1])
        if kind == "in":
            span = amount(choices, ("minute", "hour", "day", "week", "month"), 2, 20)
            return Text("in " + span.en, "dentro de " + span.es, "dans " + span.fr)
        if kind == "fixed":
            return choices.one("time", FUTURE)
    return {"day": day, "clock": at_clock, "month": month, "year": year, "season": season}[kind](choices)


def _many_days(spanish_day: str) -> str:
    return spanish_day if spanish_day.endswith("s") else spanish_day + "s"


def place_noun(choices: Choices, only_goals: bool = False) -> Phrase:
    names = [name for name, row in PLACES.items() if not only_goals or "g" in row]
    return noun_phrase(choices, [BY_ENGLISH[name] for name in names], [THE], 0.15)


def at_place(choices: Choices) -> Text:
    """at the station, in a small village, near the old bridge, in Rome, at home."""
    choices = choices.under("place")
    kind = choices.one("kind", ["the", "a", "near", "city", "home"], [6, 1, 1.5, 1.2, 0.5])
    if kind == "home":
        return HOME
    if kind == "city":
        city = choices.one("city", CITIES)
        return Text("in " + city.en, "en " + city.es, "à " + city.fr)
    if kind == "near":
        preposition = choices.one("preposition", PREPOSITIONS)
        return join(preposition, noun_phrase(choices, nouns("place"), [THE], 0.15).text)
    noun = choices.one("noun", [BY_ENGLISH[name] for name in PLACES])
    en, fr = PLACES[noun.en][:2]
    fitting = attributes(noun)
    adjective = (
        choices.one("adjective", fitting) if choices.chance("described", 0.15 if kind == "the" else 0.5) else None
    )
    spot = assemble(noun, A if kind == "a" else THE, adjective)
    return join(Text(en, "en", "dans" if kind == "a" and fr == "à" else fr), spot.text)


def goal(choices: Choices, preposition: Text) -> Text:
    """to the market, to London. `preposition` belongs to the verb."""
    choices = choices.under("goal")
    if choices.one("kind", ["place", "city"], [4, 1]) == "city":
        return join(preposition, choices.one("city", CITIES))
    return join(preposition, place_noun(choices, only_goals=True).text)


COMPANY = Text("with", "con", "avec")
MEALS = [
    Text("breakfast", "el desayuno", "le petit déjeuner"),
    Text("lunch", "el almuerzo", "le déjeuner"),
    Text("dinner", "la cena", "le dîner"),
]


def beside_event(choices: Choices) -> Text:
    """before the party, after lunch, during the meeting."""
    choices = choices.under("event")
    side = choices.one(
        "side",
        [
            Text("before", "antes de", "avant"),
            Text("after", "después de", "après"),
            Text("during", "durante", "pendant"),
        ],
    )
    if choices.chance("meal", 0.25):
        return join(side, choices.one("meal", MEALS))
    events = [noun for noun in nouns("event") if "meal" not in noun.tags]
    return join(side, noun_phrase(choices, events, [THE, THE, THE, *ONE_OWNERS], 0.1).text)


def company(choices: Choices) -> Text:
    """with my friend, with Anna, with the old man."""
    choices = choices.under("company")
    who = name(choices) if choices.one("kind", ["person", "name"], [3, 1]) == "name" else person(choices)
    return join(COMPANY, who.text)


NECESSARY = Text("because it is necessary", "porque es necesario", "parce que c'est nécessaire")


def circumstance(choices: Choices, tense: str, spatial: bool = True, with_company: bool = True) -> Text:
    """Returns the end of a clause: nothing, a time, a place, both, company, an event or a reason."""
    choices = choices.under("circumstance")
    kinds = {
        "none": 3.0,
        "time": 4,
        "place": 3 if spatial else 0,
        "event": 1.2,
        "company": 1 if with_company else 0,
        "both": 0.8 if spatial else 0,
        "reason": 0.2,
    }
    kind = choices.one("kind", list(kinds), list(kinds.values()))
    if kind == "time":
        return when(choices, tense)
    if kind == "place":
        return at_place(choices)
    if kind == "event":
        return beside_event(choices)
    if kind == "company":
        return company(choices)
    if kind == "both":
        return join(at_place(choices), when(choices, tense))
    return NECESSARY if kind == "reason" else NOTHING
