import assert from 'node:assert/strict'
import type { ExecutionContext } from 'ava'
import { endlessHls, packageSample, serve } from '../sources/audio-server.ts'
import { logIn } from '../service/client.ts'
import type { Client, Json, LiveJson, Single, TestSocket } from '../service/client.ts'
import { eventually } from '../tools/eventually.ts'
import { sampleSentences, silence } from '../audio/speech.ts'

/** The audio of the sessions. */
export interface Sources {
  readonly speech: Int16Array
  /** The URL of a source that never ends. */
  readonly endless: string
  /** The URL of a source that answers 503 until `comeBack`. */
  readonly away: string
  readonly comeBack: () => void
  /** The URL of a source that answers 503 after `leave`. */
  readonly leaving: string
  readonly leave: () => void
}

export const openSources = async (t: ExecutionContext): Promise<Sources> => {
  const source = endlessHls(await packageSample(t, 'ts', 4))
  const isAway = new Set(['away'])
  const server = await serve(t, (request, response) => {
    const [, name = ''] = (request.url ?? '').split('?')
    return isAway.has(name) ? void response.writeHead(503).end() : source(request, response)
  })
  const url = (name: string): string => server.url(`live.m3u8?${name}`)
  const [sentence] = await sampleSentences()
  assert.ok(sentence !== undefined)
  return {
    speech: sentence.samples,
    endless: url('endless'),
    away: url('away'),
    comeBack: () => void isAway.delete('away'),
    leaving: url('leaving'),
    leave: () => void isAway.add('leaving'),
  }
}

/** The clients of a session. */
interface Begun {
  readonly sender?: TestSocket
  readonly listener?: TestSocket
}

type Begin = (client: Client, live: LiveJson, sources: Sources) => Promise<Begun>

