import * as t from 'io-ts'
import { object } from '../../../domain/shared/codecs.ts'
import { misused } from '../../command-error.ts'
import { USERS } from '../commands/accounts.ts'
import type { Values } from '../commands/command.ts'
import { readArguments } from '../commands/read-arguments.ts'
import { allOf, withControl } from '../control-client.ts'
import type { Control } from '../control-client.ts'
import { readPassword } from '../password-input.ts'
import { unknownUser } from '../not-there.ts'
import { tableOf } from '../table.ts'

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
  const users = await allUsers(control)
  const found = users.find(({ username }) => username.normalize('NFC') === name.normalize('NFC'))
  if (found === undefined) throw unknownUser(name, users.map(({ username }) => username))
  return found
}

const table = (users: ReadonlyArray<User>): string =>
  tableOf(
    ['id', 'username', 'active', 'sessions', 'translations', 'permissions', 'created'],
    users.map((one) => [
      one.id, one.username, one.is_active ? 'yes' : 'no', one.max_sessions, one.max_translations, one.permissions.join(','), one.created_at,
    ]),
  )

type Options = Values<typeof USERS>

const numberOf = (given: string | undefined): number | undefined => (given === undefined ? undefined : Number(given))

/** What is undefined is left out of the JSON. */
const limitsOf = (options: Options) => ({
  max_sessions: numberOf(options['max-sessions']),
  max_translations: numberOf(options['max-translations']),
  permissions: options['no-permissions'] ? [] : options.permission.length === 0 ? undefined : options.permission,
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
      if (Object.values(body).every((value) => value === undefined)) throw misused('stenolog users change needs something to change.', `npm run stenolog -- users change ${name} --max-sessions 2`)
      return (control) => change(control, name, body)
    }
    case 'set-password': {
      const body = { password: await readPassword(options['password-file']) }
      return (control) => change(control, name, body)
    }
    default:
      return (control) => change(control, name, { is_active: action === 'activate' })
  }
}

/** `stenolog users …`: resolves to the exit code. */
export const users = async (args: ReadonlyArray<string>): Promise<number> => {
  const { action, operands: [name = ''], options } = readArguments(USERS, args)
  if (action === 'list') {
    const found = await withControl(allUsers)
    console.log(options.json ? JSON.stringify(found) : table(found))
    return 0
  }
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
