import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { createClient, handshake } from '../support/client.ts'
import type { LiveJson, Listing, Single } from '../support/client.ts'
import { ADMIN, passwordOf, startTestService } from '../support/service.ts'
import { sampleSentences, silence } from '../support/speech.ts'

/** The bytes of every file below a directory, by name. */
const contents = async (directory: string): Promise<ReadonlyMap<string, Buffer>> => {
  const entries = await readdir(directory, { withFileTypes: true, recursive: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return new Map(await Promise.all(files.map(async (file) => [file.slice(directory.length + 1), await readFile(file)] as const)))
}

test('D59, D60, S10, S11, S26: no secret of a run is in its log or, in clear, in its data directory', async (t) => {
  const service = await startTestService(t, { LOG_LEVEL: 'trace' })
  const username = 'Zebulon Quartermaine'
  const client = await service.user(username, { permissions: ['user_retention'] })
  const url = 'rtsp://camera:Xylophone-77@cams.example/stream?key=Wapiti-4711'
  const custom = 'custom-token-Okapi-12'
  const guesses = ['guessed-Bongo-token', 'guessed-Dikdik-token']
  const pulled = await client.createLive({ audio_format: 'rtsp', audio_url: url, listener_token: custom })
  const live = await client.createLive({ live_retention: true })
  const [listener, sender] = [await client.socket(live, 'listener'), await client.socket(live, 'sender')]
  sender.send({ type: 'config' })
  for (const samples of [(await sampleSentences())[0]?.samples ?? silence(1), silence(2)]) sender.sendAudio(samples)
  sender.send({ type: 'FINISH' })
  t.is((await sender.closed).code, 1000)
  await listener.closed
  const texts = sender.frames.filter(({ final }) => final === true).map(({ text }) => String(text))
  t.true(texts.length > 0)

  const key = (await client.post<Single<{ readonly id: number; readonly token: string }>>('/tokens/', { name: 'Numbat key' })).body.data
  await client.post('/user-live-configs/', { name: 'Wombat profile' })
  await createClient(service.url()).request('GET', '/lives/', { headers: { 'x-api-key': key.token } })
  await client.get(`/lives/?api_key=${key.token}`)
  await client.get(`/tokens/${key.token}`)
  await client.put(`/tokens/${key.id}`, { name: 'Numbat key again', is_active: false })
  t.is((await createClient(service.url(), key.token).get('/lives/')).status, 401)

  // Roads on which secrets may be led astray: refusals, odd places, wrong kinds of credentials.
  const ws = service.url().replace('http', 'ws')
  await handshake(`${ws}/ws/live?token=${guesses[0]}`)
  await handshake(`${ws}/nowhere?token=${live.sender_token}&x=${guesses[1]}`)
  await client.get(`/lives/?token=${live.sender_token}&unheard=${guesses[1]}`)
  await client.get(`/lives/${live.sender_token}`)
  await client.get(`/ws/live/${live.listener_token}`)
  await handshake(`${ws}/ws/live/${live.listener_token}?token=${live.sender_token}&token_sender=${guesses[1]}`)
  await client.put('/lives/finish-by-audio_url', { audio_url: `${url}&more` })
  await client.post('/lives', { model: 'demo-en', language: 'en', audio_format: 'hls', audio_url: url })
  await client.form('/login', { username, password: 'Pangolin-but-wrong' })
  await client.form('/login', { username: passwordOf(username), password: username })
  await client.request('GET', '/lives/', { headers: { 'x-api-key': 'lt_Aardvark_secret' } })
  await createClient(service.url(), client.token?.slice(0, -3)).get('/lives/')
  await client.put('/lives/finish-by-audio_url', { audio_url: url })
  t.is((await client.get<Listing<LiveJson>>('/lives/?status=finished')).body.data.length, 2)

  const secrets = {
    'sender token': live.sender_token, 'listener token': live.listener_token, 'other sender token': pulled.sender_token,
    'custom token': custom, 'password': passwordOf(username), 'admin password': ADMIN.password, 'username': username,
    'JWT': client.token ?? '', 'JWT signature': client.token?.split('.')[2] ?? '',
    'audio URL': url, 'password in the URL': 'Xylophone-77',
    'key in the URL': 'Wapiti-4711', 'host in the URL': 'cams.example',
    'guessed token': guesses[0] ?? '', 'guess elsewhere': guesses[1] ?? '',
    'wrong password': 'Pangolin-but-wrong', 'API key': 'Aardvark_secret', 'API token': key.token.slice(16),
    'token name': 'Numbat key', 'profile name': 'Wombat profile',
    ...Object.fromEntries(texts.map((text, index) => [`text ${index + 1}`, text.split('\n')[0] ?? text])),
  }
  const found = (bytes: Buffer): ReadonlyArray<string> =>
    Object.entries(secrets)
      .filter(([, secret]) => bytes.includes(secret) || bytes.includes(Buffer.from(secret).toString('base64').replace(/.?=*$/, '')))
      .map(([what]) => what)

  const log = Buffer.from(service.log())
  t.true(log.includes('"/lives/finish-by-audio_url"') && log.includes('socket closed'), 'the log tells what happened')
  t.deepEqual(found(log), [])

  const running = await contents(service.dataDirectory)
  t.is(await service.kill('SIGTERM'), 0)
  for (const files of [running, await contents(service.dataDirectory)]) {
    const events = Buffer.concat([...files].filter(([name]) => name.startsWith('events.sqlite')).map(([, bytes]) => bytes))
    t.true(events.includes('LiveCreated') && events.includes('ApiTokenUsed') && events.includes('listener-token-'), 'what is no secret is found')
    for (const [name, bytes] of files) t.deepEqual(found(bytes), [], name)
  }
  t.deepEqual(found(Buffer.from(service.log())), [])
})
