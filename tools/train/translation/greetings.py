"""Rules for conversation: greetings, thanks, names, requests and orders."""

from . import words
from .adverbials import at_place, day, when
from .clauses import INTRANSITIVE, VERBS, choose_object
from .phrases import (
    CITIES,
    COUNTED,
    NAMES,
    NOTHING,
    ONE_OWNERS,
    OWNERS,
    SOME,
    THE,
    THE_MANY,
    THESE,
    THIS,
    A,
    Choices,
    Text,
    finish,
    join,
    noun_phrase,
    nouns,
    texts,
)

GREETINGS = texts("""
Good morning; buenos días; bonjour
Good afternoon; buenas tardes; bonjour
Good evening; buenas noches; bonsoir
Hello; hola; bonjour
Welcome; bienvenidos; bienvenue""")
WHOLE = {
    ".": texts("""
Good night; buenas noches; bonne nuit
Good night and thank you; buenas noches y gracias; bonne nuit et merci
Goodbye and thank you; adiós y gracias; au revoir et merci
Goodbye; adiós; au revoir
Thank you; gracias; merci
Thank you very much; muchas gracias; merci beaucoup
You are welcome; de nada; de rien
I am sorry; lo siento; je suis désolé
I do not know; no lo sé; je ne sais pas
I do not understand; no entiendo; je ne comprends pas
Nice to meet you; mucho gusto; enchanté
See you later; hasta luego; à plus tard
Have a nice day; que tengas un buen día; bonne journée
Have a good trip; buen viaje; bon voyage
Happy birthday; feliz cumpleaños; bon anniversaire
Good luck; buena suerte; bonne chance
Please sit down; siéntate, por favor; asseyez-vous, s'il vous plaît
Please wait a moment; espera un momento, por favor; attendez un instant, s'il vous plaît
I am very well; estoy muy bien; je vais très bien
That is right; así es; c'est exact
Of course; por supuesto; bien sûr"""),
    "?": texts("""
How are you; cómo estás; comment allez-vous
What is your name; cómo te llamas; comment vous appelez-vous
What time is it; qué hora es; quelle heure est-il
Where are you from; de dónde eres; d'où venez-vous
Can you help me; puedes ayudarme; pouvez-vous m'aider
Do you speak English; hablas inglés; parlez-vous anglais
What day is it today; qué día es hoy; quel jour sommes-nous aujourd'hui"""),
}
ADDRESSED = [
    Text("everyone", "a todos", "à tous"),
    Text("my friends", "mis amigos", "mes amis"),
    Text("ladies and gentlemen", "señoras y señores", "mesdames et messieurs"),
    Text("children", "niños", "les enfants"),
]
THANKED = texts("""
attention; atención; attention
help; ayuda; aide
patience; paciencia; patience
answer; respuesta; réponse
question; pregunta; question
visit; visita; visite
message; mensaje; message
letter; carta; lettre
time; tiempo; temps
work; trabajo; travail
advice; consejo; conseil
gift; regalo; cadeau
invitation; invitación; invitation
call; llamada; appel""")
PLEASE = Text("please", "por favor", "s'il vous plaît")


def comma(before: Text, after: Text) -> Text:
    """Returns `before after`, with the comma that Spanish and French need and spoken English omits."""
    return Text(f"{before.en} {after.en}", f"{before.es}, {after.es}", f"{before.fr}, {after.fr}")


def greeting(choices: Choices) -> Text:
    """Good morning everyone and welcome to the meeting."""
    hello = choices.one("greeting", GREETINGS)
    whom = choices.one("whom", [*ADDRESSED, *(Text(who, who, who) for who in NAMES)], [6, 3, 3, 2] + [0.2] * len(NAMES))
    joined = join(hello, whom) if whom.en == "everyone" else comma(hello, whom)
    extra = choices.one("extra", ["none", "welcome", "how", "thanks"], [1, 4, 1, 1])
    if extra in ("welcome", "thanks") and whom.en != "everyone":
        # commas surround the vocative
        joined = Text(joined.en, joined.es + ",", joined.fr + ",")
    if extra == "welcome" and hello.en != "Welcome":
        es = "bienvenida" if whom.en in words.WOMEN else "bienvenido" if whom.en in words.MEN else "bienvenidos"
        return finish(join(joined, Text("and welcome", "y " + es, "et bienvenue"), _destination(choices)))
    if extra == "thanks" and hello.en != "Welcome":
        return finish(join(joined, Text("and", "y", "et"), _thanks(choices)))
    if extra == "how" and hello.en != "Welcome" and whom.en in NAMES:
        text = Text(f"{joined.en} how are you", f"{joined.es}, ¿cómo estás", f"{joined.fr}, comment allez-vous")
        return finish(text, "?", spanish_opening=False)
    if hello.en == "Welcome":
        return finish(join(joined if whom.en == "everyone" else hello, _destination(choices)))
    return finish(joined)


def _destination(choices: Choices) -> Text:
    kind = choices.one("to", ["event", "place", "city"], [4, 3, 1])
    if kind == "city":
        return join(Text("to", "a", "à"), choices.one("city", CITIES))
    where = choices.under("destination")
    events = [noun for noun in nouns("event") if "meal" not in noun.tags]
    among = events if kind == "event" else nouns("place")
    return join(
        Text("to", "a", "à"), noun_phrase(where, among, [THE, THE, THE, ONE_OWNERS[0], ONE_OWNERS[4]], 0.1).text
    )


