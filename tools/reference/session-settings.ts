import { createSchemas } from '../../interfaces/description/json-schema.ts'
import { DEFAULT_ENGINE_SETTINGS, engineSettingMembers } from '../../domain/live/settings.ts'
import { settingsBody } from '../../interfaces/http/codecs/settings-codec.ts'
import { SETTING_TEXTS } from '../../interfaces/http/codecs/setting-texts.ts'
import type { SessionSetting } from '../../interfaces/http/codecs/setting-texts.ts'
import { code, page, table } from './markdown.ts'
import { membersOf } from './schemas.ts'

const DEFAULTS: Readonly<Record<string, unknown>> = { ...DEFAULT_ENGINE_SETTINGS, task: 'transcribe', words: false }

/** `null` counts as left out everywhere. */
const MEMBERS = membersOf(createSchemas().of(settingsBody)).map((member) => ({ ...member, type: member.type.replace(/ or null$|, `null`$/, '') }))

const cellsOf = ({ name, type }: (typeof MEMBERS)[number]) => {
  const fallback = DEFAULTS[name]
  return [code(name), type, fallback === undefined ? '–' : code(JSON.stringify(fallback))]
}

const isOfInterface = ({ name }: { readonly name: string }): boolean => name in engineSettingMembers

const textsOf = (isWanted: (member: (typeof MEMBERS)[number]) => boolean): ReadonlyArray<string> =>
  MEMBERS.filter(isWanted).map((member) => {
    const { meaning, text, delay, advice } = SETTING_TEXTS[member.name as SessionSetting]
    return `### ${code(member.name)}\n\n${meaning}\n\n- Text: ${text}\n- Delay: ${delay}\n- Advice: ${advice}`
  })

export const sessionSettingsPage = (): string =>
  page(
    'Session settings',
    'You choose these when you create a session (`config` of `POST /lives`), in a profile (`POST /user-live-configs`), in the console, '
      + 'or in the first frame of the sender (`{"type":"config", …}`). What you leave out keeps its default. A profile fills the form of the '
      + 'console; a session that you create over REST takes only what its request says. All times are seconds.',
    'A value outside its bounds is answered 422 at its member, over the WebSocket `invalid_config`. `min_buffer` may not be greater than `max_buffer`.',
    table(['Name', 'Value', 'Default'], MEMBERS.map(cellsOf)),
    '## The nine settings of every session',
    ...textsOf(isOfInterface),
    '## Beyond the interface',
    'Each of these is told in answers only where you sent it. [Examples](../transcripts.md).',
    ...textsOf((member) => !isOfInterface(member)),
    '## Three sets to begin with',
    table(
      ['For', 'Settings'],
      [
        ['Captions of a talk', 'the defaults'],
        ['Quick dialogue', code('{"min_buffer":0.5,"buffer_timeout":0.5,"max_delay":3}')],
        ['Lines for a program', code('{"mode":"final","max_chars":1000,"max_lines":1}')],
      ],
    ),
  )
