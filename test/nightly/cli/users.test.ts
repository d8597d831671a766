import { spawn } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import test from 'ava'
import { CHILD_ENVIRONMENT } from '../../support/tools/child-environment.ts'
import { createClient, logIn, type Json, type Single } from '../../support/service/client.ts'
import { runTestService } from '../../support/service/service.ts'

const service = await runTestService()
test.after.always(() => service.dispose())

const MAIN = join(import.meta.dirname, '..', '..', '..', 'interfaces', 'cli', 'main.ts')

interface CommandResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs the command line in a separate process on the data directory of the service. */
const stenolog = async (args: ReadonlyArray<string>, input = ''): Promise<CommandResult> => {
  const env = { ...CHILD_ENVIRONMENT, STENOLOG_DATA_DIR: service.dataDirectory }
  const child = spawn(process.execPath, [MAIN, ...args], { env, stdio: ['pipe', 'pipe', 'pipe'] })
  child.stdin.end(input)
  const code = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { code: await code, stdout, stderr }
}

const json = async <A>(args: ReadonlyArray<string>, input = ''): Promise<A> => {
  const { code, stdout, stderr } = await stenolog([...args, '--json'], input)
  if (code !== 0) throw new Error(stderr)
  return JSON.parse(stdout) as A
}

test.serial('the command line creates, lists and changes users while the service runs', async (t) => {
  const created = await json<Json>(
    ['users', 'create', 'zoë', '--max-sessions', '2', '--permission', 'user_retention'],
    'a first password\n',
  )
  t.like(created, { username: 'zoë', max_sessions: 2, max_translations: 5, is_active: true })
  const first = await logIn(service.url(), 'zoë', 'a first password')
  const { data } = (await first.get<Single<Json>>('/users/me')).body
  t.deepEqual(data, created, 'the command prints the same data as REST')

  t.like(await json(['users', 'change', 'zoe\u0308', '--max-translations', '0', '--no-permissions']), {
    max_translations: 0,
    permissions: [],
  })
  await json(['users', 'set-password', 'zoë'], 'a second password')
  t.is((await first.get('/users/me')).status, 401, 'a new password ends earlier logins')
  const second = await logIn(service.url(), 'zoë', 'a second password')
  t.like(await json(['users', 'deactivate', 'zoë']), { is_active: false })
  t.is((await second.get('/users/me')).status, 401)
  t.like(await json(['users', 'activate', 'zoë']), { is_active: true })
  t.is((await second.get('/users/me')).status, 401, 'the old login has ended')
  t.is((await (await logIn(service.url(), 'zoë', 'a second password')).get('/users/me')).status, 200)

  const listed = await stenolog(['users', 'list'])
  t.regex(listed.stdout, /^id +username +active +sessions +translations +permissions +created$/m)
  t.regex(listed.stdout, /^\d+ +zoë +yes +2 +0 +\d{4}-/m)
  t.is((await json<ReadonlyArray<Json>>(['users', 'list'])).length, 2)
})

test.serial('the command line lists and finishes the sessions of all users while the service runs', async (t) => {
  const member = await service.user('speaker')
  const [live, other] = [await member.createLive(), await (await service.user('another')).createLive()]
  const rows = await json<ReadonlyArray<Json>>(['lives', 'list'])
  t.deepEqual(rows.map(({ id, username }) => [id, username]), [[other.id, 'another'], [live.id, 'speaker']])
  t.false(JSON.stringify(rows).includes(live.listener_token))
  t.deepEqual(
    (await json<ReadonlyArray<Json>>(['lives', 'list', '--user', 'speaker', '--status', 'pending'])).map(
      ({ id }) => id,
    ),
    [live.id],
  )
  t.like(await json(['lives', 'finish', String(live.id)]), { id: live.id, status: 'finished' })
  t.is((await member.get<Single<Json>>(`/lives/${live.id}`)).body.data['status'], 'finished')
  t.regex(
    (await stenolog(['lives', 'list'])).stdout,
    new RegExp(`^${live.id} +speaker +finished +raw +demo-en +en +0 `, 'm'),
  )
})

