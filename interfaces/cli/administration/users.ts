import * as t from 'io-ts'
import { object } from '../../../domain/shared/codecs.ts'
import { usageError } from '../../command-error.ts'
import { USERS } from '../commands/accounts.ts'
import type { Values } from '../commands/command.ts'
import { readArguments } from '../commands/read-arguments.ts'
import { type Control, fetchAll, withControl, withExistingData } from '../control-client.ts'
import { readPassword } from '../password-input.ts'
import { unknownUser } from '../not-found.ts'
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

const allUsers = (control: Control): Promise<ReadonlyArray<User>> => fetchAll(control, '/users/', user)

/**
 * Finds a user by name, with the rules of the login: upper and lower case differ, but the Unicode forms of an accent
 * are equal. Throws a CommandError for an unknown name.
 */
export const findUser = async (control: Control, name: string): Promise<User> => {
  const users = await allUsers(control)
  const found = users.find(({ username }) => username.normalize('NFC') === name.normalize('NFC'))
  if (found === undefined) throw unknownUser(name, users.map(({ username }) => username))
  return found
}

const table = (users: ReadonlyArray<User>): string =>
  tableOf(
    ['id', 'username', 'active', 'sessions', 'translations', 'permissions', 'created'],
    users.map(({ id, username, is_active, max_sessions, max_translations, permissions, created_at }) => [
      id, username, is_active ? 'yes' : 'no', max_sessions, max_translations, permissions.join(','), created_at,
    ]),
  )

type Options = Values<typeof USERS>

const numberOf = (given: string | undefined): number | undefined => (given === undefined ? undefined : Number(given))

/** Undefined members do not appear in the JSON, so the service leaves them unchanged. */
const limitsOf = (options: Options) => ({
  max_sessions: numberOf(options['max-sessions']),
  max_translations: numberOf(options['max-translations']),
  permissions: options['no-permissions'] ? [] : options.permission.length === 0 ? undefined : options.permission,
})

const change = async (control: Control, name: string, body: object): Promise<User> => {
  const { id } = await findUser(control, name)
  return control.request('PUT', `/users/${id}`, user, body)
}

type Action = (control: Control) => Promise<User>

/** Reads the password and checks the options first, so that a mistake stops the command before it needs a service. */
const actionFor = async (action: string, name: string, options: Options): Promise<Action> => {
  switch (action) {
    case 'create': {
      const body = { username: name, password: await readPassword(options['password-file']), ...limitsOf(options) }
      return (control) => control.request('POST', '/users/', user, body)
    }
    case 'change': {
      if (options['no-permissions'] && options.permission.length > 0)
        throw usageError('Use either --permission or --no-permissions.')
      const body = limitsOf(options)
      if (Object.values(body).every((value) => value === undefined))
        throw usageError(
          'stenolog users change needs at least one option.',
          `npm run stenolog -- users change ${name} --max-sessions 2`,
        )
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

/** Runs `stenolog users …`. Resolves to the exit code. */
export const users = async (args: ReadonlyArray<string>): Promise<number> => {
  const { action, operands: [name = ''], options } = readArguments(USERS, args)
  if (action === 'list') {
    const found = await withExistingData(allUsers)
    console.log(options.json ? JSON.stringify(found) : table(found))
    return 0
  }
  if (action === 'export') return (await import('../stores/user-export.ts')).exportUser(name)
  if (action === 'delete') {
    await withExistingData(async (control) => control.remove(`/users/${(await findUser(control, name)).id}`))
    console.log('user deleted')
    return 0
  }
  const act = await actionFor(action, name, options)
  // A user may be created before the first start of the service.
  const changed = await (action === 'create' ? withControl(act) : withExistingData(act))
  console.log(options.json ? JSON.stringify(changed) : table([changed]))
  return 0
}
