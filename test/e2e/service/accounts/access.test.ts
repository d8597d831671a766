import { join } from 'node:path'
import test from 'ava'
import { SignJWT, UnsecuredJWT, decodeJwt, type JWTPayload } from 'jose'
import { deriveKey, loadMasterKey } from '../../../../infrastructure/keys/master-key.ts'
import { createClient, type Json, type Listing, type LiveJson, type Single } from '../../../support/service/client.ts'
import { ADMIN } from '../../../support/service/service.ts'
import { sharedTestService } from '../../../support/service/shared-service.ts'

const service = sharedTestService()

const NOT_AUTHENTICATED = { detail: 'Not authenticated' }
const NOT_VALID = { detail: 'Could not validate credentials' }

const issuesOf = ({ detail }: Json): ReadonlyArray<unknown> =>
  (detail as ReadonlyArray<Json>).map(({ type, loc }) => [type, loc])

test('private routes answer 401 to missing and bad credentials before they check the body', async (t) => {
  const routes = [
    ['GET', '/lives/'],
    ['POST', '/lives'],
    ['GET', '/lives/1'],
    ['GET', '/lives/none'],
    ['PUT', '/lives/1/finish'],
    ['PUT', '/lives/finish-by-audio_url'],
    ['GET', '/users/'],
    ['POST', '/users/'],
    ['GET', '/user-live-configs/'],
    ['POST', '/user-live-configs'],
    ['PUT', '/user-live-configs/1'],
    ['DELETE', '/user-live-configs/1'],
    ['GET', '/tokens/'],
    ['POST', '/tokens'],
    ['PUT', '/tokens/1'],
    ['DELETE', '/tokens/1'],
  ] as const
  for (const [method, path] of routes) {
    const body = method === 'GET' ? {} : { body: '{', headers: { 'content-type': 'application/json' } }
    const withoutCredentials = await service.anonymous().request(method, path, body)
    t.is(withoutCredentials.status, 401, `${method} ${path}`)
    t.deepEqual(withoutCredentials.body, NOT_AUTHENTICATED)
    t.is(withoutCredentials.headers.get('www-authenticate'), 'Bearer')
    for (const bad of [{ authorization: 'Bearer bad' }, { 'x-api-key': 'bad' }]) {
      const answer = await service
        .anonymous()
        .request(method, path, { ...body, headers: { 'content-type': 'application/json', ...bad } })
      t.is(answer.status, 401, `${method} ${path}`)
      t.deepEqual(answer.body, NOT_VALID)
      t.is(answer.headers.get('www-authenticate'), 'Bearer')
    }
  }
})

test('a login takes a form, answers exactly two members and ignores further OAuth2 fields', async (t) => {
  const { status, body } = await service.anonymous().form('/login', {
    ...ADMIN, grant_type: 'password', scope: '', client_id: 'x', client_secret: 'y',
  })
  t.is(status, 200)
  t.deepEqual(Object.keys(body), ['access_token', 'token_type'])
  t.is(body['token_type'], 'bearer')
  const claims = decodeJwt(String(body['access_token']))
  t.deepEqual(Object.keys(claims).toSorted(), ['exp', 'gen', 'iat', 'iss', 'jti', 'sub'])
  t.is(Number(claims.exp) - Number(claims.iat), 24 * 3600, 'a login lasts 24 hours')

  const missing = (member: string) => ['missing', ['body', member]]
  const withoutPassword = await service.anonymous().form('/login', { username: 'root' })
  t.deepEqual([withoutPassword.status, issuesOf(withoutPassword.body)], [422, [missing('password')]])
  const withoutUsername = await service.anonymous().form('/login', { password: 'x' })
  t.deepEqual([withoutUsername.status, issuesOf(withoutUsername.body)], [422, [missing('username')]])
  const json = await service.anonymous().post('/login', ADMIN)
  t.deepEqual([json.status, issuesOf(json.body)], [422, [missing('username'), missing('password')]])
  const twice = await service.anonymous().request('POST', '/login', {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'username=ann&username=bob&password=x',
  })
  t.deepEqual([twice.status, issuesOf(twice.body)], [422, [['string_type', ['body', 'username']]]])
})

test('a wrong password and an unknown user get the same answer', async (t) => {
  const answers = await Promise.all([
    service.anonymous().form('/login', { username: ADMIN.username, password: 'wrong' }),
    service.anonymous().form('/login', { username: 'nobody', password: ADMIN.password }),
    service.anonymous().form('/login', { username: '', password: '' }),
  ])
  for (const { status, body, headers } of answers) {
    t.is(status, 401)
    t.deepEqual(body, { detail: 'Incorrect username or password' })
    t.is(headers.get('www-authenticate'), 'Bearer')
  }
})

test('the token of a login works on every private route, whatever the case of the scheme', async (t) => {
  const { token } = await service.admin()
  for (const scheme of ['Bearer', 'bearer', 'BEARER', 'BeArEr'])
    for (const path of ['/lives/', '/users/'])
      t.is(
        (await service.anonymous().request('GET', path, { headers: { authorization: `${scheme} ${token}` } })).status,
        200,
      )
})

