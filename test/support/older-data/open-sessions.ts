import assert from 'node:assert/strict'
import type { ExecutionContext } from 'ava'
import { endlessHls, packageSample, serve } from '../sources/audio-server.ts'
import { logIn, type Client, type Json, type LiveJson, type Single, type TestSocket } from '../service/client.ts'
import { eventually } from '../tools/eventually.ts'
import { sampleSentences, silence } from '../audio/speech.ts'

/** The audio of the sessions. */
export interface Sources {
  readonly speech: Int16Array
  /** The URL of a source that never ends. */
  readonly endless: string
  /** The URL of a source that answers 503 until `repair`. */
  readonly unavailable: string
  readonly repair: () => void
  /** The URL of a source that answers 503 after `fail`. */
  readonly failing: string
  readonly fail: () => void
}

export const openSources = async (t: ExecutionContext): Promise<Sources> => {
  const source = endlessHls(await packageSample(t, 'ts', 4))
  const unavailable = new Set(['unavailable'])
  const server = await serve(t, (request, response) => {
    const [, name = ''] = (request.url ?? '').split('?')
    return unavailable.has(name) ? void response.writeHead(503).end() : source(request, response)
  })
  const url = (name: string): string => server.url(`live.m3u8?${name}`)
  const [sentence] = await sampleSentences()
  assert.ok(sentence !== undefined)
  return {
    speech: sentence.samples,
    endless: url('endless'),
    unavailable: url('unavailable'),
    repair: () => void unavailable.delete('unavailable'),
    failing: url('failing'),
    fail: () => void unavailable.add('failing'),
  }
}

/** The clients of a session after `begin`. */
interface Begun {
  readonly sender?: TestSocket
  readonly listener?: TestSocket
}

type Begin = (client: Client, live: LiveJson, sources: Sources) => Promise<Begun>

interface Kind {
  readonly name: string
  /** The body of its create, without the model and the language. */
  readonly request: (sources: Sources) => Json
  /** The Idempotency-Key of its create. */
  readonly key?: string
  readonly begin: Begin
  /** The status after a restart. */
  readonly statusAfter: 'pending' | 'active' | 'finished' | 'error'
}

interface Account {
  readonly username: string
  readonly password: string
}

export interface OpenSession extends Kind, Begun {
  readonly owner: Account
  /** The answer to its create. */
  readonly live: LiveJson
  /** The id of the process that pulls its source. */
  readonly pid: number | null
}

const idle: Begin = () => Promise.resolve({})

const connect: Begin = async (client, live) => ({ sender: await client.socket(live, 'sender') })

export const startSender = async (client: Client, live: LiveJson): Promise<TestSocket> => {
  const sender = await client.socket(live, 'sender')
  sender.send({ type: 'config' })
  await sender.frame(({ status }) => status === 'started')
  return sender
}

export const isFinal = ({ type, final }: Json): boolean => type === 'transcription' && final === true

/** Waits for a final and all its translations. */
const untilFinal = async (listener: TestSocket, { translations }: LiveJson): Promise<void> => {
  const { segment } = await listener.frame(isFinal)
  for (const { lang_to: { iso_639_1: language } } of translations)
    await listener.frame((frame) => frame['language'] === language && frame['segment'] === segment)
}

/** Sends more speech than the service transcribes at once, so some of it is lost in the kill. */
export const speak = (sender: TestSocket, speech: Int16Array): void => {
  for (let n = 0; n < 3; n += 1) for (const samples of [speech, silence(1.5)]) sender.sendAudio(samples)
}

const speakAsSender: Begin = async (client, live, { speech }) => {
  const listener = await client.socket(live, 'listener')
  const sender = await startSender(client, live)
  speak(sender, speech)
  await untilFinal(listener, live)
  return { sender, listener }
}

const startOnly: Begin = async (client, live) => ({ sender: await startSender(client, live) })

const speakAndDisconnect: Begin = async (client, live, sources) => {
  const { sender, listener } = await speakAsSender(client, live, sources)
  sender?.terminate()
  return listener === undefined ? {} : { listener }
}

const awaitPulledText: Begin = async (client, live) => {
  const listener = await client.socket(live, 'listener')
  await untilFinal(listener, live)
  return { listener }
}

const startPull: Begin = async (client, live) => {
  const sender = await startSender(client, live)
  await sender.frame(isFinal)
  return { sender }
}

const awaitFirstAttempt: Begin = async (client, live) => {
  await client.untilStatus(live, 'active')
  return {}
}

const raw = (members: Json = {}) => (): Json => members
const hls = (source: 'endless' | 'unavailable' | 'failing', members: Json = {}) => (sources: Sources): Json =>
  ({ audio_format: 'hls', audio_url: sources[source], ...members })
const pulled = (source: 'endless' | 'unavailable' | 'failing', members: Json = {}) =>
  hls(source, { auto_start: true, ...members })

const RETAINED = { live_retention: true }
const TRANSLATED = { translations: ['es', 'fr'] }
const COLOURS = { background_color: '102030', color_text: 'fff', size_text: 48 }
const SETTINGS = { config: { mode: 'final', max_chars: 30, max_lines: 1, min_buffer: 1, punctuation: false } }

