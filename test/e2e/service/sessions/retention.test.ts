import test from 'ava'
import {
  handshake, logIn, type Client, type Json, type Listing, type LiveJson, type Single,
} from '../../../support/service/client.ts'
import { passwordOf } from '../../../support/service/service.ts'
import { restartedTestService } from '../../../support/service/shared-service.ts'
import { sampleSentences, silence } from '../../../support/audio/speech.ts'

const service = restartedTestService()
const ws = (): string => service.url().replace('http', 'ws')

const MAY_RETAIN = { permissions: ['user_retention'] }

type FinalType = 'transcription' | 'translation'

/** Sends one sentence to a session, waits for a final of the awaited type, and returns all finals of the sender. */
const sendSentence = async (client: Client, live: LiveJson, awaited: FinalType = 'transcription') => {
  const [sentence] = await sampleSentences()
  const sender = await client.socket(live, 'sender')
  sender.send({ type: 'config' })
  for (const samples of [sentence?.samples ?? silence(1), silence(2)]) sender.sendAudio(samples)
  await sender.frame(({ type, final }) => type === awaited && final === true)
  sender.send({ type: 'FINISH' })
  await sender.closed
  return sender.frames.filter(({ final }) => final === true)
}

interface Segment extends Json {
  readonly start: number
  readonly end: number
  readonly text: string
}
const transcript = async (client: Client, live: LiveJson, query = ''): Promise<ReadonlyArray<Segment>> =>
  (await client.get<Single<{ readonly transcript: ReadonlyArray<Segment> }>>(`/lives/${live.id}/transcript${query}`))
    .body.data.transcript

test.serial('a kept transcript is available as JSON, text, SubRip and WebVTT in each language', async (t) => {
  t.timeout(600_000)
  const client = await service.user('archivist', MAY_RETAIN)
  const live = await client.createLive({ live_retention: true, translations: ['es'] })
  t.true(live['live_retention'])
  const finals = await sendSentence(client, live, 'translation')
  const segments = await transcript(client, live)
  const plain = (text: unknown): string => String(text).replaceAll('\n', ' ')
  t.true(segments.length >= 2)
  t.deepEqual(
    segments
      .map(({ start, end, text, type, language }) => ({ start, end, text, type, language }))
      .toSorted((a, b) => a.text.localeCompare(b.text)),
    finals
      .map(({ start, end, text, type, language }) => ({
        start: Number(start),
        end: Number(end),
        text: plain(text),
        type,
        language,
      }))
      .toSorted((a, b) => a.text.localeCompare(b.text)),
    'the transcript has the sent texts without line breaks',
  )
  t.deepEqual(Object.keys(segments[0] ?? {}), ['start', 'end', 'text', 'type', 'language'])
  t.true(
    (await transcript(client, live, '?language=es')).every(
      ({ type, language }) => type === 'translation' && language === 'es',
    ),
  )
  t.deepEqual(await transcript(client, live, '?language=de'), [])

  const spoken = segments.filter(({ language }) => language === 'en')
  const exported = (query: string) => client.get<string>(`/lives/${live.id}/transcript?${query}`)
  const txt = await exported('format=txt')
  t.is(txt.headers.get('content-type'), 'text/plain; charset=utf-8')
  t.is(txt.body, spoken.map(({ text }) => `${text}\n`).join(''))
  const srt = await exported('format=srt')
  t.is(srt.headers.get('content-type'), 'application/x-subrip; charset=utf-8')
  t.regex(srt.body, /^1\n\d\d:\d\d:\d\d,\d{3} --> \d\d:\d\d:\d\d,\d{3}\n(?:.+\n)?.*meeting/)
  const vtt = await exported('format=vtt&chars_per_line=12&lines=1')
  t.is(vtt.headers.get('content-type'), 'text/vtt; charset=utf-8')
  const cues = vtt.body.replace(/\n$/, '').split('\n\n')
  t.is(cues.shift(), 'WEBVTT')
  t.true(
    cues.length > spoken.length && cues.every((cue) => /^\d\d:\d\d:\d\d\.\d{3} --> .*\n.{1,12}$/.test(cue)),
    vtt.body,
  )
  t.true(
    (await exported('format=vtt&language=es')).body.includes(
      (await transcript(client, live, '?language=es'))[0]?.text.slice(0, 5) ?? '?',
    ),
  )

  for (const query of ['format=pdf', 'format=', 'chars_per_line=0', 'chars_per_line=x', 'lines=101']) {
    const { status, body } = await exported(query)
    t.is(status, 422, query)
    t.deepEqual((body as unknown as { detail: ReadonlyArray<Json> }).detail[0]?.['loc'], ['query', query.split('=')[0]])
  }
  await service.kill()
  await service.start()
  t.deepEqual(
    await transcript(await logIn(service.url(), 'archivist', passwordOf('archivist')), live),
    segments,
    'the transcript survives kill -9',
  )
})