test('only a complete, unexpired token signed by this service is valid', async (t) => {
  const key = deriveKey(
    await loadMasterKey(service.stores['MASTER_KEY_FILE'] ?? join(service.dataDirectory, 'master.key')),
    'jwt',
  )
  const { token } = await service.admin()
  const good = decodeJwt(token ?? '')
  const sign = (claims: JWTPayload, alg = 'HS256', secret: Uint8Array = key): Promise<string> =>
    new SignJWT(claims).setProtectedHeader({ alg }).sign(secret)
  const statusWith = async (credential: string): Promise<number> =>
    (await createClient(service.url(), credential).get('/lives/')).status
  const without = (name: string): JWTPayload =>
    Object.fromEntries(Object.entries(good).filter(([claim]) => claim !== name))
  const now = Math.floor(Date.now() / 1000)

  t.is(await statusWith(await sign(good)), 200, 'a valid hand-made token: each case below changes one part')
  const bad: Readonly<Record<string, string>> = {
    'alg none': new UnsecuredJWT(good).encode(),
    'the same key under HS512': await sign(good, 'HS512'),
    'the same key under HS384': await sign(good, 'HS384'),
    'wrong key': await sign(good, 'HS256', Buffer.alloc(32, 1)),
    'signature cut off': (token ?? '').replace(/\.[^.]+$/, '.'),
    'payload changed': (token ?? '').replace(
      /\.[^.]+\./,
      `.${Buffer.from(JSON.stringify({ ...good, sub: '2' })).toString('base64url')}.`,
    ),
    expired: await sign({ ...good, iat: now - 7200, exp: now - 3600 }),
    'exp as text': await sign({ ...good, exp: String(good.exp) as unknown as number }),
    'foreign iss': await sign({ ...good, iss: 'elsewhere' }),
    'no iss': await sign(without('iss')),
    'no sub': await sign(without('sub')),
    'no exp': await sign(without('exp')),
    'no gen': await sign(without('gen')),
    'another generation': await sign({ ...good, gen: Number(good['gen']) + 1 }),
    'unknown user': await sign({ ...good, sub: '4711' }),
    'sub as path': await sign({ ...good, sub: '1/../1' }),
    huge: `${token}${'A'.repeat(12_000)}`,
  }
  for (const [flaw, credential] of Object.entries(bad)) {
    const answer = await createClient(service.url(), credential).get('/lives/')
    t.is(answer.status, 401, flaw)
    t.deepEqual(answer.body, NOT_VALID, flaw)
  }
})

test('only admins may use /users, and a request body cannot grant privileges', async (t) => {
  const member = await service.user('member')
  t.is((await member.get('/users/')).status, 403)
  const refused = await member.post('/users/', 'not even an object')
  t.is(refused.status, 403)
  t.deepEqual(refused.body, { detail: 'Not enough permissions' })

  const admin = await service.admin()
  const newUser = { username: 'plain', password: 'long enough', id: 99, is_admin: true }
  const created = await admin.post<Single<Json>>('/users/', newUser)
  t.is(created.status, 200)
  t.not(created.body.data['id'], 99)
  t.deepEqual(created.body.data['permissions'], [])
  t.false(JSON.stringify(created.body).includes('long enough'))
})

test('another user’s sessions cannot be listed, read or finished', async (t) => {
  const [owner, other] = [await service.user('owner'), await service.user('other')]
  const url = { audio_format: 'hls', audio_url: 'https://example.com/shared.m3u8' }
  const [raw, pulled] = [await owner.createLive(), await owner.createLive(url)]
  const own = await other.createLive(url)

  t.deepEqual((await other.get<Listing<LiveJson>>('/lives/')).body.data.map(({ id }) => id), [own.id])
  for (const { id } of [raw, pulled])
    for (const answer of [await other.get(`/lives/${id}`), await other.put(`/lives/${id}/finish`)]) {
      t.is(answer.status, 404)
      t.deepEqual(answer.body, { detail: 'Live not found' })
    }
  const ended = await other.put<Listing<LiveJson>>('/lives/finish-by-audio_url', { audio_url: url.audio_url })
  t.deepEqual(ended.body.data.map(({ id }) => id), [own.id])
  const { data } = (await owner.get<Listing<LiveJson>>('/lives/')).body
  t.deepEqual(data.map(({ id, status }) => [id, status]), [[pulled.id, 'pending'], [raw.id, 'pending']])
  t.is(
    (await (await service.admin()).get(`/lives/${raw.id}`)).status,
    404,
    'an admin does not own other users’ sessions',
  )
})

test('an id that is not an integer is 422, and an unknown id is 404', async (t) => {
  const client = await service.user('finder')
  for (const id of ['abc', '1.5', '1e3', '0x1', '%20', 'null', '%E0%A4%A', '7%2F8'])
    for (const answer of [await client.get(`/lives/${id}`), await client.put(`/lives/${id}/finish`)]) {
      t.is(answer.status, 422, id)
      t.deepEqual(issuesOf(answer.body), [['int_parsing', ['path', 'id']]], id)
    }
  for (const id of ['0', '-1', '99999', '2147483648', '9007199254740993', '9'.repeat(400)])
    for (const answer of [await client.get(`/lives/${id}`), await client.put(`/lives/${id}/finish`)]) {
      t.is(answer.status, 404, id)
      t.deepEqual(answer.body, { detail: 'Live not found' })
    }
})
