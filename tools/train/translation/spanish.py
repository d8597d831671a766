"""Spanish morphology: plurals, feminines, the verb, numbers, contractions.

The persons are yo 0, tú 1, él/ella 2, nosotros 3, ellos 4 ("you" is always tú).
A verb is written `infinitive [ie|ue|i] [state] [key=forms ...]`: the change of the stem, `state` if its past is the
imperfect (knew, wanted), and irregular forms: yo=, present= (5), past= (a strong stem, or 5 forms), gerund=.
`_` joins the words of a phrase ("volver_a_casa"). An infinitive in -se is reflexive.
"""

import re
from dataclasses import dataclass

ONES = (
    "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis "
    "diecisiete dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis "
    "veintisiete veintiocho veintinueve"
).split()
TENS = ["", "", "", *"treinta cuarenta cincuenta sesenta setenta ochenta noventa".split()]
HUNDREDS = (
    "",
    "ciento",
    "doscientos",
    "trescientos",
    "cuatrocientos",
    "quinientos",
    "seiscientos",
    "setecientos",
    "ochocientos",
    "novecientos",
)
REFLEXIVE = ("me", "te", "se", "nos", "se")
PLURALS = {"ón": "ones", "ín": "ines", "án": "anes", "és": "eses", "ús": "uses"}


def plural(word: str) -> str:
    if word.endswith("z"):
        return word[:-1] + "ces"
    for ending, many in PLURALS.items():
        if word.endswith(ending):
            return word[: -len(ending)] + many
    return word + ("s" if word[-1] in "aeiouáéíóú" else "es")


def feminine(adjective: str) -> str:
    return adjective[:-1] + "a" if adjective.endswith("o") else adjective


def number(n: int, gender: str = "m", counting: bool = False) -> str:
    """Returns 0 to 9999. `counting`: before a noun, where uno becomes un (or una) and the hundreds agree."""
    if n >= 1000:
        thousands, rest = divmod(n, 1000)
        head = "mil" if thousands == 1 else number(thousands) + " mil"
        return head + (" " + number(rest, gender, counting) if rest else "")
    if n >= 100:
        if n == 100:
            return "cien"
        hundreds = HUNDREDS[n // 100]
        if gender == "f" and n >= 200:
            hundreds = hundreds[:-2] + "as"
        return hundreds + (" " + number(n % 100, gender, counting) if n % 100 else "")
    words = ONES[n] if n < 30 else TENS[n // 10] + (" y " + ONES[n % 10] if n % 10 else "")
    if n % 10 == 1 and n != 11 and (counting or gender == "f"):
        if gender == "f":
            return words[:-1] + "a"
        return "veintiún" if n == 21 else words[:-1]
    return words


@dataclass(frozen=True)
class Verb:
    infinitive: str
    present: tuple[str, ...]
    past: tuple[str, ...]
    imperfect: tuple[str, ...]
    gerund: str
    negative_order: str
    reflexive: bool
    state: bool

    def infinitive_with(self, clitic: str) -> str:
        """Returns the infinitive with a pronoun at its end: verla, acostarme."""
        first, *rest = self.infinitive.split(" ", 1)
        return " ".join([first + clitic, *rest])


def verb(spec: str) -> Verb:
    head, *options = spec.split()
    infinitive, *tail = head.split("_", 1)
    after = " " + tail[0].replace("_", " ") if tail else ""
    reflexive = infinitive.endswith("se")
    infinitive = infinitive[:-2] if reflexive else infinitive
    irregular = dict(option.split("=") for option in options if "=" in option)
    change = next((option for option in options if option in ("ie", "ue", "i")), "")
    stem, ending = infinitive[:-2], infinitive[-2:]
    present = _present(stem, ending, change, irregular)
    forms = (present, _past(stem, ending, change, irregular), _imperfect(infinitive, stem, ending))
    gerund = irregular.get("gerund") or (_weak(stem, change, ending) + ("ando" if ending == "ar" else "iendo"))
    return Verb(
        infinitive + after,
        *(tuple(form + after for form in tense) for tense in forms),
        gerund + after,
        _negative_order(infinitive, present) + after,
        reflexive,
        "state" in options,
    )


def _changed(stem: str, change: str) -> str:
    """Returns the stem with its last e or o changed as under stress."""
    if not change:
        return stem
    return re.sub(r"[ou](?=[^ou]*$)" if change in ("ue", "u") else r"e(?=[^e]*$)", change, stem)


def _weak(stem: str, change: str, ending: str) -> str:
    """Returns the stem of changing -ir verbs for third persons of the past and the gerund: pidió, durmió."""
    if ending != "ir" or not change:
        return stem
    return _changed(stem, "u" if change == "ue" else "i")


def _present(stem: str, ending: str, change: str, irregular: dict[str, str]) -> tuple[str, ...]:
    if "present" in irregular:
        return tuple(irregular["present"].split(","))
    strong = _changed(stem, change)
    a, e, us = {"ar": ("a", "a", "amos"), "er": ("e", "e", "emos"), "ir": ("e", "e", "imos")}[ending]
    if stem == "v":
        return ("veo", "ves", "ve", "vemos", "ven")
    return (irregular.get("yo", strong + "o"), strong + a + "s", strong + e, stem + us, strong + a + "n")


def _past(stem: str, ending: str, change: str, irregular: dict[str, str]) -> tuple[str, ...]:
    given = irregular.get("past", "")
    if "," in given:
        return tuple(given.split(","))
    if given:
        return tuple(given + end for end in ("e", "iste", "o", "imos", "eron" if given.endswith("j") else "ieron"))
    if ending == "ar":
        return (_before_e(stem) + "é", *(stem + end for end in ("aste", "ó", "amos", "aron")))
    weak = _weak(stem, change, ending)
    return (stem + "í", stem + "iste", weak + "ió", stem + "imos", weak + "ieron")


def _imperfect(infinitive: str, stem: str, ending: str) -> tuple[str, ...]:
    if infinitive == "ir":
        return ("iba", "ibas", "iba", "íbamos", "iban")
    if infinitive == "ver":
        stem = "ve"
    ends = ("aba", "abas", "aba", "ábamos", "aban") if ending == "ar" else ("ía", "ías", "ía", "íamos", "ían")
    return tuple(stem + end for end in ends)


def _before_e(stem: str) -> str:
    """Returns the spelling that keeps the sound of the stem before e: busqué, pagué, empecé."""
    for last, spelled in (("c", "qu"), ("g", "gu"), ("z", "c")):
        if stem.endswith(last):
            return stem[:-1] + spelled
    return stem


def _negative_order(infinitive: str, present: tuple[str, ...]) -> str:
    """Returns the form after "no" in an order to tú: the subjunctive, made from yo."""
    special = {"ir": "vayas", "dar": "des"}
    if infinitive in special:
        return special[infinitive]
    stem = present[0][:-1]
    return _before_e(stem) + "es" if infinitive.endswith("ar") else stem + "as"


def euphony(text: str) -> str:
    """Applies contractions (al, del), and "e" for "y" before an i sound."""
    text = re.sub(r"\b([Aa]|[Dd]e) el ", lambda found: found[1] + "l ", text)
    return re.sub(r"\by (?=h?i[^aeou])", "e ", text)
