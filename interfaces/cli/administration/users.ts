import { parseArgs } from 'node:util'
import * as t from 'io-ts'
import { object } from '../../../domain/shared/codecs.ts'
import { allOf, withControl } from '../control-client.ts'
import type { Control } from '../control-client.ts'
import { readPassword } from '../password-input.ts'
import { tableOf } from '../table.ts'

export const USERS_HELP = `stenolog users list [--json]
stenolog users create NAME [LIMITS] [--password-file FILE] [--json]
stenolog users change NAME [LIMITS] [--no-permissions] [--json]
stenolog users set-password NAME [--password-file FILE] [--json]
stenolog users activate|deactivate NAME [--json]
stenolog users delete NAME
stenolog users export NAME

Works on the instance of STENOLOG_DATA_DIR, beside a running service or without one.
LIMITS            --max-sessions N, --max-translations N, --permission user_retention, --permission admin
--password-file   file that holds the password; without it the password is asked for or read from standard input
--json            the user, or the list of users, as JSON

A new password ends the user's logins. Deactivating a user ends the open lives too; nothing is deleted.
The last active administrator cannot be demoted, deactivated or deleted.
delete            for good: ends the open lives and destroys all keys of the user and of the lives, so that nothing personal can
                  be read again, in no backup either; the name is free
export            all that is kept of a user as one JSON object, {user, profiles, tokens, lives}: secrets are left out, texts are
                  there as long as they are kept. Reads the log, beside a running service or without one`

const user = object({
  id: t.number,
  username: t.string,
  permissions: t.readonlyArray(t.string),
  max_sessions: t.number,
  max_translations: t.number,
  is_active: t.boolean,
  created_at: t.string,
  updated_at: t.union([t.string, t.null]),
})
type User = t.TypeOf<typeof user>

const allUsers = (control: Control): Promise<ReadonlyArray<User>> => allOf(control, '/users/', user)

/** Exact case, however accents are written, as with a login. */
export const findUser = async (control: Control, name: string): Promise<User> => {
  const found = (await allUsers(control)).find(({ username }) => username.normalize('NFC') === name.normalize('NFC'))
  if (found === undefined) throw new Error('no user has this name')
  return found
}

const table = (users: ReadonlyArray<User>): string =>
  tableOf(
    ['id', 'username', 'active', 'sessions', 'translations', 'permissions', 'created'],
    users.map((one) => [
      one.id, one.username, one.is_active ? 'yes' : 'no', one.max_sessions, one.max_translations, one.permissions.join(','), one.created_at,
    ]),
  )

const optionsOf = (args: ReadonlyArray<string>) =>
  parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      'max-sessions': { type: 'string' },
      'max-translations': { type: 'string' },
      permission: { type: 'string', multiple: true },
      'no-permissions': { type: 'boolean', default: false },
      'password-file': { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  })
type Options = ReturnType<typeof optionsOf>['values']

const numberOf = (option: string, given: string | undefined): number | undefined => {
  if (given === undefined) return undefined
  if (!/^\d+$/.test(given)) throw new Error(`--${option} is a whole number`)
  return Number(given)
}

/** What is undefined is left out of the JSON. */
const limitsOf = (options: Options) => ({
  max_sessions: numberOf('max-sessions', options['max-sessions']),
  max_translations: numberOf('max-translations', options['max-translations']),
  permissions: options['no-permissions'] ? [] : options.permission,
})

const change = async (control: Control, name: string, body: object): Promise<User> => {
  const { id } = await findUser(control, name)
  return control.ask('PUT', `/users/${id}`, user, body)
}

/** What is asked of the terminal or the files comes before the service is talked to. */
const actionFor = async (action: string, name: string, options: Options): Promise<(control: Control) => Promise<User>> => {
  switch (action) {
    case 'create': {
      const body = { username: name, password: await readPassword(options['password-file']), ...limitsOf(options) }
      return (control) => control.ask('POST', '/users/', user, body)
    }
    case 'change': {
      const body = limitsOf(options)
      if (Object.values(body).every((value) => value === undefined)) throw new Error('users change needs something to change')
      return (control) => change(control, name, body)
    }
    case 'set-password': {
      const body = { password: await readPassword(options['password-file']) }
      return (control) => change(control, name, body)
    }
    case 'activate':
    case 'deactivate':
      return (control) => change(control, name, { is_active: action === 'activate' })
    default:
      throw new Error(`users has no command ${action}; see --help`)
  }
}

/** `stenolog users …`: resolves to the exit code. */
export const users = async (args: ReadonlyArray<string>): Promise<number> => {
  const { values: options, positionals } = optionsOf(args)
  const [action, name, ...rest] = positionals
  if (action === 'list' && name === undefined) {
    const found = await withControl(allUsers)
    console.log(options.json ? JSON.stringify(found) : table(found))
    return 0
  }
  if (action === undefined || name === undefined || rest.length > 0) throw new Error('users needs a command and a NAME; see --help')
  if (action === 'export') return (await import('../stores/user-export.ts')).exportUser(name)
  if (action === 'delete') {
    await withControl(async (control) => control.remove(`/users/${(await findUser(control, name)).id}`))
    console.log('the user is deleted')
    return 0
  }
  const changed = await withControl(await actionFor(action, name, options))
  console.log(options.json ? JSON.stringify(changed) : table([changed]))
  return 0
}
