import * as t from 'io-ts'
import type { ProfileView } from '../../../application/ports/read-models.ts'
import type { ProfileChange } from '../../../application/profiles/commands/change-profile.ts'
import { engineSettingMembers, engineSettings } from '../../../domain/live/settings.ts'
import { count, dates } from './presenters.ts'
import { resourceName } from './request-codecs.ts'
import { orderedBuffers, settingFields } from './settings-codec.ts'
import { members, omittable, refined } from './validation.ts'

export const newProfileBody = refined(members({ name: resourceName, ...settingFields }), orderedBuffers)

const m = engineSettingMembers
export const profileChangeBody = members({
  name: omittable(resourceName),
  vad: omittable(m.vad),
  mode: omittable(m.mode),
  min_buffer: omittable(m.min_buffer),
  max_buffer: omittable(m.max_buffer),
  buffer_timeout: omittable(m.buffer_timeout),
  max_delay: omittable(m.max_delay),
  max_chars: omittable(m.max_chars),
  max_lines: omittable(m.max_lines),
  punctuation: omittable(m.punctuation),
})

/** Only what was sent (R109). */
export const profileChange = ({ name, ...settings }: t.TypeOf<typeof profileChangeBody>): ProfileChange => ({
  ...(name === undefined ? {} : { name }),
  settings: Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)),
})

/** The members of interface.md 2.2. */
export const profileView = t.strict({ id: count, name: t.string, ...engineSettingMembers, ...dates }, 'Profile')

export const presentProfile = ({ id, name, settings, createdAt, updatedAt }: ProfileView): t.TypeOf<typeof profileView> => ({
  id,
  name,
  ...engineSettings.encode(settings),
  created_at: createdAt,
  updated_at: updatedAt,
})
