"""Makes sentences of a small English grammar: `sentence(rng)` is cased and punctuated. Uses no external text.

The evaluation draws its sentences by seed, so a change of the drawing order changes these sentences.
"""
import random

from text.english import cardinal, gerund, ordinal, past, plural, third_person, with_article
from text.lexicon import (
    ADJECTIVES, ADVERBS, ANIMALS, BODY, CITIES, FOOD, FUNCTION_WORDS, IDEAS, INTRANSITIVE_VERBS, MASS_NOUNS, MONTHS,
    MORE_WORDS, NAMES, NATURE, ONES, ORDINALS, PEOPLE, PLACES, TENS, THINGS, TRANSITIVE_VERBS, WEEKDAYS,
)

NOUNS = [*PEOPLE, *ANIMALS, *FOOD, *PLACES, *THINGS, *IDEAS, *NATURE, *BODY]
NOUN_KINDS = [PEOPLE, ANIMALS, FOOD, PLACES, THINGS, IDEAS, NATURE, BODY, THINGS, IDEAS]
VERBS = TRANSITIVE_VERBS + INTRANSITIVE_VERBS
#: The words of plain word lists.
ALL_WORDS = sorted({
    *FUNCTION_WORDS, *MORE_WORDS, *NOUNS, *ADJECTIVES, *ADVERBS, *VERBS,
    *map(past, VERBS), *map(third_person, VERBS), *map(gerund, VERBS),
    *(plural(noun) for noun in NOUNS if noun not in MASS_NOUNS),
    *ONES, *TENS[2:], *ORDINALS, "hundred", "thousand", "million",
})
FIRST_OR_PLURAL = ("I", "you", "we", "they")
DEGREES = ["very ", "too ", "not ", "really ", ""]


