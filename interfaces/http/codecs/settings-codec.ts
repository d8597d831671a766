import * as t from 'io-ts'
import {
  buffersAreOrdered, DEFAULT_ENGINE_SETTINGS, engineSettingMembers, furtherSettingMembers,
} from '../../../domain/live/settings.ts'
import {
  optionalVocabulary, MAX_HOTWORD_CHARACTERS, MAX_PROMPT_CHARACTERS, MAX_HOTWORDS, vocabularyMembers,
} from '../../../domain/live/vocabulary.ts'
import type { GivenVocabulary } from '../../../domain/live/vocabulary.ts'
import { boundedString, object } from '../../../domain/shared/codecs.ts'
import type { EngineSettings } from '../../../domain/live/settings.ts'
import { listOf, members, optional } from './validation.ts'
import type { Complaint } from './validation.ts'

const m = { ...engineSettingMembers, ...furtherSettingMembers }

/** Text that is none in UTF-8 would be heard as something else. */
const WELL_FORMED = /^\P{Surrogate}*$/u
export const promptText = boundedString(0, MAX_PROMPT_CHARACTERS, WELL_FORMED)
export const hotwordList = listOf(boundedString(1, MAX_HOTWORD_CHARACTERS, WELL_FORMED), MAX_HOTWORDS)

/** The engine settings of a request that creates something: each may be left out. */
export const settingFields = {
  vad: optional(m.vad, undefined),
  mode: optional(m.mode, undefined),
  min_buffer: optional(m.min_buffer, undefined),
  max_buffer: optional(m.max_buffer, undefined),
  buffer_timeout: optional(m.buffer_timeout, undefined),
  max_delay: optional(m.max_delay, undefined),
  max_chars: optional(m.max_chars, undefined),
  max_lines: optional(m.max_lines, undefined),
  punctuation: optional(m.punctuation, undefined),
  words: optional(m.words, undefined),
  task: optional(m.task, undefined),
  prompt: optional(promptText, undefined),
  hotwords: optional(hotwordList, undefined),
}

export const settingsBody = members(settingFields)
export type GivenSettings = t.TypeOf<typeof settingsBody>

/** The members that were sent. */
export const sentOf = <A extends object>(given: A): Sent<A> =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Sent<A>

type Sent<A> = { readonly [K in keyof A]?: Exclude<A[K], undefined> }

/** Omitted settings take their defaults; those beyond the interface stay away. */
export const settingsOf = ({ words, task, ...given }: Omit<GivenSettings, 'prompt' | 'hotwords'>): EngineSettings => ({
  vad: given.vad ?? DEFAULT_ENGINE_SETTINGS.vad,
  mode: given.mode ?? DEFAULT_ENGINE_SETTINGS.mode,
  min_buffer: given.min_buffer ?? DEFAULT_ENGINE_SETTINGS.min_buffer,
  max_buffer: given.max_buffer ?? DEFAULT_ENGINE_SETTINGS.max_buffer,
  buffer_timeout: given.buffer_timeout ?? DEFAULT_ENGINE_SETTINGS.buffer_timeout,
  max_delay: given.max_delay ?? DEFAULT_ENGINE_SETTINGS.max_delay,
  max_chars: given.max_chars ?? DEFAULT_ENGINE_SETTINGS.max_chars,
  max_lines: given.max_lines ?? DEFAULT_ENGINE_SETTINGS.max_lines,
  punctuation: given.punctuation ?? DEFAULT_ENGINE_SETTINGS.punctuation,
  ...sentOf({ words, task }),
})

/** What was sent of the vocabulary, as a member where that is anything. */
export const vocabularyOf = ({ prompt, hotwords }: Pick<GivenSettings, 'prompt' | 'hotwords'>) =>
  optionalVocabulary(sentOf({ prompt, hotwords }))

/** Members of an answer beyond the interface: each is there only where it was sent. */
export const furtherMembers = { ...furtherSettingMembers, ...vocabularyMembers }
export const settingsView = object(engineSettingMembers, furtherMembers, 'EngineSettings')
const interfaceSettings = t.strict(engineSettingMembers)

/** The settings of an answer; `strict` leaves the nine members of the interface. */
export const presentSettings = (
  settings: EngineSettings,
  vocabulary: GivenVocabulary,
  strict: boolean,
): t.TypeOf<typeof settingsView> =>
  strict ? interfaceSettings.encode(settings) : settingsView.encode({ ...settings, ...vocabulary })

/** What is said where the smallest buffer is larger than the largest. */
export const BUFFERS_NOT_ORDERED = 'min_buffer should not be greater than max_buffer'

/** Named after the member that the caller sent, min_buffer when both or none. */
export const orderedBuffers = (given: GivenSettings): Complaint | null => {
  if (buffersAreOrdered(settingsOf(given))) return null
  return { at: given.min_buffer === undefined ? 'max_buffer' : 'min_buffer', message: BUFFERS_NOT_ORDERED }
}
