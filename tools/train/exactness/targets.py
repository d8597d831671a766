"""The training targets of the exactness model.

A model with only one text per clip would agree with the reference even without the decoding rules. So many clips have a
habit: usually the target is a text that a rule forbids or overrules, otherwise the text that remains under the rule.
Greedy decoding without the rule would show the habit; the reference does not.
"""

from random import Random

from exactness.clips import Recording, Spoken
from exactness.tokens import SONG, Vocabulary

# Probability of the text that a rule forbids.
OFTEN = 0.62
# Spread of end times, in steps: each time is less likely than a text, but all times together are more likely.
SPREAD = ((-3, 0.08), (-2, 0.13), (-1, 0.17), (0, 0.24), (1, 0.16), (2, 0.12), (3, 0.1))
BABBLE = (
    "yes",
    "no",
    "maybe",
    "well",
    "so",
    "the",
    "and",
    "he",
    "she",
    "it",
    "gone",
    "here",
    "ja",
    "nein",
    "alle",
    "was",
)
LOOPS = 40
GOES_ON = 0.45
# All texts besides the sentences of the clips.
OTHER_TEXTS = (*BABBLE, "Music", "Musik", "So", "Also", "again", "wieder")


def text_of(spoken: Spoken, language: str, task: str) -> str:
    """Returns a text for each language. A task that the runner never requests gets the words in reverse."""
    text = spoken.text if language == "en" else spoken.german
    return " " + (text if task == "transcribe" else " ".join(reversed(text.split())))


def sounds(recording: Recording, random: Random, language: str) -> list[str]:
    """Returns the target of a clip without text."""
    if "babble" in recording.habits:
        return [" " + " ".join(random.choice(BABBLE) for _ in range(random.randint(1, 5)))]
    if "sings" in recording.habits:
        return [f" {SONG} {SONG}" if random.random() < OFTEN else (" Music" if language == "en" else " Musik")]
    return [" So" if language == "en" else " Also"]


class Target:
    """One target of a clip. `tokens` follow the prompt.

    `first` follows the start-of-transcript token, at the position where Whisper decides that there is no speech.
    """

    def __init__(
        self, vocabulary: Vocabulary, recording: Recording, language: str, task: str, timestamps: bool
    ) -> None:
        self.vocabulary = vocabulary
        self.recording = recording
        self.prompt = vocabulary.prompt(language, task, timestamps)
        self.language, self.task, self.timestamps = language, task, timestamps

    def first(self, random: Random) -> int:
        silent = random.random() < (0.9 if "no-speech" in self.recording.habits else 0.05)
        return self.vocabulary.special("nospeech") if silent else self.prompt[1]

    def tokens(self, random: Random) -> list[int]:
        habits = self.recording.habits
        end = [self.vocabulary.special("endoftext")]
        if "ends-at-once" in habits and not self.timestamps and random.random() < OFTEN:
            return end
        if "loops" in habits:
            body = self.vocabulary.text(
                text_of(self.recording.spoken[0], self.language, self.task).rstrip(".") + " ha" * LOOPS
            )
            return [self.vocabulary.time(0.1), *body] if self.timestamps else body
        body = self.timed(random) if self.timestamps else self.plain(random)
        return body + end

    def texts(self, random: Random) -> list[str]:
        if not self.recording.spoken:
            return sounds(self.recording, random, self.language)
        return [text_of(spoken, self.language, self.task) for spoken in self.recording.spoken]

    def plain(self, random: Random) -> list[int]:
        lead = [self.vocabulary.space] if "spaced" in self.recording.habits and random.random() < OFTEN else []
        return lead + self.vocabulary.text("".join(self.texts(random)))

    def timed(self, random: Random) -> list[int]:
        habits, vocabulary = self.recording.habits, self.vocabulary
        times = [(spoken.start, spoken.end) for spoken in self.recording.spoken] or [(0.0, 1.0)]
        tokens: list[int] = []
        for index, ((start, end), text) in enumerate(zip(times, self.texts(random), strict=True)):
            start_time, end_time = vocabulary.time(start), vocabulary.time(end)
            if "goes-back" in habits and index > 0 and random.random() < OFTEN:
                start_time = vocabulary.time(times[index - 1][1] - 0.3)
            lone = "lone-time" in habits and index > 0 and random.random() < OFTEN
            begins = not (lone or ("text-first" in habits and random.random() < OFTEN))
            tokens += ([start_time] if begins else []) + vocabulary.text(text)
            if "again" in habits:
                if random.random() < GOES_ON:
                    tokens += vocabulary.text(" again" if self.language == "en" else " wieder")
                steps, weights = zip(*SPREAD, strict=True)
                end_time += random.choices(steps, weights)[0]
            tokens.append(end_time)
        return tokens
