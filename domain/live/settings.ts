import * as t from 'io-ts'
import { boundedInteger, boundedNumber, object } from '../shared/codecs.ts'

/** Engine settings (interface.md 2.2) with the bounds of D17; all durations in seconds. */
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

/** Beyond the interface: each is there only where somebody asked for it. */
export const furtherSettingMembers = {
  /** Finals tell their words, with times. */
  words: t.boolean,
  /** `translate`: the text is the model's own English of what is said. */
  task: t.keyof({ transcribe: null, translate: null }),
}

export const engineSettings = object(engineSettingMembers, furtherSettingMembers)
export type EngineSettings = t.TypeOf<typeof engineSettings>

/** The language of the text, where `spoken` is what is said. */
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

/** The rule between members: the smallest buffer is not larger than the largest. */
export const buffersAreOrdered = (settings: Pick<EngineSettings, 'min_buffer' | 'max_buffer'>): boolean =>
  settings.min_buffer <= settings.max_buffer
