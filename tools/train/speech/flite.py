"""flite through ctypes (libflite): voices of real speakers, with times of words and phones."""
import ctypes as C

import numpy as np

#: The voices of Debian's flite. `kal` is `kal16` at half the sample rate.
VOICES = ["slt", "rms", "awb", "kal16", "kal"]
DIPHONE_VOICES = ("kal", "kal16")
#: espeak's phone names for CMU's names, so both synthesizers share the phone classes.
PHONES = dict(
    aa="A:", ae="a", ah="V", ao="O:", aw="aU", ax="@", ay="aI", b="b", ch="tS", d="d", dh="D", eh="E", er="3:", ey="eI",
    f="f", g="g", hh="h", ih="I", iy="i:", jh="dZ", k="k", l="l", m="m", n="n", ng="N", ow="oU", oy="OI", p="p", r="r",
    s="s", sh="S", t="t", th="T", uh="U", uw="u:", v="v", w="w", y="j", z="z", zh="Z", pau="_",
)
WORD = b"R:SylStructure.parent.parent.R:Token.parent"


class _Wave(C.Structure):
    _fields_ = [
        ("type", C.c_char_p), ("rate", C.c_int), ("count", C.c_int), ("channels", C.c_int),
        ("samples", C.POINTER(C.c_short)),
    ]


class _Voice(C.Structure):
    _fields_ = [("name", C.c_char_p), ("features", C.c_void_p)]


class Flite:
    """All flite voices in one process."""

    def __init__(self) -> None:
        self.lib = C.CDLL("libflite.so.1", mode=C.RTLD_GLOBAL)
        for name in ("libflite_usenglish.so.1", "libflite_cmulex.so.1"):
            C.CDLL(name, mode=C.RTLD_GLOBAL)
        self.lib.flite_init()
        pointer, text, number = C.c_void_p, C.c_char_p, C.c_float
        for name, result, arguments in (
            ("flite_synth_text", pointer, [text, pointer]), ("utt_wave", C.POINTER(_Wave), [pointer]),
            ("utt_relation", pointer, [pointer, text]), ("relation_head", pointer, [pointer]),
            ("item_next", pointer, [pointer]),
            ("path_to_item", pointer, [pointer, text]), ("ffeature_string", text, [pointer, text]),
            ("ffeature_float", number, [pointer, text]), ("delete_utterance", None, [pointer]),
            ("flite_feat_set_float", None, [pointer, text, number]),
        ):
            function = getattr(self.lib, name)
            function.restype, function.argtypes = result, arguments
        self.voices = {name: self._register(name) for name in VOICES}

    def _register(self, name: str):
        register = getattr(C.CDLL(f"libflite_cmu_us_{name}.so.1", mode=C.RTLD_GLOBAL), f"register_cmu_us_{name}")
        register.restype, register.argtypes = C.c_void_p, [C.c_char_p]
        return register(None)

    def say(self, text: str, voice: str, stretch=1.0, pitch=110.0):
        """Speaks the text. Returns float samples, their rate, and the times of words and phones.

        `stretch` 2 is twice as slow. `pitch` in Hz changes only the diphone voices. The words are [(seconds,
        character)], and empty when flite did not split the text at its spaces. The phones are [(seconds, name)].
        """
        handle = self.voices[voice]
        features = C.cast(handle, C.POINTER(_Voice)).contents.features
        self.lib.flite_feat_set_float(features, b"duration_stretch", stretch)
        if voice in DIPHONE_VOICES:
            self.lib.flite_feat_set_float(features, b"int_f0_target_mean", pitch)
        utterance = self.lib.flite_synth_text(text.encode(), handle)
        wave = self.lib.utt_wave(utterance).contents
        audio = np.ctypeslib.as_array(wave.samples, (wave.count,)).astype(np.float32) / 32768
        starts, phones, last, begin = [], [], None, 0.0
        segment = self.lib.relation_head(self.lib.utt_relation(utterance, b"Segment"))
        while segment:
            word = self.lib.path_to_item(segment, WORD)
            if word and word != last:
                starts.append(begin)
            last = word
            phones.append((begin, PHONES[self.lib.ffeature_string(segment, b"name").decode()]))
            begin = self.lib.ffeature_float(segment, b"end")
            segment = self.lib.item_next(segment)
        rate = wave.rate
        self.lib.delete_utterance(utterance)
        scale = len(audio) / rate / begin if begin else 1.0
        places = [at for at in range(len(text)) if text[at] != " " and (at == 0 or text[at - 1] == " ")]
        words = list(zip([start * scale for start in starts], places)) if len(places) == len(starts) else []
        return audio, rate, words, [(start * scale, name) for start, name in phones]
