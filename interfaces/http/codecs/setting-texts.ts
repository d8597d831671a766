import type { engineSettingMembers, furtherSettingMembers } from '../../../domain/live/settings.ts'
import type { GivenVocabulary } from '../../../domain/live/vocabulary.ts'

export type SessionSetting =
  keyof typeof engineSettingMembers | keyof typeof furtherSettingMembers | keyof GivenVocabulary

/** The explanation of a setting for users. */
export interface SettingText {
  /** One sentence for OpenAPI, the reference and the console. */
  readonly meaning: string
  /** Effect of a larger value, or of `true`, on the text. */
  readonly text: string
  /** Effect of a larger value, or of `true`, on the delay of the text. */
  readonly delay: string
  readonly advice: string
}

/** The explanations of all session settings. A setting without an explanation does not compile. */
export const SETTING_TEXTS: Readonly<Record<SessionSetting, SettingText>> = {
  vad: {
    meaning: 'Detect speech in the audio, and transcribe only the speech.',
    text: 'Silence, music and noise produce no text.',
    delay: 'None. Silence costs almost no processor time.',
    advice: 'Keep it on. Switch it off only if quiet speech is lost. The model then also runs during silence, every '
      + 'second or two.',
  },
  mode: {
    meaning: 'Send drafts while somebody speaks (`partial`), or send only final text (`final`).',
    text: '`partial` shows words early and may correct them. With `final`, sent text never changes.',
    delay: '`partial` shows most words about a second after they were spoken. `final` waits for the end of a phrase, '
      + 'at most `max_delay`.',
    advice: 'Use `partial` for captions, and `final` for programs that store or forward each line.',
  },
  min_buffer: {
    meaning: 'Seconds of new audio before the next draft.',
    text: 'With a larger value, drafts change less often.',
    delay: 'Drafts come later by this many seconds, and need less processor time. A busy machine waits longer.',
    advice: '0.5 for quick captions on a fast machine, 2 if many sessions share a machine.',
  },
  max_buffer: {
    meaning: 'Longest segment in seconds, for a speaker who makes no pause.',
    text: 'Longer segments have more context and fewer wrong words. Shorter segments split sentences more often.',
    delay: 'Final text of speech without pauses comes later. Drafts do not.',
    advice: '10 suits most speakers. Use at least 5, and at most the input length of the model (30 s for Whisper).',
  },
  buffer_timeout: {
    meaning: 'Seconds of silence that end a phrase.',
    text: 'A small value splits sentences. A large value joins them.',
    delay: 'The final text of a phrase comes a little more than this time after its last word.',
    advice: '0.5 for dialogue, 1 for talks, 2 for hesitant speakers.',
  },
  max_delay: {
    meaning: 'Longest delay of text behind its audio in seconds, on a machine that is fast enough.',
    text: 'A small value makes words final before their sentence is complete, so more words are wrong.',
    delay: 'This is the upper limit. A slow machine exceeds it; `lag` of the session shows the current delay.',
    advice: '5 for captions. Use values below 2 only with a small model on a fast machine.',
  },
  max_chars: {
    meaning: 'Longest line in characters. Wide characters, such as Chinese ones, count twice.',
    text: 'Longer text is broken into lines at words and clauses. A caption ends with a sentence or a clause if one '
      + 'ends in its last 40 %.',
    delay: 'None.',
    advice: '37 to 42 for television, 80 for a web page. Use 1000 when your program breaks lines itself.',
  },
  max_lines: {
    meaning: 'Maximum number of lines in a caption.',
    text: 'A longer draft drops its oldest lines. Longer final text becomes several segments, so no word is lost.',
    delay: 'When a caption has all its lines, its text becomes final. With few lines, final text comes earlier and is '
      + 'shorter.',
    advice: '2 for captions.',
  },
  punctuation: {
    meaning: 'Keep the commas, full stops and question marks of the model.',
    text: 'When off, the text has no `. , ? ! ; :`.',
    delay: 'None.',
    advice: 'Switch it off only for programs that look for words.',
  },
  words: {
    meaning: 'Add the times and the confidence of each word to final text.',
    text: 'The text stays the same. Final text and the JSON transcript get a member `words`.',
    delay: 'None.',
    advice: 'Needs a model with word times; `models pull base` installs one. Other models leave out `words`.',
  },
  task: {
    meaning: 'Write the spoken language (`transcribe`), or an English translation (`translate`).',
    text: 'With `translate` the English text replaces the original text, which is not kept.',
    delay: 'None.',
    advice: 'Choose it when you create the session; it cannot change later. `translate` needs a multilingual model.',
  },
  prompt: {
    meaning: 'Context for the model, as if it were spoken before the audio: subject, style, spelling.',
    text: 'The model is more likely to spell names and terms as in the prompt.',
    delay: 'A long prompt makes transcription slightly slower.',
    advice: 'One or two sentences. The sender may change it at any time.',
  },
  hotwords: {
    meaning: 'Words and phrases that the model prefers to similar-sounding words.',
    text: 'Too many hotwords make other words more likely to be wrong.',
    delay: 'Not noticeable.',
    advice: 'List the names of the event, not a whole dictionary. The sender may change them at any time.',
  },
}
