import * as t from 'io-ts'
import {
  buffersAreOrdered, DEFAULT_ENGINE_SETTINGS, engineSettingMembers, type EngineSettings, furtherSettingMembers,
} from '../../../domain/live/settings.ts'
import {
  type GivenVocabulary, MAX_HOTWORD_CHARACTERS, MAX_HOTWORDS, MAX_PROMPT_CHARACTERS, optionalVocabulary,
  vocabularyMembers,
} from '../../../domain/live/vocabulary.ts'
import { object } from '../../../domain/shared/codecs.ts'
import { type Complaint, freeText, listOf, members, optional } from './validation.ts'

const settingMembers = { ...engineSettingMembers, ...furtherSettingMembers }

export const promptText = freeText(0, MAX_PROMPT_CHARACTERS)
export const hotwordList = listOf(freeText(1, MAX_HOTWORD_CHARACTERS), MAX_HOTWORDS)

/** The settings of a request that creates a session or a profile. Each may be left out. */
export const settingFields = {
  vad: optional(settingMembers.vad, undefined),
  mode: optional(settingMembers.mode, undefined),
  min_buffer: optional(settingMembers.min_buffer, undefined),
  max_buffer: optional(settingMembers.max_buffer, undefined),
  buffer_timeout: optional(settingMembers.buffer_timeout, undefined),
  max_delay: optional(settingMembers.max_delay, undefined),
  max_chars: optional(settingMembers.max_chars, undefined),
  max_lines: optional(settingMembers.max_lines, undefined),
  punctuation: optional(settingMembers.punctuation, undefined),
  words: optional(settingMembers.words, undefined),
  task: optional(settingMembers.task, undefined),
  prompt: optional(promptText, undefined),
  hotwords: optional(hotwordList, undefined),
}

export const settingsBody = members(settingFields)
export type GivenSettings = t.TypeOf<typeof settingsBody>

/** Drops undefined members: the members that were not sent. */
export const sentMembers = <A extends object>(given: A): Sent<A> =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Sent<A>

type Sent<A> = { readonly [K in keyof A]?: Exclude<A[K], undefined> }

/**
 * Fills in defaults. `words` and `task`, which Stenolog adds to the interface 0.6.2, have no default. They are absent
 * unless they were sent.
 */
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
  ...sentMembers({ words, task }),
})

/** Returns `{ vocabulary }` if a prompt or hotwords were sent, otherwise `{}`. */
export const vocabularyOf = ({ prompt, hotwords }: Pick<GivenSettings, 'prompt' | 'hotwords'>) =>
  optionalVocabulary(sentMembers({ prompt, hotwords }))

/** Settings that Stenolog adds to the interface 0.6.2. A response contains each of them only if a request set it. */
export const addedSettings = { ...furtherSettingMembers, ...vocabularyMembers }
export const settingsView = object(engineSettingMembers, addedSettings, 'EngineSettings')
/** Settings in a list, without `prompt` and `hotwords`: those of one session can have 40 kB. */
export const listedSettingsView = object(engineSettingMembers, furtherSettingMembers, 'ListedEngineSettings')
const compatibleSettings = t.strict(engineSettingMembers)

/** Presents settings in a response. If `strict`, only the nine settings of the interface 0.6.2 remain. */
export const presentSettings = (
  settings: EngineSettings,
  vocabulary: GivenVocabulary,
  strict: boolean,
): t.TypeOf<typeof settingsView> =>
  strict ? compatibleSettings.encode(settings) : settingsView.encode({ ...settings, ...vocabulary })

export const BUFFERS_NOT_ORDERED = 'min_buffer should not be greater than max_buffer'

/**
 * If min_buffer is greater than max_buffer, returns a complaint about min_buffer, or about max_buffer if min_buffer was
 * not sent. Otherwise returns null.
 */
export const bufferComplaint = (given: GivenSettings): Complaint | null => {
  if (buffersAreOrdered(settingsOf(given))) return null
  return { at: given.min_buffer === undefined ? 'max_buffer' : 'min_buffer', message: BUFFERS_NOT_ORDERED }
}
