import { parseArgs } from 'node:util'
import * as t from 'io-ts'
import { object } from '../../../domain/shared/codecs.ts'
import { allOf, withControl } from '../control-client.ts'
import type { Control } from '../control-client.ts'
import { tableOf } from '../table.ts'
import { findUser } from './users.ts'

export const TOKENS_HELP = `stenolog tokens list USER [--json]
stenolog tokens create USER NAME [--expires INSTANT] [--quiet | --json]
stenolog tokens rename ID NAME [--json]
stenolog tokens activate|deactivate ID [--json]
stenolog tokens revoke ID

The API tokens of users, who send them as X-API-Key or as bearer token. Every act is on record, with the actor operator.
Works on the instance of STENOLOG_DATA_DIR, beside a running service or without one.
--expires INSTANT  end of the token, as 2027-01-31T00:00:00Z; never, unless given
--quiet            the secret alone
--json             the token, or the list of tokens, as JSON; of create with the secret as "token"

create shows the secret of the token, this once: it is kept nowhere. revoke is for good, deactivate is not; both count from the
next request on.`

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
    tokens.map((one) => [
      one.id, one.name, one.token_prefix, one.is_active ? 'yes' : 'no', one.expires_at ?? 'never', one.last_used_at ?? 'never', one.created_at,
    ]),
  )

const optionsOf = (args: ReadonlyArray<string>) =>
  parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      expires: { type: 'string' },
      quiet: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  })
type Options = ReturnType<typeof optionsOf>['values']

const asUser = async (control: Control, name: string): Promise<Control> => control.as((await findUser(control, name)).id)

const pathOf = (id: string): string => `/tokens/${encodeURIComponent(id)}`

const list = async (user: string, { json }: Options): Promise<string> => {
  const found = await withControl(async (control) => allOf(await asUser(control, user), '/tokens/', token))
  return json ? JSON.stringify(found) : table(found)
}

const create = async (user: string, name: string, { expires, quiet, json }: Options): Promise<string> => {
  const body = { name, ...(expires === undefined ? {} : { expires_at: expires }) }
  const issued = await withControl(async (control) => (await asUser(control, user)).ask('POST', '/tokens/', issuedToken, body))
  if (json) return JSON.stringify(issued)
  return quiet ? issued.token : `${table([issued])}\n\n${issued.token}\nThis is the secret; it is not shown again.`
}

const change = async (id: string, body: object, { json }: Options): Promise<string> => {
  const changed = await withControl((control) => control.ask('PUT', pathOf(id), token, body))
  return json ? JSON.stringify(changed) : table([changed])
}

const revoke = async (id: string): Promise<string> => {
  await withControl((control) => control.remove(pathOf(id)))
  return 'the token is revoked'
}

/** What to print, null for what is no command. */
const outcomeOf = (action: string, [first, second, ...rest]: ReadonlyArray<string>, options: Options): Promise<string> | null => {
  if (first === undefined || rest.length > 0) return null
  if (second !== undefined) {
    if (action === 'create') return create(first, second, options)
    return action === 'rename' ? change(first, { name: second }, options) : null
  }
  switch (action) {
    case 'list':
      return list(first, options)
    case 'activate':
    case 'deactivate':
      return change(first, { is_active: action === 'activate' }, options)
    case 'revoke':
      return revoke(first)
    default:
      return null
  }
}

/** `stenolog tokens …`: resolves to the exit code. */
export const tokens = async (args: ReadonlyArray<string>): Promise<number> => {
  const { values: options, positionals } = optionsOf(args)
  const [action = '', ...names] = positionals
  if (options.quiet && options.json) throw new Error('one of --quiet and --json at most')
  const outcome = outcomeOf(action, names, options)
  if (outcome === null) throw new Error('tokens needs a command with its USER, ID or NAME; see --help')
  console.log(await outcome)
  return 0
}
