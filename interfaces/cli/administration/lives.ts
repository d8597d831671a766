import { parseArgs } from 'node:util'
import * as t from 'io-ts'
import { object } from '../../../domain/shared/codecs.ts'
import { withControl } from '../control-client.ts'
import type { Control } from '../control-client.ts'
import { tableOf } from '../table.ts'
import { findUser } from './users.ts'

export const LIVES_HELP = `stenolog lives list [--status STATUS]... [--user NAME] [--skip N] [--limit N] [--json]
stenolog lives finish ID [--json]

The lives of all users, newest first, without their tokens and texts; every look and every end is on record.
Works on the instance of STENOLOG_DATA_DIR, beside a running service or without one.
--status STATUS   pending, active, finished or error; may be repeated
--user NAME       of one user
--skip, --limit   default 0 and 100
--json            the live, or the list of lives, as JSON
The column lag holds the seconds by which a running live's text is behind its audio.`

const live = object({
  id: t.number,
  username: t.string,
  user_id: t.number,
  status: t.string,
  audio_format: t.string,
  vram: t.number,
  lag: t.union([t.number, t.null]),
  model: object({ name: t.string }),
  language: object({ iso_639_1: t.string }),
  translations: t.readonlyArray(object({ lang_to: object({ iso_639_1: t.string }) })),
  created_at: t.string,
  updated_at: t.union([t.string, t.null]),
})
type Live = t.TypeOf<typeof live>

const table = (lives: ReadonlyArray<Live>): string =>
  tableOf(
    ['id', 'user', 'status', 'format', 'model', 'language', 'into', 'MB', 'lag', 'created'],
    lives.map((one) => [
      one.id, one.username, one.status, one.audio_format, one.model.name, one.language.iso_639_1,
      one.translations.map(({ lang_to }) => lang_to.iso_639_1).join(','), one.vram, one.lag ?? '', one.created_at,
    ]),
  )

const optionsOf = (args: ReadonlyArray<string>) =>
  parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      status: { type: 'string', multiple: true, default: [] },
      user: { type: 'string' },
      skip: { type: 'string', default: '0' },
      limit: { type: 'string', default: '100' },
      json: { type: 'boolean', default: false },
    },
  })
type Options = ReturnType<typeof optionsOf>['values']

const listOf = async (control: Control, options: Options): Promise<ReadonlyArray<Live>> => {
  const query = new URLSearchParams({ skip: options.skip, limit: options.limit })
  for (const status of options.status) query.append('status', status)
  if (options.user !== undefined) query.set('user_id', String((await findUser(control, options.user)).id))
  return control.ask('GET', `/admin/lives?${query.toString()}`, t.readonlyArray(live))
}

/** `stenolog lives …`: resolves to the exit code. */
export const lives = async (args: ReadonlyArray<string>): Promise<number> => {
  const { values: options, positionals } = optionsOf(args)
  const [action, id, ...rest] = positionals
  if (action === 'list' && id === undefined) {
    const found = await withControl((control) => listOf(control, options))
    console.log(options.json ? JSON.stringify(found) : table(found))
    return 0
  }
  if (action !== 'finish' || id === undefined || rest.length > 0) throw new Error('lives needs list or finish ID; see --help')
  const finished = await withControl((control) => control.ask('PUT', `/admin/lives/${encodeURIComponent(id)}/finish`, live))
  console.log(options.json ? JSON.stringify(finished) : table([finished]))
  return 0
}
