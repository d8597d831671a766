import type { ExecutionContext } from 'ava'
import { logIn, type Client } from './client.ts'
import type { Launched } from './launch.ts'
import { ADMIN, passwordOf } from './service.ts'
import { temporaryDirectory } from '../tools/temporary-directory.ts'

type Variables = Readonly<Record<string, string>>

/** The environment variables for `launch` on a data directory, with an administrator and without rate limits. */
export const launchSettings = (dataDirectory: string, more: Variables = {}): Variables => ({
  STENOLOG_DATA_DIR: dataDirectory,
  STENOLOG_PORT: '0',
  STENOLOG_ADMIN_USERNAME: ADMIN.username,
  STENOLOG_ADMIN_PASSWORD: ADMIN.password,
  STENOLOG_RATE_LIMIT: '0',
  STENOLOG_DRAIN_TIMEOUT: '0s',
  STENOLOG_VRAM_MB: '1000000',
  STENOLOG_OVERCOMMIT: '0',
  ...more,
})

/** Creates a data directory that is removed with the test. */
export const dataDirectoryFor = async (t: ExecutionContext): Promise<string> => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  return path
}

/** Logs in as the administrator, creates a user, and logs in as the user. */
export const createUser = async (
  service: Launched,
  username: string,
): Promise<{ readonly admin: Client; readonly client: Client }> => {
  const admin = await logIn(await service.url(), ADMIN.username, ADMIN.password)
  await admin.api.call('createUser', { body: { username, password: passwordOf(username), max_sessions: 100_000 } })
  return { admin, client: await logIn(admin.url, username, passwordOf(username)) }
}
