import * as t from 'io-ts'
import { boundedInteger, boundedNumber, object } from '../shared/codecs.ts'

/** Engine settings that every session has. Durations are in seconds. */
export const engineSettingMembers = {
  vad: t.boolean,
  mode: t.keyof({ partial: null, final: null }),
  min_buffer: boundedNumber(0.1, 30),
  max_buffer: boundedNumber(0.5, 30),
  buffer_timeout: boundedNumber(0.1, 30),
  max_delay: boundedNumber(0.5, 60),
  max_chars: boundedInteger(1, 1000),
  max_lines: boundedInteger(1, 100),
  punctuation: t.boolean,
}

/** Optional engine settings, present only when a request sets them. */
export const furtherSettingMembers = {
  /** Final segments list their words with times. */
  words: t.boolean,
  /** `translate`: the model itself translates speech into English text. */
  task: t.keyof({ transcribe: null, translate: null }),
}

export const engineSettings = object(engineSettingMembers, furtherSettingMembers)
export type EngineSettings = t.TypeOf<typeof engineSettings>

/** Returns the language of the transcript for speech in the language `spoken`. */
export const writtenLanguage = (spoken: string, { task }: Pick<EngineSettings, 'task'>): string =>
  task === 'translate' ? 'en' : spoken

export const DEFAULT_ENGINE_SETTINGS: EngineSettings = {
  vad: true,
  mode: 'partial',
  min_buffer: 1,
  max_buffer: 10,
  buffer_timeout: 1,
  max_delay: 5,
  max_chars: 80,
  max_lines: 2,
  punctuation: true,
}

/** True when the smallest buffer is not larger than the largest buffer. */
export const buffersAreOrdered = (settings: Pick<EngineSettings, 'min_buffer' | 'max_buffer'>): boolean =>
  settings.min_buffer <= settings.max_buffer
