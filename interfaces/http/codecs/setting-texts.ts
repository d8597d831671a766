import type { engineSettingMembers, furtherSettingMembers } from '../../../domain/live/settings.ts'
import type { GivenVocabulary } from '../../../domain/live/vocabulary.ts'

export type SessionSetting = keyof typeof engineSettingMembers | keyof typeof furtherSettingMembers | keyof GivenVocabulary

/** What a setting of a session does, for whoever chooses it. */
export interface SettingText {
  /** One sentence, as the description of the interface and the reference show it. */
  readonly meaning: string
  /** What a larger value, or `true`, does to the text. */
  readonly text: string
  /** The same for the time until the text is there. */
  readonly delay: string
  readonly advice: string
}

/** Every setting of a session; one without a text does not compile. */
export const SETTING_TEXTS: Readonly<Record<SessionSetting, SettingText>> = {
  vad: {
    meaning: 'Find speech in the audio first, and transcribe only that.',
    text: 'Silence, music and noise give no text.',
    delay: 'None. Silence costs almost no processor time.',
    advice: 'Keep it on. Switch it off only if quiet speech is lost; a pass then runs every second or two even in silence.',
  },
  mode: {
    meaning: 'Send drafts while somebody speaks (`partial`), or only text that no longer changes (`final`).',
    text: '`partial` shows words early and may correct them. `final` never changes what was sent.',
    delay: '`partial` shows most words about a second after they were spoken. `final` waits for the end of a phrase, at most `max_delay`.',
    advice: 'Captions: `partial`. Programs that store or forward each line: `final`.',
  },
  min_buffer: {
    meaning: 'Seconds of new audio before the next draft.',
    text: 'More audio at a time gives steadier drafts.',
    delay: 'Drafts come that much later, and cost less. A busy machine waits longer by itself.',
    advice: '0.5 for quick captions on a fast machine, 2 where many sessions share a machine.',
  },
  max_buffer: {
    meaning: 'Seconds of speech without a pause after which a segment ends all the same.',
    text: 'Longer segments have more context and fewer wrong words; shorter ones are cut inside sentences more often.',
    delay: 'Finals of speech without pauses come later. Drafts do not.',
    advice: '10 suits most speakers. Not less than 5. At most what the model hears at once (30 s for Whisper).',
  },
  buffer_timeout: {
    meaning: 'Seconds of silence that end a phrase.',
    text: 'A short pause splits sentences, a long one joins them.',
    delay: 'The final of a phrase comes that long after its last word, and a little later.',
    advice: '0.5 for dialogue, 1 for talks, 2 for hesitant speakers.',
  },
  max_delay: {
    meaning: 'Seconds by which text is at most later than its audio, on a machine that keeps up.',
    text: 'A small value fixes words before their sentence is complete, so more of them are wrong.',
    delay: 'The upper limit. A machine that is too slow exceeds it; `lag` of the session tells by how much.',
    advice: '5 for captions. Below 2 only with a small model on a fast machine.',
  },
  max_chars: {
    meaning: 'Most characters of a line.',
    text: 'Longer text is broken into lines at spaces.',
    delay: 'None.',
    advice: '37 to 42 for television, 80 for a web page. Use 1000 when your program breaks lines itself.',
  },
  max_lines: {
    meaning: 'Most lines of a frame.',
    text: 'Drafts drop their oldest lines. A final that needs more lines becomes several segments; no word is lost.',
    delay: 'A full caption becomes final, so few lines give earlier and shorter finals.',
    advice: '2 for captions.',
  },
  punctuation: {
    meaning: 'Keep the commas, full stops and question marks of the model.',
    text: 'Without it none of `. , ? ! ; :` is added.',
    delay: 'None.',
    advice: 'Switch it off only for programs that look for words.',
  },
  words: {
    meaning: 'Tell each word of a final with its times and confidence.',
    text: 'The text stays the same. Finals and the JSON transcript gain `words`.',
    delay: 'None.',
    advice: 'Needs a model whose export has cross-attentions; `models pull base` brings one. Other models leave `words` out.',
  },
  task: {
    meaning: 'Write what is said (`transcribe`), or the English of it (`translate`).',
    text: '`translate` replaces the spoken language; what was said is not kept.',
    delay: 'None.',
    advice: 'Fixed when the session is created. Needs a model of several languages.',
  },
  prompt: {
    meaning: 'Text as if it had been said before: subject, style, spelling.',
    text: 'Names and terms in it are more likely to be spelled that way.',
    delay: 'A long prompt makes each pass a little slower.',
    advice: 'One or two sentences. The sender may change it at any time.',
  },
  hotwords: {
    meaning: 'Words and phrases that are heard rather than words that sound alike.',
    text: 'Too many of them make wrong words more likely elsewhere.',
    delay: 'None that can be noticed.',
    advice: 'The names of the day, not a dictionary. The sender may change them at any time.',
  },
}