/** The session with the unavailable source is last, because it fails after half a minute. */
const KINDS: ReadonlyArray<Kind> = [
  { name: 'raw', request: raw(), begin: idle, statusAfter: 'pending' },
  { name: 'raw, with settings and colours', request: raw({ ...SETTINGS, ...COLOURS }), begin: idle,
    statusAfter: 'pending' },
  { name: 'raw, retained and translated', request: raw({ ...RETAINED, ...TRANSLATED }), begin: idle,
    statusAfter: 'pending' },
  { name: 'raw, with a key', request: raw(), key: 'pending', begin: idle, statusAfter: 'pending' },
  { name: 'raw, with a chosen listener token', request: raw({ listener_token: 'mine' }), begin: idle,
    statusAfter: 'pending' },
  { name: 'raw, sender connected', request: raw(), begin: connect, statusAfter: 'pending' },
  { name: 'raw, started and silent', request: raw(), begin: startOnly, statusAfter: 'pending' },
  { name: 'URL', request: hls('endless'), begin: idle, statusAfter: 'pending' },
  { name: 'URL, sender connected', request: hls('endless'), begin: connect, statusAfter: 'pending' },
  { name: 'raw with text', request: raw(), begin: speakAsSender, statusAfter: 'finished' },
  { name: 'raw with text, retained', request: raw(RETAINED), begin: speakAsSender, statusAfter: 'finished' },
  { name: 'raw with text, translated', request: raw({ ...RETAINED, ...TRANSLATED }), begin: speakAsSender,
    statusAfter: 'finished' },
  { name: 'raw with text, with a key', request: raw(SETTINGS), key: 'spoken', begin: speakAsSender,
    statusAfter: 'finished' },
  { name: 'raw, sender lost', request: raw(RETAINED), begin: speakAndDisconnect, statusAfter: 'finished' },
  { name: 'URL, started by the sender', request: hls('endless'), begin: startPull, statusAfter: 'finished' },
  { name: 'pulled URL, retained', request: pulled('endless', RETAINED), begin: awaitPulledText, statusAfter: 'active' },
  { name: 'pulled URL, translated', request: pulled('endless', TRANSLATED), begin: awaitPulledText,
    statusAfter: 'active' },
  { name: 'pulled URL, with a key', request: pulled('endless'), key: 'pulled', begin: awaitPulledText,
    statusAfter: 'active' },
  { name: 'pulled URL whose source fails', request: pulled('failing'), begin: awaitPulledText, statusAfter: 'error' },
  { name: 'pulled URL whose source is unavailable', request: pulled('unavailable'), begin: awaitFirstAttempt,
    statusAfter: 'active' },
]

/** Creates a session. A create with a key may be repeated. */
export const create = async (client: Client, { request, key }: Kind, sources: Sources): Promise<LiveJson> => {
  const headers: Record<string, string> = key === undefined ? {} : { 'Idempotency-Key': key }
  const body = JSON.stringify({ model: 'demo-en', language: 'en', ...request(sources) })
  const answer = await client.request<Single<LiveJson>>('POST', '/lives', {
    headers: { 'content-type': 'application/json', ...headers }, body,
  })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body.data
}

const pidOf = async (client: Client, { id }: LiveJson): Promise<number | null> =>
  (await client.api.call('getLive', { path: { id } })).data.auto_start_pid

/** Opens one session of each kind, alternately for the owners. */
export const openSessions = async (
  url: string, owners: ReadonlyArray<Account>, sources: Sources,
): Promise<ReadonlyArray<OpenSession>> => {
  const sessions: Array<OpenSession> = []
  for (const [index, kind] of KINDS.entries()) {
    const owner = owners[index % owners.length]
    assert.ok(owner !== undefined)
    const client = await logIn(url, owner.username, owner.password)
    const live = await create(client, kind, sources)
    const begun = await kind.begin(client, live, sources)
    sessions.push({ ...kind, ...begun, owner, live, pid: await pidOf(client, live) })
  }
  return sessions
}

/** Checks that all open sessions work after a restart. The session of the failing source must end. */
export const checkSessionsContinue = async (
  t: ExecutionContext, url: string, sessions: ReadonlyArray<OpenSession>, sources: Sources,
): Promise<void> => {
  sources.fail()
  for (const { owner, live, pid, name, statusAfter, listener, request } of sessions) {
    const client = await logIn(url, owner.username, owner.password)
    if (statusAfter === 'active') {
      const last = listener?.frames.findLast(isFinal)
      const next = await (await client.socket(live, 'listener')).frame(isFinal)
      t.true(Number(next['segment']) > Number(last?.['segment'] ?? 0), name)
      t.true(Number(next['start']) >= Number(last?.['end'] ?? 0), name)
      t.not(await pidOf(client, live), pid, name)
    }
    if (statusAfter === 'pending') {
      const sender = await startSender(client, live)
      if (!('audio_url' in request(sources))) {
        speak(sender, sources.speech)
        await sender.frame(isFinal)
      }
      sender.send({ type: 'FINISH' })
      t.is((await sender.closed).code, 1000, name)
    }
    if (statusAfter === 'pending') await client.untilStatus(live, 'finished')
    // The service retries the source after 1, 2, 4, 8 and 16 s before the session ends.
    if (statusAfter === 'error')
      await eventually(() => client.untilStatus(live, 'error'), { timeoutMs: 120_000 })
  }
}
