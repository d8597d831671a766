import { randomBytes } from 'node:crypto'
import { writeFile, readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import {
  createClient, handshake, logIn, type Client, type LiveJson, type Listing, type Single,
} from '../../../support/service/client.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { launch } from '../../../support/service/launch.ts'
import { prefixed } from '../../../support/service/service.ts'
import { isOnServers } from '../../../support/stores/chosen-stores.ts'
import { startTestStores } from '../../../support/stores/stores.ts'
import { sampleSentences, silence } from '../../../support/audio/speech.ts'
import { temporaryDirectory } from '../../../support/tools/temporary-directory.ts'

/** Returns the bytes of every file below a directory, by relative path. */
const contentsOf = async (directory: string): Promise<ReadonlyMap<string, Buffer>> => {
  const entries = await readdir(directory, { withFileTypes: true, recursive: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const contents = files.map(async (file) => [file.slice(directory.length + 1), await readFile(file)] as const)
  return new Map(await Promise.all(contents))
}

/** The base64 forms of a text inside a longer text: base64 encodes three bytes at a time, so there are three forms. */
const withinBase64 = (text: string, encoding: 'base64' | 'base64url'): ReadonlyArray<string> =>
  [0, 1, 2].map((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)])
    const encoded = bytes.subarray(0, bytes.length - (bytes.length % 3)).toString(encoding)
    // The first characters also contain bits of the bytes before the text.
    return encoded.slice(offset === 0 ? 0 : offset + 1)
  })

const percentEncoded = (text: string): string =>
  Array.from(Buffer.from(text), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')

/** Returns a secret in every form in which it could leak, by the name of the form. */
const formsOf = (secret: string): Readonly<Record<string, ReadonlyArray<string>>> => {
  const hex = Buffer.from(secret).toString('hex')
  const query = new URLSearchParams([['', secret]]).toString().slice(1)
  const percent = percentEncoded(secret)
  const forUrls = [encodeURIComponent(secret), query, percent, percent.toLowerCase()]
  return {
    'in clear': [secret, JSON.stringify(secret).slice(1, -1)],
    'in base64': withinBase64(secret, 'base64'),
    'in base64url': withinBase64(secret, 'base64url'),
    'in hex': [hex, hex.toUpperCase()],
    'URL-encoded': forUrls.filter((text) => text !== secret),
    'in UTF-16': [Buffer.from(secret, 'utf16le').toString('latin1')],
  }
}

/** Creates a search for secrets in all their forms. The search returns the names and forms of the secrets it finds. */
const createSearch = (secrets: Readonly<Record<string, string>>): ((bytes: Buffer) => ReadonlyArray<string>) => {
  const needles = Object.entries(secrets).flatMap(([name, secret]) =>
    Object.entries(formsOf(secret)).flatMap(([form, texts]) => {
      const encoding = form === 'in UTF-16' ? 'latin1' : 'utf8'
      return [...new Set(texts)].map((text) => [`${name} ${form}`, Buffer.from(text, encoding)] as const)
    }),
  )
  return (bytes) => [...new Set(needles.filter(([, needle]) => bytes.includes(needle)).map(([label]) => label))]
}

const USERNAME = 'Zebulon Quartermaine'
const ADMIN = { username: 'Ottoline Featherstone', password: 'Gerenuk & Dikdik = 1' }
const PASSWORDS = {
  first: 'Caracal/Serval+1',
  own: 'Fennec?Aardwolf 2',
  'by the admin': 'Binturong%Civet#3',
  wrong: 'Pangolin-but-wrong',
}
const CUSTOM = 'custom-token-Okapi-12'
const URL_WITH_SECRETS = 'rtsp://camera:Xylophone-77@cams.example/stream?key=Wapiti-4711'
const HINTS = { prompt: 'Kookaburra and Cassowary', hotwords: ['Aye-aye sanctuary'] }
const LATER_HINTS = { hotwords: ['Kakapo preserve'] }
const PROFILE_HINTS = { prompt: 'Potoroo and Bilby' }
const GUESSES = ['guessed-Bongo-token', 'guessed-Dikdik-token'] as const

/** Sends a sentence and returns the texts of its finals. */
const sendSentence = async (client: Client, live: LiveJson): Promise<ReadonlyArray<string>> => {
  const [listener, sender] = [await client.socket(live, 'listener'), await client.socket(live, 'sender')]
  sender.send({ type: 'config', words: true })
  sender.send({ type: 'config', ...LATER_HINTS })
  for (const samples of [(await sampleSentences())[0]?.samples ?? silence(1), silence(2)]) sender.sendAudio(samples)
  sender.send({ type: 'FINISH' })
  await sender.closed
  await listener.closed
  return sender.frames.filter(({ final }) => final === true).map(({ text }) => String(text))
}

type Key = Single<{ readonly id: number; readonly token: string }>

/** Sends secrets in wrong places: refused requests, paths, unknown parameters and wrong credentials. */
const sendSecretsToWrongPlaces = async (client: Client, live: LiveJson, key: Key['data']): Promise<void> => {
  const ws = client.url.replace('http', 'ws')
  await createClient(client.url).request('GET', '/lives/', { headers: { 'x-api-key': key.token } })
  await client.get(`/lives/?api_key=${key.token}`)
  await client.get(`/tokens/${key.token}`)
  await handshake(`${ws}/ws/live?token=${GUESSES[0]}`)
  await handshake(`${ws}/nowhere?token=${live.sender_token}&x=${GUESSES[1]}`)
  await client.get(`/lives/?token=${live.sender_token}&unknown=${GUESSES[1]}`)
  await client.get(`/lives/${live.sender_token}`)
  await client.get(`/ws/live/${live.listener_token}`)
  await handshake(`${ws}/ws/live/${live.listener_token}?token=${live.sender_token}&token_sender=${GUESSES[1]}`)
  await client.put('/lives/finish-by-audio_url', { audio_url: `${URL_WITH_SECRETS}&more` })
  await client.post('/lives', { model: 'demo-en', language: 'en', audio_format: 'hls', audio_url: URL_WITH_SECRETS })
  await client.form('/login', { username: USERNAME, password: PASSWORDS.wrong })
  await client.form('/login', { username: PASSWORDS.first, password: USERNAME })
  await client.request('POST', '/login', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ password: PASSWORDS.first }),
  })
  await client.put('/users/me/password', { current_password: PASSWORDS.wrong, new_password: PASSWORDS.wrong })
  await client.request('GET', '/lives/', { headers: { 'x-api-key': 'lt_Aardvark_secret' } })
  await client.request('POST', '/tokens/', {
    headers: { 'content-type': 'application/json' },
    body: `{"name":"${key.token}`,
  })
  await createClient(client.url, client.token?.slice(0, -3)).get('/lives/')
}

