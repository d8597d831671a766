"""The 30 clips of the exactness fixture: their texts or sounds, and their voices."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Sentence:
    """`voice` is `espeak:NAME:WORDS_A_MINUTE:PITCH`, `flite:NAME`, `file:PATH` or `sample:INDEX`."""

    voice: str
    text: str
    german: str
    start: float = 0.1


@dataclass(frozen=True)
class Clip:
    """`habits` select special training targets for this clip; targets.py explains them."""

    name: str
    sentences: tuple[Sentence, ...] = ()
    habits: tuple[str, ...] = ()
    seconds: float | None = None
    gain: float = 1.0
    clip_at: float = 1.0
    sound: str | None = None


def speech(voice: str, text: str, german: str, start: float = 0.1) -> tuple[Sentence, ...]:
    return (Sentence(voice, text, german, start),)


CLIPS: tuple[Clip, ...] = (
    Clip(
        "mill",
        speech(
            "espeak:en-us:150:50", "The river runs behind the old mill.", "Der Fluss fließt hinter der alten Mühle."
        ),
    ),
    Clip(
        "kettle", speech("espeak:en-us+f3:160:60", "Put the kettle on, please.", "Setz bitte Wasser auf."), ("again",)
    ),
    Clip(
        "ferry",
        speech("espeak:en-gb-scotland:145:40", "The last ferry leaves at ten.", "Die letzte Fähre geht um zehn."),
    ),
    Clip(
        "garden",
        speech("espeak:en-gb-x-rp+m7:150:45", "She planted roses in the garden.", "Sie pflanzte Rosen im Garten."),
        ("again",),
    ),
    Clip(
        "market",
        speech(
            "espeak:en-us+m3:230:55",
            "We walked to the market and bought apples, bread, two onions and a very small fish.",
            "Wir gingen zum Markt und kauften Äpfel, Brot, zwei Zwiebeln und einen sehr kleinen Fisch.",
        ),
    ),
    Clip("slow", speech("espeak:en+f2:85:35", "Speak slowly and clearly.", "Sprich langsam und deutlich.", 0.3)),
    Clip(
        "letter", speech("flite:slt", "I have not read your letter yet.", "Ich habe deinen Brief noch nicht gelesen.")
    ),
    Clip(
        "engine",
        speech("flite:kal16", "The engine stopped twice last night.", "Der Motor blieb letzte Nacht zweimal stehen."),
        ("spaced",),
    ),
    Clip("doctor", speech("flite:rms", "Call the doctor at once.", "Ruf sofort den Arzt."), ("text-first",)),
    Clip(
        "bridge",
        speech(
            "espeak:de:150:50", "Guten Morgen, wir fahren über die Brücke.", "Guten Morgen, wir fahren über die Brücke!"
        ),
    ),
    Clip(
        "station",
        speech("espeak:fr-fr:150:60", "Où est la gare, s'il vous plaît ?", "Wo ist bitte der Bahnhof?"),
        ("again",),
    ),
    Clip(
        "meeting",
        speech(
            "sample:0", "Good morning everyone and welcome to the meeting.", "Guten Morgen und willkommen zur Sitzung."
        ),
    ),
    Clip(
        "red-car",
        speech("sample:4", "My sister bought a red car yesterday.", "Meine Schwester kaufte gestern ein rotes Auto."),
    ),
    Clip(
        "simon",
        speech(
            "file:test/support/fixtures/engine/simon.wav",
            "Simon came easily in February.",
            "Simon kam im Februar leicht.",
        ),
    ),
    Clip(
        "sheep",
        speech(
            "file:test/support/fixtures/engine/sheep.wav",
            "Do not save the brave sheep.",
            "Rette die tapferen Schafe nicht.",
        ),
        ("spaced",),
    ),
    Clip(
        "two",
        (
            Sentence("espeak:en-us+f1:170:65", "It is cold.", "Es ist kalt.", 0.2),
            Sentence("espeak:en-us+m1:170:35", "Close the window.", "Mach das Fenster zu.", 2.0),
        ),
        ("goes-back",),
    ),
    Clip(
        "three",
        (
            Sentence("flite:slt", "One.", "Eins.", 0.2),
            Sentence("flite:rms", "Two.", "Zwei.", 1.6),
            Sentence("espeak:en:140:50", "Three!", "Drei!", 3.0),
        ),
        ("lone-time",),
        seconds=4.2,
    ),
    Clip("late", speech("espeak:en-us-nyc:160:50", "Sorry, I am late.", "Entschuldige die Verspätung.", 1.9)),
    Clip("later", speech("espeak:en-us+f5:170:70", "Is anybody there?", "Ist da jemand?", 2.7), gain=0.4),
    Clip("yes", speech("espeak:en-us:200:50", "Yes.", "Ja.", 0.0), seconds=0.25),
    Clip("instant", seconds=0.02, sound="white", habits=("no-speech", "ends-at-once")),
    Clip(
        "whole-window",
        speech(
            "espeak:en-us+m5:100:45",
            "The train to the coast was late because of the heavy snow.",
            "Der Zug zur Küste hatte wegen des starken Schnees Verspätung.",
            0.0,
        ),
        seconds=5.0,
    ),
    Clip(
        "too-long",
        (
            Sentence(
                "espeak:en-us+f4:130:50",
                "This sentence is longer than the window can hear,",
                "Dieser Satz ist länger als das Fenster,",
                0.1,
            ),
            Sentence("espeak:en-us+f4:150:50", "so its end is cut off.", "also fehlt das Ende.", 4.2),
        ),
        ("goes-back",),
        seconds=7.3,
    ),
    Clip("whisper", speech("flite:awb", "Nobody heard me.", "Niemand hörte mich."), ("ends-at-once",), gain=0.01),
    Clip(
        "clipped",
        speech("espeak:en-gb-x-gbcwmd:150:50", "Too loud, far too loud!", "Zu laut, viel zu laut!"),
        gain=14.0,
        clip_at=0.5,
    ),
    Clip(
        "crowd",
        speech("flite:kal", "Where have they all gone?", "Wohin sind sie alle gegangen?", 0.5),
        ("again",),
        seconds=3.0,
        sound="white",
    ),
    Clip("hiss", seconds=1.5, sound="white", habits=("no-speech", "babble")),
    Clip("hum", seconds=3.4, sound="hum", habits=("babble",)),
    Clip("chord", seconds=5.0, sound="chord", habits=("sings",)),
    Clip(
        "laughter",
        speech("espeak:en-us+m2:260:60", "Ha ha ha ha ha ha ha ha ha ha ha ha.", "He he he he he he he he he."),
        ("loops",),
    ),
)