test.serial('the command line manages API tokens of users while the service runs', async (t) => {
  const [owner, bystander] = [await service.user('owner'), await service.user('bystander')]
  await bystander.post('/tokens/', { name: 'not to be listed' })
  const { code, stdout, stderr } = await stenolog(['tokens', 'create', 'owner', 'ci', '--quiet'])
  t.deepEqual([code, stderr], [0, ''])
  t.regex(stdout, /^lt_[0-9A-Za-z]{12}_[0-9A-Za-z]{43}\n$/, 'the output is only the secret')
  const byKey = async (): Promise<number> =>
    (await fetch(`${service.url()}/users/me`, { headers: { 'x-api-key': stdout.trim() } })).status
  t.is(await byKey(), 200)

  const lasting = await json<Json>(['tokens', 'create', 'owner', 'for a month', '--expires', '2099-01-31T00:00:00Z'])
  t.like(lasting, { name: 'for a month', expires_at: '2099-01-31T00:00:00.000000+00:00', is_active: true })
  t.regex(String(lasting['token']), /^lt_/)
  const shown = await stenolog(['tokens', 'create', 'owner', 'third'])
  t.regex(shown.stdout, /^lt_\w+\n.*not shown again/m)

  const listed = await json<ReadonlyArray<Json>>(['tokens', 'list', 'owner'])
  t.deepEqual(listed.map(({ name }) => name), ['third', 'for a month', 'ci'])
  t.deepEqual(
    (await owner.get<{ readonly data: ReadonlyArray<Json> }>('/tokens/')).body.data,
    listed,
    'the command prints the same data as REST',
  )
  t.false((await stenolog(['tokens', 'list', 'owner'])).stdout.includes(stdout.trim()))

  const id = String(listed.at(-1)?.['id'])
  t.like(await json(['tokens', 'rename', id, 'nightly']), { name: 'nightly' })
  t.like(await json(['tokens', 'deactivate', id]), { is_active: false })
  t.is(await byKey(), 401)
  t.like(await json(['tokens', 'activate', id]), { is_active: true })
  t.is(await byKey(), 200)
  t.is((await stenolog(['tokens', 'revoke', id])).stdout, 'token revoked\n')
  t.is(await byKey(), 401)
})

test.serial('users, lives and tokens: each refused command prints one line and exits with 1 or 2', async (t) => {
  const cases: ReadonlyArray<readonly [ReadonlyArray<string>, string, RegExp, number?]> = [
    [['users', 'create', 'root'], 'a long password', /^error: Username already taken$/m],
    [['users', 'create', 'weak'], 'short', /^error: The password needs at least 8 characters\.$/m],
    [['users', 'change', 'nobody', '--max-sessions', '1'], '', /^error: There is no user "nobody"\.$/m],
    [
      ['users', 'change', 'root', '--permission', 'all'],
      '',
      /^error: --permission should be user_retention or admin, not "all"\.$/m,
      2,
    ],
    [['lives', 'finish', '4711'], '', /^error: There is no session 4711\.$/m],
    [['tokens', 'list', 'nobody'], '', /^error: There is no user "nobody"\.$/m],
    [
      ['tokens', 'create', 'root', 'late', '--expires', '2001-01-01T00:00:00Z'],
      '',
      /^error: --expires should be in the future, not "2001-01-01T00:00:00Z"\.$/m,
      2,
    ],
    [['tokens', 'revoke', '4711'], '', /^error: There is no token 4711\.$/m],
    [['tokens', 'rename', '1'], '', /^error: stenolog tokens rename needs NAME/m, 2],
  ]
  for (const [args, input, expected, exitCode = 1] of cases) {
    const { code, stdout, stderr } = await stenolog(args, input)
    t.is(code, exitCode, args.join(' '))
    t.is(stdout, '')
    t.regex(stderr, expected)
  }
})

test.serial('the control socket gives its owner the routes of administration but no data of users', async (t) => {
  const socketPath = join(service.dataDirectory, 'control.sock')
  t.is((await stat(socketPath)).mode & 0o777, 0o600)
  const statusOf = (path: string, headers: Readonly<Record<string, string>> = {}): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      request({ socketPath, path, headers }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
        .once('error', reject)
        .end()
    })
  t.is(await statusOf('/users/'), 200)
  t.is(await statusOf('/lives/'), 401)
  t.is(await statusOf('/users/me'), 401)
  t.is((await createClient(service.url()).get('/users/')).status, 401, 'the network needs a login')
  t.is(await statusOf('/tokens/'), 401, 'the request names no user')
  t.is(await statusOf('/tokens/', { 'x-on-behalf-of': '1' }), 200)
  t.is(await statusOf('/tokens/', { 'x-on-behalf-of': '4711' }), 404, 'an unknown user has no tokens')
  t.is(await statusOf('/lives/', { 'x-on-behalf-of': '1' }), 401, 'the socket serves only the tokens of a user')
  t.is(
    (await fetch(`${service.url()}/tokens/`, { headers: { 'x-on-behalf-of': '1' } })).status,
    401,
    'the network needs a login',
  )
})

test.serial('a command without a running service starts one and ends it', async (t) => {
  await service.kill('SIGKILL')
  t.like(await json(['users', 'set-password', 'root'], 'found again at last'), { username: 'root' })
  await service.start()
  t.is((await (await logIn(service.url(), 'root', 'found again at last')).get('/users/')).status, 200)
})
