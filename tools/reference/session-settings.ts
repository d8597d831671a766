import { createSchemas } from '../../interfaces/description/json-schema.ts'
import { DEFAULT_ENGINE_SETTINGS, engineSettingMembers } from '../../domain/live/settings.ts'
import { settingsBody } from '../../interfaces/http/codecs/settings-codec.ts'
import { SETTING_TEXTS, type SessionSetting } from '../../interfaces/http/codecs/setting-texts.ts'
import { code, page, table } from './markdown.ts'
import { membersOf } from './schemas.ts'

const DEFAULTS: Readonly<Record<string, unknown>> = { ...DEFAULT_ENGINE_SETTINGS, task: 'transcribe', words: false }

/** A setting with the value `null` counts as left out, so the table does not show `null`. */
const MEMBERS = membersOf(createSchemas().of(settingsBody)).map(
  (member) => ({ ...member, type: member.type.replace(/ or null$|, `null`$/, '') }),
)

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
    'Choose these settings when you create a session (`config` of `POST /lives`), in a profile (`POST '
      + '/user-live-configs`), in the console, or in the first frame of the sender (`{"type":"config", …}`). A '
      + 'setting that you leave out keeps its default. A profile only fills the form of the console; a session over '
      + 'REST uses only the settings of its request. All times are in seconds.',
    'A *draft* is text that may still change. *Final* text does not change any more. A *segment* is one piece of the '
      + 'text.',
    'A value outside its bounds is refused: with 422 over REST, with `invalid_config` over the WebSocket. '
      + '`min_buffer` must not be greater than `max_buffer`.',
    table(['Name', 'Value', 'Default'], MEMBERS.map(cellsOf)),
    '## The nine settings of every session',
    ...textsOf(isOfInterface),
    '## Beyond the interface',
    'Stenolog implements a fixed interface, version 0.6.2, and adds these settings to it. A response contains one of '
      + 'them only if the request contained it. [Transcripts](../transcripts.md) shows examples.',
    ...textsOf((member) => !isOfInterface(member)),
    '## Three examples',
    table(
      ['For', 'Settings'],
      [
        ['Captions of a talk', 'the defaults'],
        ['Quick dialogue', code('{"min_buffer":0.5,"buffer_timeout":0.5,"max_delay":3}')],
        ['Lines for a program', code('{"mode":"final","max_chars":1000,"max_lines":1}')],
      ],
    ),
  )