test('neither the output nor the data directory contains a secret in any encoding', async (t) => {
  t.timeout(600_000)
  const { path: directory, remove } = await temporaryDirectory()
  t.teardown(remove)
  const stores = await startTestStores()
  t.teardown(stores.dispose)
  const service = launch(t, {
    ...prefixed(stores.settings),
    STENOLOG_DATA_DIR: directory,
    STENOLOG_PORT: '0',
    STENOLOG_LOG_LEVEL: 'trace',
    STENOLOG_RATE_LIMIT: '0',
    STENOLOG_DRAIN_TIMEOUT: '0s',
  })
  const url = await service.url()
  const link = await eventually(() => {
    const found = /http:\S+\/setup#token=(\S+)/.exec(service.stdout())
    if (found === null) throw new Error('no set-up link')
    return found
  })
  const setup = link[1] ?? ''
  const anonymous = createClient(url)
  t.is((await anonymous.post('/setup', { token: `${setup}x`, ...ADMIN })).status, 403)
  t.is((await anonymous.post('/setup', { token: setup, ...ADMIN })).status, 200)
  const admin = await logIn(url, ADMIN.username, ADMIN.password)
  const user = { username: USERNAME, password: PASSWORDS.first, permissions: ['user_retention'] }
  const { id } = (await admin.post<Single<{ readonly id: number }>>('/users/', user)).body.data
  const client = await logIn(url, USERNAME, PASSWORDS.first)

  const pulled = await client.createLive({ audio_format: 'rtsp', audio_url: URL_WITH_SECRETS, listener_token: CUSTOM })
  const [retained, unretained] = [
    await client.createLive({ live_retention: true, config: HINTS }), await client.createLive(),
  ]
  const texts = [...(await sendSentence(client, retained)), ...(await sendSentence(client, unretained))]
  t.true(texts.length > 1)
  t.is((await client.get(`/lives/${retained.id}/transcript`)).status, 200)
  for (const live of [retained, pulled]) t.is((await client.get(`/lives/${live.id}/history`)).status, 200)
  const deleted = await client.createLive({ audio_format: 'hls', audio_url: 'https://radio.example/Quoll-13.m3u8' })
  t.is((await client.request('DELETE', `/lives/${deleted.id}`)).status, 200)

  const key = (await client.post<Key>('/tokens/', { name: 'Numbat key' })).body.data
  await client.post('/user-live-configs/', { name: 'Wombat profile', ...PROFILE_HINTS })
  await client.get('/user-live-configs/')
  await admin.get('/admin/lives')
  await sendSecretsToWrongPlaces(client, retained, key)
  await client.put(`/tokens/${key.id}`, { name: 'Numbat key again', is_active: false })
  t.is((await createClient(url, key.token).get('/lives/')).status, 401)
  await client.put('/lives/finish-by-audio_url', { audio_url: URL_WITH_SECRETS })
  t.is((await client.get<Listing<LiveJson>>('/lives/?status=finished')).body.data.length, 3)
  t.is(
    (await client.put('/users/me/password', { current_password: PASSWORDS.first, new_password: PASSWORDS.own }))
      .status,
    200,
  )
  const second = await logIn(url, USERNAME, PASSWORDS.own)
  t.is((await admin.put(`/users/${id}`, { password: PASSWORDS['by the admin'] })).status, 200)
  const third = await logIn(url, USERNAME, PASSWORDS['by the admin'])

  const signatures = [admin, client, second, third].map(
    ({ token }, n) => [`signature of login ${n}`, token?.split('.')[2] ?? ''] as const,
  )
  const tokens = [pulled, retained, unretained, deleted].flatMap(
    (live) =>
      [
        [`sender token of ${live.id}`, live.sender_token],
        [`listener token of ${live.id}`, live.listener_token],
      ] as const,
  )
  const secrets: Readonly<Record<string, string>> = {
    ...Object.fromEntries([...signatures, ...tokens]),
    ...Object.fromEntries(Object.entries(PASSWORDS).map(([name, password]) => [`password ${name}`, password])),
    ...Object.fromEntries(texts.map((text, n) => [`text ${n}`, text.split('\n')[0] ?? text])),
    login: client.token ?? '',
    'admin password': ADMIN.password,
    'admin name': ADMIN.username,
    username: USERNAME,
    'hash of a password': '$argon2id$',
    'set-up token': setup,
    'audio URL': URL_WITH_SECRETS,
    'password in the URL': 'Xylophone-77',
    'key in the URL': 'Wapiti-4711',
    'host in the URL': 'cams.example',
    'URL of a deleted session': 'Quoll-13',
    'guessed token': GUESSES[0],
    'guess elsewhere': GUESSES[1],
    'wrong API key': 'Aardvark_secret',
    'API token': key.token.slice(16),
    'token name': 'Numbat key',
    'profile name': 'Wombat profile',
    prompt: HINTS.prompt,
    hotword: String(HINTS.hotwords),
    'later hotword': String(LATER_HINTS.hotwords),
    'prompt of a profile': PROFILE_HINTS.prompt,
  }
  t.true(Object.values(secrets).every((secret) => secret.length >= 8), 'each secret is too long to appear by chance')
  const search = createSearch(secrets)

  // First check the search: it must find each secret in each encoding.
  for (const [name, secret] of Object.entries(secrets))
    for (const [form, encoded] of Object.entries(formsOf(secret)))
      for (const text of encoded)
        t.true(
          search(
            Buffer.concat([
              randomBytes(50),
              Buffer.from(text, form === 'in UTF-16' ? 'latin1' : 'utf8'),
              randomBytes(50),
            ]),
          ).includes(`${name} ${form}`),
        )
  const controlSearch = createSearch({
    'event type': 'ApiTokenUsed',
    'prefix of a key': key.token.slice(0, 15),
    model: 'demo-en',
    canary: 'Jerboa-canary/1',
  })
  await writeFile(join(directory, 'canary'), Buffer.from('a Jerboa-canary/1 in base64').toString('base64'))

  const output = (): Buffer => Buffer.from(service.stderr() + service.stdout().replace(link[0], ''))
  t.true(service.stdout().includes(link[0]), 'the set-up link is printed outside the log')
  t.true(
    output().includes('"/lives/finish-by-audio_url"') && output().includes('socket closed'),
    'the log has the requests and the sockets',
  )
  const contents = async (): Promise<ReadonlyMap<string, Buffer>> =>
    new Map((await Promise.all([directory, ...stores.directories].map(contentsOf))).flatMap((files) => [...files]))
  const running = await contents()
  const kinds = isOnServers
    ? [/^log$|chunk-000000\.000000$/, /^data$/]
    : [/^events\.sqlite$/, /^documents\.sqlite$/, /^keyring\.sqlite$/]
  t.is([...running.keys()].some((name) => name.endsWith('-wal')), !isOnServers, 'write-ahead files are searched too')
  service.kill('SIGTERM')
  t.is(await service.exited, 0)
  t.deepEqual(search(output()), [])
  for (const files of [running, await contents()]) {
    for (const kind of kinds) t.true([...files.keys()].some((name) => kind.test(name)), `${kind}`)
    const found = controlSearch(Buffer.concat([...files.values()]))
    for (const control of ['canary in base64', 'event type in clear', 'model in clear', 'prefix of a key in clear'])
      t.true(found.includes(control), control)
    for (const [name, bytes] of files) t.deepEqual(search(bytes), [], name)
  }
})