def _thanks(choices: Choices) -> Text:
    what = choices.one("thanks", THANKED)
    return Text("thank you for your " + what.en, "gracias por su " + what.es, "merci pour votre " + what.fr)


def thanks(choices: Choices) -> Text:
    """Thank you for your attention."""
    if choices.chance("other", 0.4):
        start = Text("thank you for", "gracias por", "merci pour")
        if choices.chance("very", 0.3):
            start = Text("thank you very much for", "muchas gracias por", "merci beaucoup pour")
        thing = noun_phrase(
            choices.under("thing"), nouns("carry", "info", "food", "meal"), [THE, THE_MANY, THIS, THESE], 0.4
        )
        return finish(join(start, thing.text))
    return finish(_thanks(choices))


def whole_phrase(choices: Choices) -> Text:
    mark = choices.one("mark", [".", "?"], [4, 1.5])
    return finish(choices.one("phrase", WHOLE[mark]), mark)


def see_you(choices: Choices) -> Text:
    time = when(choices, "future") if choices.chance("general", 0.5) else day(choices)
    where = at_place(choices) if choices.chance("somewhere", 0.4) else NOTHING
    return finish(join(Text("see you", "nos vemos", "on se voit"), where, time))


def my_name(choices: Choices) -> Text:
    """My name is Anna; hello my name is Tom and I am from Rome."""
    whose, es, fr = choices.one(
        "whose",
        [
            Text("my", "me llamo", "je m'appelle"),
            Text("her", "ella se llama", "elle s'appelle"),
            Text("his", "él se llama", "il s'appelle"),
        ],
    )
    names = words.WOMEN if whose == "her" else words.MEN if whose == "his" else NAMES
    who = choices.one("name", names)
    hello = choices.one("hello", ["", "hello", "Good morning", "Good evening"], [4, 1, 1, 1]) if whose == "my" else ""
    text = Text(f"{whose} name is {who}", f"{es} {who}", f"{fr} {who}")
    if hello:
        before = (
            Text("hello", "hola", "bonjour")
            if hello == "hello"
            else next(each for each in GREETINGS if each.en == hello)
        )
        text = comma(before, text)
    if whose == "my" and choices.chance("from", 0.3):
        city = choices.one("city", CITIES)
        text = join(text, Text(f"and I am from {city.en}", f"y soy de {city.es}", f"et je viens de {city.fr}"))
    return finish(text)


def request(choices: Choices) -> Text:
    """Can you bring the book please?"""
    action = choices.one("verb", [verb for verb in VERBS if verb.en not in NO_REQUEST])
    thing = choose_object(
        choices.under("object"), action, determiners=[THE, THE, THE, A, SOME, THE_MANY, *OWNERS, THIS, THESE, COUNTED]
    )
    where = at_place(choices) if choices.chance("somewhere", 0.15) else NOTHING
    could = choices.chance("could", 0.3)
    text = join(
        Text(
            "could you" if could else "can you",
            "podrías" if could else "puedes",
            "pourriez-vous" if could else "pouvez-vous",
        ),
        Text(action.en, action.es.infinitive, action.fr.infinitive),
        thing,
        where,
    )
    return finish(comma(text, PLEASE), "?")


NO_REQUEST = set("want need lose forget love hate break know meet receive have understand".split())


def order(choices: Choices) -> Text:
    """Open the window please; do not close the door; let us wait at the station."""
    among = [verb for verb in VERBS if verb.en not in NO_REQUEST and verb.en not in ("see", "find")]
    kind = choices.one("kind", ["do", "do not", "let us"], [4, 3, 2])
    action = choices.one("verb", among + (INTRANSITIVE[:9] if kind == "let us" else []))
    negative = kind == "do not"
    thing = NOTHING
    if action.objects:
        thing = choose_object(
            choices.under("object"), action, negative, [THE, THE, A, SOME, THE_MANY, *OWNERS, THIS, THESE]
        )
    where = at_place(choices) if kind == "let us" and choices.chance("somewhere", 0.5) else NOTHING
    if kind == "let us":
        reflexive = action.fr.reflexive
        fr = action.fr.present[2] + ("-nous" if reflexive else "")
        return finish(
            join(
                Text(
                    "let us " + action.en,
                    "vamos a " + action.es.infinitive_with("nos" if action.es.reflexive else ""),
                    fr,
                ),
                thing,
                where,
            )
        )
    fr_verb = action.fr.present[3]
    if negative:
        first, *rest = fr_verb.split(" ", 1)
        text = join(
            Text("do not " + action.en, "no " + action.es.negative_order, " ".join(["ne " + first + " pas", *rest])),
            thing,
        )
    else:
        text = join(Text(action.en, action.es.present[2], fr_verb), thing)
    if choices.chance("please", 0.5):
        front = choices.chance("front", 0.3)
        text = Text(
            f"please {text.en}" if front else f"{text.en} please", f"{text.es}, {PLEASE.es}", f"{text.fr}, {PLEASE.fr}"
        )
    return finish(text)
