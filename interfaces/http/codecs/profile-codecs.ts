import * as t from 'io-ts'
import type { ProfileView } from '../../../application/ports/read-models.ts'
import type { ProfileChange } from '../../../application/profiles/commands/change-profile.ts'
import { engineSettingMembers, furtherSettingMembers } from '../../../domain/live/settings.ts'
import { NO_VOCABULARY } from '../../../domain/live/vocabulary.ts'
import { object } from '../../../domain/shared/codecs.ts'
import type { RequestFacts } from '../clients/request-facts.ts'
import { count, dates } from './presenters.ts'
import { resourceName } from './request-codecs.ts'
import {
  addedSettings, bufferComplaint, hotwordList, presentSettings, promptText, sentMembers, settingFields, vocabularyOf,
} from './settings-codec.ts'
import { members, omittable, refined } from './validation.ts'

export const newProfileBody = refined(members({ name: resourceName, ...settingFields }), bufferComplaint)

const settingMembers = { ...engineSettingMembers, ...furtherSettingMembers }
export const profileChangeBody = members({
  name: omittable(resourceName),
  vad: omittable(settingMembers.vad),
  mode: omittable(settingMembers.mode),
  min_buffer: omittable(settingMembers.min_buffer),
  max_buffer: omittable(settingMembers.max_buffer),
  buffer_timeout: omittable(settingMembers.buffer_timeout),
  max_delay: omittable(settingMembers.max_delay),
  max_chars: omittable(settingMembers.max_chars),
  max_lines: omittable(settingMembers.max_lines),
  punctuation: omittable(settingMembers.punctuation),
  words: omittable(settingMembers.words),
  task: omittable(settingMembers.task),
  prompt: omittable(promptText),
  hotwords: omittable(hotwordList),
})

/** Returns only the members that were sent. */
export const profileChange = (
  { name, prompt, hotwords, ...settings }: t.TypeOf<typeof profileChangeBody>,
): ProfileChange => ({
  ...(name === undefined ? {} : { name }),
  settings: sentMembers(settings),
  ...vocabularyOf({ prompt, hotwords }),
})

const alwaysPresent = { id: count, name: t.string, ...engineSettingMembers, ...dates }
/** A profile in a response. `words`, `task`, `prompt` and `hotwords` are present only if they were sent. */
export const profileView = object(alwaysPresent, addedSettings, 'Profile')
/** A profile in a list, without `prompt` and `hotwords`. */
export const listedProfileView = object(alwaysPresent, furtherSettingMembers, 'ListedProfile')

export const presentProfile = (
  { id, name, settings, vocabulary = NO_VOCABULARY, createdAt, updatedAt }: ProfileView,
  { strict }: Pick<RequestFacts, 'strict'>,
): t.TypeOf<typeof profileView> => ({
  id,
  name,
  ...presentSettings(settings, vocabulary, strict),
  created_at: createdAt,
  updated_at: updatedAt,
})

export const presentListedProfile: (...args: Parameters<typeof presentProfile>) => t.TypeOf<typeof listedProfileView> =
  (profile, facts) => presentProfile({ ...profile, vocabulary: NO_VOCABULARY }, facts)
