import * as t from 'io-ts'
import { object } from '../../../domain/shared/codecs.ts'
import { LIVES } from '../commands/accounts.ts'
import type { Values } from '../commands/command.ts'
import { readArguments } from '../commands/read-arguments.ts'
import { type Control, orNotFound, withExistingData } from '../control-client.ts'
import { unknownLive } from '../not-found.ts'
import { tableOf } from '../table.ts'
import { findUser } from './users.ts'

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
    lives.map(({ id, username, status, audio_format, model, language, translations, vram, lag, created_at }) => [
      id, username, status, audio_format, model.name, language.iso_639_1,
      translations.map(({ lang_to }) => lang_to.iso_639_1).join(','), vram, lag ?? '', created_at,
    ]),
  )

type Options = Values<typeof LIVES>

const listOf = async (control: Control, options: Options): Promise<ReadonlyArray<Live>> => {
  const query = new URLSearchParams({ skip: options.skip, limit: options.limit })
  for (const status of options.status) query.append('status', status)
  if (options.user !== undefined) query.set('user_id', String((await findUser(control, options.user)).id))
  return control.request('GET', `/admin/lives?${query.toString()}`, t.readonlyArray(live))
}

/** Runs `stenolog lives …`. Resolves to the exit code. */
export const lives = async (args: ReadonlyArray<string>): Promise<number> => {
  const { action, operands: [id = ''], options } = readArguments(LIVES, args)
  if (action === 'list') {
    const found = await withExistingData((control) => listOf(control, options))
    console.log(options.json ? JSON.stringify(found) : table(found))
    return 0
  }
  const path = `/admin/lives/${encodeURIComponent(id)}/finish`
  const finished = await withExistingData((control) =>
    orNotFound(unknownLive(Number(id)), () => control.request('PUT', path, live)))
  console.log(options.json ? JSON.stringify(finished) : table([finished]))
  return 0
}
