"""Sentences that the rules must make of given choices: the demo's fourteen, and triples written by hand."""

from .phrases import Text

Derivation = tuple[str, dict[str, str | int | bool], Text]

DEMO: list[Derivation] = [
    (
        "greeting",
        {
            "greeting": "Good morning",
            "whom": "everyone",
            "extra": "welcome",
            "to": "event",
            "destination.noun": "meeting",
        },
        Text(
            "Good morning everyone and welcome to the meeting.",
            "Buenos días a todos y bienvenidos a la reunión.",
            "Bonjour à tous et bienvenue à la réunion.",
        ),
    ),
    (
        "today",
        {"weekday": "Saturday", "day": 21, "month": "November"},
        Text(
            "Today is Saturday the twenty first of November.",
            "Hoy es sábado, veintiuno de noviembre.",
            "Aujourd'hui, nous sommes le samedi vingt et un novembre.",
        ),
    ),
    (
        "starts",
        {
            "thing.noun": "lesson",
            "thing.ordered": True,
            "thing.ordinal": "first",
            "verb": "starts",
            "time.form": "minutes",
            "time.hour": 9,
            "time.minutes": 30,
        },
        Text(
            "The first lesson starts at nine thirty.",
            "La primera lección empieza a las nueve y media.",
            "La première leçon commence à neuf heures trente.",
        ),
    ),
    (
        "transitive",
        {
            "subject.kind": "person",
            "subject.noun": "teacher",
            "verb": "open",
            "tense": "past",
            "object.noun": "window",
            "circumstance.kind": "place",
            "circumstance.place.noun": "kitchen",
        },
        Text(
            "The teacher opened the window in the kitchen.",
            "El profesor abrió la ventana en la cocina.",
            "Le professeur a ouvert la fenêtre dans la cuisine.",
        ),
    ),
    (
        "transitive",
        {
            "subject.kind": "person",
            "subject.noun": "sister",
            "subject.determiner": "my",
            "verb": "buy",
            "tense": "past",
            "object.noun": "car",
            "object.determiner": "a",
            "object.described": True,
            "object.adjective": "red",
            "circumstance.kind": "time",
            "circumstance.when.time": "yesterday",
        },
        Text(
            "My sister bought a red car yesterday.",
            "Mi hermana compró un coche rojo ayer.",
            "Ma sœur a acheté une voiture rouge hier.",
        ),
    ),
    (
        "how_much",
        {"thing.noun": "coffee"},
        Text("How much is the coffee?", "¿Cuánto cuesta el café?", "Combien coûte le café ?"),
    ),
    (
        "price",
        {"thing.noun": "ticket", "n": 25, "size": 99, "money": "dollar"},
        Text(
            "The ticket costs twenty five dollars.",
            "El billete cuesta veinticinco dólares.",
            "Le billet coûte vingt-cinq dollars.",
        ),
    ),
    (
        "because",
        {
            "subject.pronoun": "we",
            "verb": "wait",
            "somewhere": True,
            "place.noun": "station",
            "why.state": "late",
            "why.subject.kind": "vehicle",
            "why.subject.noun": "train",
        },
        Text(
            "We waited at the station because the train was late.",
            "Esperamos en la estación porque el tren llegó tarde.",
            "Nous avons attendu à la gare parce que le train était en retard.",
        ),
    ),
    (
        "request",
        {"verb": "bring", "object.noun": "book"},
        Text(
            "Can you bring the book please?",
            "¿Puedes traer el libro, por favor?",
            "Pouvez-vous apporter le livre, s'il vous plaît ?",
        ),
    ),
    (
        "transitive",
        {
            "subject.kind": "person",
            "subject.noun": "doctor",
            "verb": "call",
            "tense": "past",
            "object.noun": "brother",
            "object.determiner": "my",
            "circumstance.kind": "event",
            "circumstance.event.side": "before",
            "circumstance.event.noun": "party",
        },
        Text(
            "The doctor called my brother before the party.",
            "El médico llamó a mi hermano antes de la fiesta.",
            "Le médecin a appelé mon frère avant la fête.",
        ),
    ),
    (
        "there_is",
        {"thing.noun": "child", "thing.determiner": "many+", "in place": True, "place.noun": "garden"},
        Text(
            "There are many children in the garden.",
            "Hay muchos niños en el jardín.",
            "Il y a beaucoup d'enfants dans le jardin.",
        ),
    ),
    (
        "value",
        {"what": "answer", "n": 342},
        Text(
            "The answer is three hundred and forty two.",
            "La respuesta es trescientos cuarenta y dos.",
            "La réponse est trois cent quarante-deux.",
        ),
    ),
    (
        "opinion",
        {
            "start": "I think that",
            "inner": "predicate",
            "subject.kind": "thing",
            "subject.noun": "bridge",
            "subject.described": True,
            "subject.adjective": "old",
            "adjective": "beautiful",
            "degree": True,
            "how": "very",
        },
        Text(
            "I think that the old bridge is very beautiful.",
            "Creo que el puente viejo es muy hermoso.",
            "Je crois que le vieux pont est très beau.",
        ),
    ),
    (
        "thanks",
        {"thanks": "attention"},
        Text("Thank you for your attention.", "Gracias por su atención.", "Merci pour votre attention."),
    ),
]

GOLDEN: list[Derivation] = []
