import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test from 'ava'
import { textKey } from '../../../domain/live/events.ts'
import { segmentsStream } from '../../../domain/transcript/events.ts'
import type { Client, LiveJson } from '../../support/service/client.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { startTestService } from '../../support/service/service.ts'
import { sampleSentences, silence } from '../../support/audio/speech.ts'

test('a minute after its end a session without retention has no segments and no text key', async (t) => {
  t.timeout(10 * 60_000)
  const service = await startTestService(t, { LOG_LEVEL: 'trace' })
  const client = await service.user('speaker', { permissions: ['user_retention'] })
  const [sentence] = await sampleSentences()
  const speak = async (
    as: Client,
    members: object,
  ): Promise<{ readonly live: LiveJson; readonly texts: ReadonlyArray<string> }> => {
    const live = await as.createLive({ ...members })
    const sender = await as.socket(live, 'sender')
    sender.send({ type: 'config' })
    for (const samples of [sentence?.samples ?? silence(1), silence(2)]) sender.sendAudio(samples)
    sender.send({ type: 'FINISH' })
    await sender.closed
    return {
      live,
      texts: sender.frames.filter(({ final }) => final === true).map(({ text }) => String(text).split('\n')[0] ?? ''),
    }
  }
  const count = (file: string, sql: string, name: string): number => {
    const database = new DatabaseSync(join(service.dataDirectory, file), { readOnly: true })
    try {
      return Number(database.prepare(sql).get(name)?.['n'])
    } finally {
      database.close()
    }
  }
  /** Returns the number of stored segments of a session and the number of its text keys. */
  const storedText = ({ live: { id } }: { readonly live: LiveJson }): ReadonlyArray<number> => [
    count(
      'events.sqlite',
      'SELECT count(*) AS n FROM events JOIN streams USING (sid) WHERE name = ? AND data IS NOT NULL',
      segmentsStream(id),
    ),
    count('keyring.sqlite', 'SELECT count(*) AS n FROM keys WHERE name = ?', textKey(id)),
  ]

  const kept = await speak(client, { live_retention: true })
  const forgotten = await speak(client, {})
  const began = performance.now()
  const initially = storedText(kept)
  t.true(forgotten.texts.length > 0 && Number(initially[0]) > 0)
  t.deepEqual(storedText(forgotten), initially)
  await eventually(() => assert.deepEqual(storedText(forgotten), [0, 0]), { timeoutMs: 240_000 })
  t.log(`forgotten after ${Math.round((performance.now() - began) / 1000)} s`)
  t.deepEqual(storedText(kept), initially)
  t.is((await client.get(`/lives/${kept.live.id}/transcript`)).status, 200)
  t.is((await client.get(`/lives/${forgotten.live.id}/transcript`)).status, 404)
  for (const text of forgotten.texts) t.false(service.log().includes(text))
})
