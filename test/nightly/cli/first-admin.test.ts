import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { createClient, logIn, type Json, type Single } from '../../support/service/client.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { launch, type Launched } from '../../support/service/launch.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

const LINK = /^Create the first administrator.*: (http:\S+)\/setup#token=([A-Za-z0-9_-]{43})$/m

const dataDirectory = async (t: ExecutionContext): Promise<string> => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  return path
}

const start = (t: ExecutionContext, directory: string, settings: Readonly<Record<string, string>> = {}): Launched =>
  launch(t, {
    STENOLOG_PORT: '0',
    STENOLOG_DATA_DIR: directory,
    STENOLOG_DRAIN_TIMEOUT: '0s',
    ...Object.fromEntries(Object.entries(settings).map(([name, value]) => [`STENOLOG_${name}`, value])),
  })

const linkOf = (service: Launched): Promise<{ readonly url: string; readonly token: string }> =>
  eventually(() => {
    const [, url, token] = LINK.exec(service.stdout()) ?? []
    if (url === undefined || token === undefined) throw new Error('no link')
    return { url, token }
  })

const stop = async (service: Launched): Promise<number | null> => {
  service.kill('SIGTERM')
  return service.exited
}

test.serial('the printed setup link creates one administrator, once, and is never logged', async (t) => {
  const directory = await dataDirectory(t)
  const service = start(t, directory)
  const { url, token } = await linkOf(service)
  t.is(url, await service.url())
  const client = createClient(url)

  const page = await client.get<string>('/setup')
  t.is(page.status, 200)
  t.regex(page.headers.get('content-type') ?? '', /^text\/html/)
  t.regex(page.body, /<meta name="stenolog" content="setup"/)
  t.false(page.body.includes(token))

  const admin = { username: 'first admin', password: 'a good long password' }
  const wrong = await client.post('/setup', { ...admin, token: `${token}x` })
  t.is(wrong.status, 403)
  t.deepEqual(wrong.body, { detail: 'Setup link is invalid, expired or already used' })
  t.is(
    (await client.post('/setup', { ...admin, token, password: 'short' })).status,
    422,
    'a refused password does not use up the link',
  )
  t.is((await client.post('/users/', admin)).status, 401)

  const created = await Promise.all([1, 2, 3].map(() => client.post<Single<Json>>('/setup/', { ...admin, token })))
  t.deepEqual(created.map(({ status }) => status).toSorted((a, b) => a - b), [200, 403, 403])
  t.is((await client.post('/setup', { ...admin, username: 'second', token })).status, 403)
  t.regex((await client.get<string>('/setup')).body, /<meta name="stenolog" content="ready"/)

  const signedIn = await logIn(url, admin.username, admin.password)
  t.is((await signedIn.post('/users/', { username: 'somebody', password: 'long enough' })).status, 200)
  t.is((await signedIn.get('/users/')).status, 200)
  t.is(await stop(service), 0)
  t.is(service.stdout().split(token).length, 2, 'the token is printed once')
  t.true(service.stderr().includes('"/setup"'), 'the log names the requests')
  t.false(service.stderr().includes(token))

  const again = start(t, directory)
  t.is((await createClient(await again.url()).post('/setup', { ...admin, token })).status, 403)
  t.is(await stop(again), 0)
  t.notRegex(again.stdout(), LINK, 'a service with a user prints no setup link')
})

test.serial('each start without a user prints a new link, and only one link can be used', async (t) => {
  const directory = await dataDirectory(t)
  const first = start(t, directory)
  const { token } = await linkOf(first)
  t.is(await stop(first), 0)
  const second = start(t, directory)
  const link = await linkOf(second)
  t.not(link.token, token)
  const redeem = async (linkToken: string) =>
    (await createClient(link.url).post('/setup', { username: 'late', password: 'long enough', token: linkToken }))
      .status
  t.deepEqual([await redeem(token), await redeem(link.token), await redeem(token)], [200, 403, 403])
})

test.serial('the settings create the first administrator and never change an existing one', async (t) => {
  const directory = await dataDirectory(t)
  const file = join(await dataDirectory(t), 'password')
  await writeFile(file, 'the first password\n')
  const first = start(t, directory, { ADMIN_USERNAME: 'root', ADMIN_PASSWORD_FILE: file })
  t.is((await (await logIn(await first.url(), 'root', 'the first password')).get('/users/')).status, 200)
  t.notRegex(first.stdout(), LINK)
  t.is(await stop(first), 0)

  const second = start(t, directory, { ADMIN_USERNAME: 'root', ADMIN_PASSWORD: 'another password' })
  const url = await second.url()
  t.is((await createClient(url).form('/login', { username: 'root', password: 'another password' })).status, 401)
  t.is((await createClient(url).form('/login', { username: 'root', password: 'the first password' })).status, 200)
  t.is(await stop(second), 0)
})

test.serial('an empty, short or missing password for the first administrator stops the start', async (t) => {
  const file = join(await dataDirectory(t), 'password')
  await writeFile(file, '\n')
  for (const password of [{ ADMIN_PASSWORD_FILE: file }, { ADMIN_PASSWORD: '1234567' }]) {
    const service = start(t, await dataDirectory(t), { ADMIN_USERNAME: 'root', ...password })
    t.is(await service.exited, 1)
    t.regex(service.stderr(), /cannot start: the password of the first administrator should have at least 8 char/)
    t.is(service.stdout(), '')
  }
  const missing = { ADMIN_USERNAME: 'root', ADMIN_PASSWORD_FILE: `${file}-missing` }
  const service = start(t, await dataDirectory(t), missing)
  t.is(await service.exited, 1)
  t.regex(service.stderr(), /cannot start: STENOLOG_ADMIN_PASSWORD_FILE: there is no file /)
})