test.serial('a transcript is 404 without retention, for another user and for an unknown session', async (t) => {
  t.timeout(600_000)
  const [client, stranger] = [await service.user('forgetful'), await service.user('curious', MAY_RETAIN)]
  const live = await client.createLive({ live_retention: true })
  t.false(live['live_retention'], 'live_retention is ignored without the permission')
  t.true((await sendSentence(client, live)).length > 0)
  const refused = { status: 404, body: { detail: 'Transcript not found' } }
  for (const format of ['json', 'txt', 'srt', 'vtt'])
    t.like(await client.get(`/lives/${live.id}/transcript?format=${format}`), refused)
  const unknown = { status: 404, body: { detail: 'Live not found' } }
  t.like(await stranger.get(`/lives/${live.id}/transcript`), unknown)
  for (const id of ['0', '-1', '99999999', '4294967296', '9'.repeat(30)])
    t.like(await client.get(`/lives/${id}/transcript`), unknown)
  t.is((await client.get('/lives/x/transcript')).status, 422)
  t.is((await service.anonymous().get(`/lives/${live.id}/transcript`)).status, 401)
})

test.serial('a deleted session disappears with its sockets and tokens, also after a kill', async (t) => {
  t.timeout(600_000)
  const client = await service.user('regretful', MAY_RETAIN)
  const stranger = await service.user('bystander')
  const other = await client.createLive()
  const [ended, running] = [
    await client.createLive({ live_retention: true }),
    await client.createLive({ listener_token: 'regretted-token' }),
  ]
  await sendSentence(client, ended)
  t.true((await transcript(client, ended)).length > 0)
  const sockets = [await client.socket(running, 'sender'), await client.socket(running, 'listener')]
  for (const socket of sockets) await socket.frame(({ type }) => type === 'connection')

  const remove = (user: Client, id: unknown) => user.request('DELETE', `/lives/${String(id)}`)
  const unknown = { status: 404, body: { detail: 'Live not found' } }
  t.like(await remove(stranger, ended.id), unknown)
  t.is((await remove(service.anonymous(), ended.id)).status, 401)
  t.is((await remove(client, 'x')).status, 422)
  for (const live of [ended, running])
    t.like(await remove(client, live.id), { status: 200, body: { message: 'Live deleted' } })
  for (const socket of sockets) {
    t.deepEqual(await socket.closed, { code: 4401, reason: 'token_revoked' })
    t.like(socket.frames.at(-1), { type: 'error', code: 'token_revoked' })
  }
  const assertDeleted = async (user: Client): Promise<void> => {
    for (const { id, sender_token, listener_token } of [ended, running]) {
      for (const path of ['', '/transcript', '/history']) t.like(await user.get(`/lives/${id}${path}`), unknown)
      t.like(await user.put(`/lives/${id}/finish`), unknown)
      t.like(await remove(user, id), unknown)
      for (const token of [sender_token, listener_token])
        for (const path of ['/ws/live', `/ws/live/${id}`])
          t.is((await handshake(`${ws()}${path}?token=${token}`)).status, 401)
    }
    const { data, pagination } = (await user.get<Listing<LiveJson>>('/lives/')).body
    t.deepEqual(data.map(({ id }) => id), [other.id])
    t.is(pagination.total_items, 1)
    t.is((await user.get<Listing<LiveJson>>('/lives/?status=finished')).body.pagination.total_items, 0)
  }
  await assertDeleted(client)
  await service.kill()
  await service.start()
  const relogged = await logIn(service.url(), 'regretful', passwordOf('regretful'))
  await assertDeleted(relogged)
  t.true(
    (await relogged.createLive({ listener_token: 'regretted-token' })).id > running.id,
    'the token still belongs to its first user',
  )
  t.is(
    (
      await (
        await logIn(service.url(), 'bystander', passwordOf('bystander'))
      ).post('/lives', { model: 'demo-en', language: 'en', listener_token: 'regretted-token' })
    ).status,
    422,
  )
})
