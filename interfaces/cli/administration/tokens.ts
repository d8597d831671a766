import * as t from 'io-ts'
import { object } from '../../../domain/shared/codecs.ts'
import { quoted, usageError } from '../../command-error.ts'
import { TOKENS } from '../commands/accounts.ts'
import type { Values } from '../commands/command.ts'
import { readArguments } from '../commands/read-arguments.ts'
import { type Control, fetchAll, orNotFound, withExistingData } from '../control-client.ts'
import { unknownToken } from '../not-found.ts'
import { tableOf } from '../table.ts'
import { findUser } from './users.ts'

const members = {
  id: t.number,
  name: t.string,
  token_prefix: t.string,
  is_active: t.boolean,
  expires_at: t.union([t.string, t.null]),
  last_used_at: t.union([t.string, t.null]),
  created_at: t.string,
}
const token = object(members)
const issuedToken = object({ ...members, token: t.string })
type Token = t.TypeOf<typeof token>

const table = (tokens: ReadonlyArray<Token>): string =>
  tableOf(
    ['id', 'name', 'prefix', 'active', 'expires', 'last used', 'created'],
    tokens.map(({ id, name, token_prefix, is_active, expires_at, last_used_at, created_at }) => [
      id, name, token_prefix, is_active ? 'yes' : 'no', expires_at ?? 'never', last_used_at ?? 'never', created_at,
    ]),
  )

type Options = Values<typeof TOKENS>

const asUser = async (control: Control, name: string): Promise<Control> =>
  control.asUser((await findUser(control, name)).id)

/** Uses one token. Throws a CommandError for an unknown id. */
const withToken = <A>(id: string, use: (control: Control) => Promise<A>): Promise<A> =>
  withExistingData((control) => orNotFound(unknownToken(Number(id)), () => use(control)))

const pathOf = (id: string): string => `/tokens/${encodeURIComponent(id)}`

const list = async (user: string, { json }: Options): Promise<string> => {
  const found = await withExistingData(async (control) => fetchAll(await asUser(control, user), '/tokens/', token))
  return json ? JSON.stringify(found) : table(found)
}

/** The service refuses a past time too, but its answer names a member of the REST interface instead of the option. */
const requireFutureTime = (time: string): void => {
  if (Date.parse(time) <= Date.now())
    throw usageError(`--expires should be in the future, not ${quoted(time)}.`, 'npm run stenolog -- tokens --help')
}

const create = async (user: string, name: string, { expires, quiet, json }: Options): Promise<string> => {
  if (expires !== undefined) requireFutureTime(expires)
  const body = { name, ...(expires === undefined ? {} : { expires_at: expires }) }
  const issued = await withExistingData(async (control) => {
    const userControl = await asUser(control, user)
    return userControl.request('POST', '/tokens/', issuedToken, body)
  })
  if (json) return JSON.stringify(issued)
  return quiet ? issued.token : `${table([issued])}\n\n${issued.token}\nThis is the secret. It is not shown again.`
}

const change = async (id: string, body: object, { json }: Options): Promise<string> => {
  const changed = await withToken(id, (control) => control.request('PUT', pathOf(id), token, body))
  return json ? JSON.stringify(changed) : table([changed])
}

const revoke = async (id: string): Promise<string> => {
  await withToken(id, (control) => control.remove(pathOf(id)))
  return 'token revoked'
}

/** Runs one action. Resolves to the text to print. */
const runAction = (
  action: string,
  [first = '', second = '']: ReadonlyArray<string>,
  options: Options,
): Promise<string> => {
  switch (action) {
    case 'list':
      return list(first, options)
    case 'create':
      return create(first, second, options)
    case 'rename':
      return change(first, { name: second }, options)
    case 'revoke':
      return revoke(first)
    default:
      return change(first, { is_active: action === 'activate' }, options)
  }
}

/** Runs `stenolog tokens …`. Resolves to the exit code. */
export const tokens = async (args: ReadonlyArray<string>): Promise<number> => {
  const { action, operands, options } = readArguments(TOKENS, args)
  if (options.quiet && options.json) throw usageError('Use either --quiet or --json.')
  console.log(await runAction(action, operands, options))
  return 0
}