class Phrases:
    """Parts of sentences, drawn with one random generator."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.choice = rng.choice

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def number(self, low: int, high: int) -> str:
        return cardinal(self.rng.randint(low, high))

    def adjective(self, probability: float) -> str:
        return self.choice(ADJECTIVES) + " " if self.chance(probability) else ""

    def noun_phrase(self, kind: list[str] | None = None) -> str:
        choice = self.choice
        noun = choice(kind or choice(NOUN_KINDS))
        adjective = self.adjective(0.4)
        kind_of_article = self.rng.random()
        if noun in MASS_NOUNS:
            return choice(["the ", "some ", "my ", "this ", ""]) + adjective + noun
        if kind_of_article < 0.35:
            return "the " + adjective + noun
        if kind_of_article < 0.55:
            return with_article(adjective + noun)
        if kind_of_article < 0.7:
            return choice(["my ", "your ", "his ", "her ", "our ", "their "]) + adjective + noun
        if kind_of_article < 0.8:
            return choice(["this ", "that ", "every ", "another "]) + adjective + noun
        if kind_of_article < 0.9:
            return choice(["the ", "some ", "these ", "those ", "many ", "all the "]) + adjective + plural(noun)
        return self.number(2, 30) + " " + adjective + plural(noun)

    def subject(self) -> str:
        kind = self.rng.random()
        if kind < 0.35:
            return self.choice(["I", "you", "he", "she", "we", "they"])
        if kind < 0.6:
            return self.choice(NAMES)
        return "the " + self.adjective(0.3) + self.choice(PEOPLE)

    def be(self, subject: str, in_past: bool) -> str:
        singular = subject not in FIRST_OR_PLURAL
        if in_past:
            return "was" if singular or subject == "I" else "were"
        return "am" if subject == "I" else "is" if singular else "are"

    def place(self) -> str:
        choice = self.choice
        return choice([
            choice(["in", "at", "near", "behind", "outside", "next to", "in front of"])
            + " the " + self.adjective(0.2) + choice(PLACES),
            "in " + choice(CITIES),
            "to the " + choice(PLACES),
            "on the " + choice("table floor chair wall road train bus plane roof beach".split()),
        ])

    def time(self) -> str:
        choice = self.choice
        return choice([
            lambda: "on " + choice(WEEKDAYS),
            lambda: "at " + self.number(1, 12) + " "
            + choice(["o'clock", "thirty", "fifteen", "in the morning", "in the evening", "p m"]),
            lambda: "in " + choice(MONTHS),
            lambda: choice([
                "yesterday", "today", "tomorrow", "tonight", "last week", "next year", "every day", "this morning",
                "last night", "this afternoon", "next month", "right now", "after dinner", "before lunch",
            ]),
            lambda: self.number(2, 50)
            + " " + choice(["minutes", "hours", "days", "weeks", "months", "years"]) + " ago",
            lambda: "in " + self.number(2, 60) + " " + choice(["minutes", "hours", "days", "weeks"]),
        ])()

    def verb_phrase(self, subject: str) -> str:
        choice, third = self.choice, subject not in FIRST_OR_PLURAL
        kind = self.rng.random()
        if kind < 0.3:
            return past(choice(TRANSITIVE_VERBS)) + " " + self.noun_phrase()
        if kind < 0.45:
            verb = choice(TRANSITIVE_VERBS)
            return (third_person(verb) if third else verb) + " " + self.noun_phrase()
        if kind < 0.55:
            return past(choice(INTRANSITIVE_VERBS)) + " " + self.place()
        if kind < 0.65:
            verb = choice(INTRANSITIVE_VERBS)
            start = self.be(subject, self.chance(0.5)) + " " + gerund(verb)
            return start + " " + choice([self.place(), choice(ADVERBS), self.time()])
        if kind < 0.75:
            modal = choice(["will", "can", "must", "should", "could", "may", "would", "cannot", "might"])
            return modal + " " + choice(TRANSITIVE_VERBS) + " " + self.noun_phrase()
        if kind < 0.83:
            start = self.be(subject, self.chance(0.5))
            return start + " " + choice(["very ", "too ", "so ", "not ", "really ", ""]) + choice(ADJECTIVES)
        if kind < 0.92:
            if self.chance(0.5):
                wish = "wants" if third else "want"
            else:
                wish = choice(["wanted", "tried", "decided", "had", "needed", "hoped"])
            return wish + " to " + choice(TRANSITIVE_VERBS) + " " + self.noun_phrase()
        return past(choice(INTRANSITIVE_VERBS)) + " " + choice(ADVERBS)

    def clause(self) -> str:
        subject = self.subject()
        text = subject + " " + self.verb_phrase(subject)
        if self.chance(0.25):
            text += " " + self.place()
        if self.chance(0.25):
            text += " " + self.time()
        return text


def word_list(p: Phrases) -> str:
    return " ".join(p.choice(ALL_WORDS) for _ in range(p.rng.randint(3, 9)))


def two_clauses(p: Phrases) -> str:
    link = ["and", "but", "because", "so", "when", "while", "if", "before", "after", "although"]
    return p.clause() + " " + p.choice(link) + " " + p.clause()


def there_is(p: Phrases) -> str:
    verb = p.choice(["is", "was"])
    thing = with_article(p.adjective(0.5) + p.choice(THINGS + PEOPLE + ANIMALS))
    return "there " + verb + " " + thing + " " + p.place()


def there_are(p: Phrases) -> str:
    verb = p.choice(["are", "were"])
    count = p.choice([p.number(2, 120), "many", "some", "a few", "no", "several"])
    return "there " + verb + " " + count + " " + plural(p.choice(THINGS + PEOPLE + ANIMALS)) + " " + p.place()


def question_word(p: Phrases) -> str:
    word = p.choice(["what", "when", "where", "why", "how"]) + " " + p.choice(["did", "do", "will", "can", "should"])
    start = word + " " + p.choice(["you", "we", "they", "I"])
    return start + " " + p.choice(TRANSITIVE_VERBS) + " " + p.noun_phrase() + "?"


def request(p: Phrases) -> str:
    text = p.choice(["can", "could", "would", "will"]) + " you " + p.choice(TRANSITIVE_VERBS) + " " + p.noun_phrase()
    return text + (" please" if p.chance(0.5) else "") + "?"


def yes_or_no(p: Phrases) -> str:
    start = p.choice(["is", "was"]) + " " + p.noun_phrase(p.choice([THINGS, PLACES, IDEAS]))
    return start + " " + p.choice(ADJECTIVES) + "?"


def how_much(p: Phrases) -> str:
    measure = p.choice(["much", "many", "long", "far", "old", "big"])
    return "how " + measure + " is " + p.noun_phrase(p.choice([THINGS, PLACES, FOOD])) + "?"


def command(p: Phrases) -> str:
    start = p.choice(["please", "do not", "let us", "never", "always", "don't"])
    return start + " " + p.choice(TRANSITIVE_VERBS) + " " + p.noun_phrase()


def description(p: Phrases) -> str:
    subject = p.noun_phrase(p.choice([THINGS, PLACES, FOOD, NATURE, IDEAS]))
    return subject + " " + p.choice(["is", "was", "looks", "seems"]) + " " + p.choice(DEGREES) + p.choice(ADJECTIVES)


def belonging(p: Phrases) -> str:
    start = "the " + p.choice(IDEAS) + " of the " + p.choice(NOUNS)
    return start + " " + p.choice(["is", "was"]) + " " + p.choice(ADJECTIVES)


def price(p: Phrases) -> str:
    subject = p.noun_phrase(p.choice([THINGS, FOOD]))
    return subject + " costs " + p.number(2, 999) + " " + p.choice(["dollars", "euros", "pounds"])


def appointment(p: Phrases) -> str:
    what = p.choice(["meeting", "lesson", "train", "movie", "party", "flight", "game", "class", "interview", "exam"])
    verb = p.choice(["starts", "ends", "leaves", "begins", "arrives"])
    hour = p.number(1, 12)
    start = "the " + what + " " + verb + " at " + hour
    return start + " " + p.choice(["o'clock", "thirty", "fifteen", "forty five", "twenty"])


def date(p: Phrases) -> str:
    weekday = p.choice(WEEKDAYS)
    return "today is " + weekday + " the " + ordinal(p.rng.randint(1, 31)) + " of " + p.choice(MONTHS)


def phone_number(p: Phrases) -> str:
    return "my phone number is " + " ".join(ONES[p.rng.randint(0, 9)] for _ in range(p.rng.randint(5, 8)))


def result(p: Phrases) -> str:
    what = p.choice(["number", "answer", "total", "result", "code", "price"])
    numbers = [p.rng.randint(0, 99), p.rng.randint(100, 999), p.rng.randint(1000, 99999)]
    return "the " + what + " is " + cardinal(p.choice(numbers))


def year(p: Phrases) -> str:
    return "in " + p.choice(["nineteen", "twenty", "eighteen"]) + " " + p.number(10, 99) + " " + p.clause()


def greeting(p: Phrases) -> str:
    start = p.choice(["hello", "good morning", "good evening", "welcome", "thank you", "excuse me", "sorry"])
    return start + " " + p.choice([
        "my name is " + p.choice(NAMES), "how are you", "everyone",
        "and welcome to the " + p.choice(["meeting", "show", "class", "program", "party"]),
        "for your " + p.choice(IDEAS), "I " + p.choice(TRANSITIVE_VERBS) + " " + p.noun_phrase(),
    ])


def opinion(p: Phrases) -> str:
    return "I " + p.choice(["think", "know", "believe", "hope", "said", "feel"]) + " that " + p.clause()


def report(p: Phrases) -> str:
    return p.subject() + " " + p.choice(["said", "thought", "knew", "believed", "explained"]) + " that " + p.clause()


def generality(p: Phrases) -> str:
    start = p.choice(ADJECTIVES) + " " + plural(p.choice(PEOPLE))
    return start + " " + p.choice(TRANSITIVE_VERBS) + " " + p.noun_phrase()


#: (weight, rule). The plain word lists prevent the model from relying on the rules.
RULES = [
    (26, Phrases.clause), (7, two_clauses), (5, lambda p: p.time() + " " + p.clause()), (4, there_is), (3, there_are),
    (5, question_word), (3, request), (2, yes_or_no),
    (2, lambda p: "where is the " + p.choice([*PLACES, *THINGS]) + "?"), (2, how_much), (4, command), (4, description),
    (3, belonging), (3, price), (3, appointment), (2, date), (2, phone_number), (2, result), (1, year), (2, greeting),
    (2, opinion), (2, report), (1, generality), (18, word_list),
]
TOTAL_WEIGHT = sum(weight for weight, _ in RULES)


def sentence(rng: random.Random) -> str:
    """Returns one sentence, from 'The dog sleeps.' to 18 words."""
    at = rng.random() * TOTAL_WEIGHT
    for weight, rule in RULES:
        at -= weight
        if at < 0:
            break
    text = rule(Phrases(rng))
    question = text.endswith("?")
    text = text.rstrip("?")
    return text[0].upper() + text[1:] + ("?" if question else ".")