interface Kind {
  readonly name: string
  readonly asks: (sources: Sources) => Json
  readonly key?: string
  readonly begin: Begin
  /** The status after a restart. */
  readonly becomes: 'pending' | 'active' | 'finished' | 'error'
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

const waits: Begin = () => Promise.resolve({})

const connects: Begin = async (client, live) => ({ sender: await client.socket(live, 'sender') })

export const starts = async (client: Client, live: LiveJson): Promise<TestSocket> => {
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

const speaks: Begin = async (client, live, { speech }) => {
  const listener = await client.socket(live, 'listener')
  const sender = await starts(client, live)
  speak(sender, speech)
  await untilFinal(listener, live)
  return { sender, listener }
}

const isSilent: Begin = async (client, live) => ({ sender: await starts(client, live) })

const losesItsSender: Begin = async (client, live, sources) => {
  const { sender, listener } = await speaks(client, live, sources)
  sender?.terminate()
  return listener === undefined ? {} : { listener }
}

const isPulled: Begin = async (client, live) => {
  const listener = await client.socket(live, 'listener')
  await untilFinal(listener, live)
  return { listener }
}

const isStartedBySender: Begin = async (client, live) => {
  const sender = await starts(client, live)
  await sender.frame(isFinal)
  return { sender }
}

const isTried: Begin = async (client, live) => {
  await client.untilStatus(live, 'active')
  return {}
}

const raw = (members: Json = {}) => (): Json => members
const hls = (source: 'endless' | 'away' | 'leaving', members: Json = {}) => (sources: Sources): Json =>
  ({ audio_format: 'hls', audio_url: sources[source], ...members })
const pulled = (source: 'endless' | 'away' | 'leaving', members: Json = {}) =>
  hls(source, { auto_start: true, ...members })

const KEPT = { live_retention: true }
const TRANSLATED = { translations: ['es', 'fr'] }
const SHOWN = { background_color: '102030', color_text: 'fff', size_text: 48 }
const SETTINGS = { config: { mode: 'final', max_chars: 30, max_lines: 1, min_buffer: 1, punctuation: false } }

/** The session with the unreachable source is last, because it fails after half a minute. */
const KINDS: ReadonlyArray<Kind> = [
  { name: 'raw', asks: raw(), begin: waits, becomes: 'pending' },
  { name: 'raw, with settings and a page', asks: raw({ ...SETTINGS, ...SHOWN }), begin: waits, becomes: 'pending' },
  { name: 'raw, kept and translated', asks: raw({ ...KEPT, ...TRANSLATED }), begin: waits, becomes: 'pending' },
  { name: 'raw, by a key', asks: raw(), key: 'pending', begin: waits, becomes: 'pending' },
  { name: 'raw, with a token of its own', asks: raw({ listener_token: 'mine' }), begin: waits, becomes: 'pending' },
  { name: 'raw, its sender connected', asks: raw(), begin: connects, becomes: 'pending' },
  { name: 'raw, started and silent', asks: raw(), begin: isSilent, becomes: 'pending' },
  { name: 'a URL', asks: hls('endless'), begin: waits, becomes: 'pending' },
  { name: 'a URL, its sender connected', asks: hls('endless'), begin: connects, becomes: 'pending' },
  { name: 'raw, spoken', asks: raw(), begin: speaks, becomes: 'finished' },
  { name: 'raw, spoken, kept', asks: raw(KEPT), begin: speaks, becomes: 'finished' },
  { name: 'raw, spoken, translated', asks: raw({ ...KEPT, ...TRANSLATED }), begin: speaks, becomes: 'finished' },
  { name: 'raw, spoken, by a key', asks: raw(SETTINGS), key: 'spoken', begin: speaks, becomes: 'finished' },
  { name: 'raw, its sender lost', asks: raw(KEPT), begin: losesItsSender, becomes: 'finished' },
  { name: 'a URL that its sender started', asks: hls('endless'), begin: isStartedBySender, becomes: 'finished' },
  { name: 'a URL pulled by itself, kept', asks: pulled('endless', KEPT), begin: isPulled, becomes: 'active' },
  { name: 'one translated', asks: pulled('endless', TRANSLATED), begin: isPulled, becomes: 'active' },
  { name: 'one by a key', asks: pulled('endless'), key: 'pulled', begin: isPulled, becomes: 'active' },
  { name: 'one whose source leaves', asks: pulled('leaving'), begin: isPulled, becomes: 'error' },
  { name: 'one whose source is away', asks: pulled('away'), begin: isTried, becomes: 'active' },
]

/** Creates a session. A create with a key may be repeated. */
export const create = async (client: Client, { asks, key }: Kind, sources: Sources): Promise<LiveJson> => {
  const headers: Record<string, string> = key === undefined ? {} : { 'Idempotency-Key': key }
  const body = JSON.stringify({ model: 'demo-en', language: 'en', ...asks(sources) })
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

/** Checks that all open sessions work after a restart. The sessions of the leaving source must end. */
export const sessionsGoOn = async (
  t: ExecutionContext, url: string, sessions: ReadonlyArray<OpenSession>, sources: Sources,
): Promise<void> => {
  sources.leave()
  for (const { owner, live, pid, name, becomes, listener, asks } of sessions) {
    const client = await logIn(url, owner.username, owner.password)
    if (becomes === 'active') {
      const last = listener?.frames.findLast(isFinal)
      const next = await (await client.socket(live, 'listener')).frame(isFinal)
      t.true(Number(next['segment']) > Number(last?.['segment'] ?? 0), name)
      t.true(Number(next['start']) >= Number(last?.['end'] ?? 0), name)
      t.not(await pidOf(client, live), pid, name)
    }
    if (becomes === 'pending') {
      const sender = await starts(client, live)
      if (!('audio_url' in asks(sources))) {
        speak(sender, sources.speech)
        await sender.frame(isFinal)
      }
      sender.send({ type: 'FINISH' })
      t.is((await sender.closed).code, 1000, name)
    }
    if (becomes === 'pending') await client.untilStatus(live, 'finished')
    // After 1, 2, 4, 8 and 16 s.
    if (becomes === 'error')
      await eventually(() => client.untilStatus(live, 'error'), { timeoutMs: 120_000 })
  }
}
