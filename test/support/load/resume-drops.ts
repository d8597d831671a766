import type { ExecutionContext } from 'ava'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { WebSocket } from 'ws'
import type { TranscriptFrame } from '../../../domain/transcript/frame.ts'
import { finalKey } from '../../../application/lives/queries/resume-point.ts'
import type { EventStore } from '../../../application/ports/event-store.ts'
import { createWriteSide, requestOf, callerOf } from '../worlds/write-side.ts'
import { eventually } from '../tools/eventually.ts'
import { right } from '../tools/right.ts'
import { chanceOf } from '../tools/seeded.ts'
import { startSockets } from '../worlds/socket-world.ts'

type Final = Pick<TranscriptFrame, 'segment' | 'language' | 'final'> & { readonly type: TranscriptFrame['kind'] }

const finalOf = (text: string): string | null => {
  const frame = JSON.parse(text) as Final
  return frame.final ? finalKey({ ...frame, kind: frame.type }) : null
}

/** A client that keeps finals by key. It may receive a final several times. */
const createClient = (url: string) => {
  const texts = new Map<string, string>()
  const surprises: Array<string> = []
  let whole = 0
  return {
    texts,
    surprises,
    /** The last segment up to which the client has all segments and translations. */
    whole: () => {
      while (texts.has(finalKey({ kind: 'translation', segment: whole + 1, language: 'es' }))) whole += 1
      return whole
    },
    connect: async (query: string) => {
      const socket = new WebSocket(`${url}${query}`)
      let newest = 0
      socket.on('message', (data) => {
        const text = (data as Buffer).toString()
        const key = finalOf(text)
        if (key === null) return
        const earlier = texts.get(key)
        if (earlier !== undefined && earlier !== text) surprises.push(`repeated with another text: ${text}`)
        const { type, segment } = JSON.parse(text) as Final
        if (type === 'transcription' && segment <= newest) surprises.push(`out of order: ${text}`)
        if (type === 'transcription') newest = segment
        texts.set(key, text)
      })
      socket.on('error', () => undefined)
      await once(socket, 'open')
      return socket
    },
  }
}

/**
 * Runs a session whose finals and translations are stored in `store`. One listener stays connected. A second listener
 * drops its socket `drops` times at random and resumes. Both must have the same finals at the end. After every tenth
 * drop a new listener reads all finals from the beginning.
 */
export const dropAndResume = async (t: ExecutionContext, store: EventStore, drops: number): Promise<void> => {
  const side = await createWriteSide({ store })
  const { id } = right(await side.createLive(callerOf(1), requestOf({ translations: ['es'] })))
  const { recordSegment, storedFinals } = side.lifecycle
  // Few finals stay in memory, so listeners often get some finals from the store and some from memory.
  const options = { recordSegment, storedFinals, keptFinals: 4 }
  const { origin, lifecycle, configured, pipelines } = await startSockets(t, {}, {}, options)
  const live = lifecycle.add({ translations: [{ model: 'mt-es', from: 'en', to: 'es' }] })
  assert.equal(live.id, id)
  const sender = await configured(live)
  const url = `${origin}/ws/live?token=${live.listenerToken}`
  const [unbroken, dropping] = [createClient(url), createClient(url)]
  const staying = await unbroken.connect('')

  const chance = chanceOf(t)
  const [pauses, lifetimes] = [chance.random('pauses'), chance.random('lifetimes')]
  const silence = new AbortController()
  const speak = async (): Promise<void> => {
    for (let segment = 1; !silence.signal.aborted; segment += 1) {
      pipelines.of(id).partial(segment, 'so far')
      await pipelines.of(id).final(segment, `segment ${segment} and its words`)
      await delay(pauses() * 4)
    }
  }
  const spoken = speak()

  for (let drop = 0; drop < drops; drop += 1) {
    const socket = await dropping.connect(`&after=${dropping.whole()}`)
    await delay(lifetimes() * 15)
    socket.terminate()
    if (drop % 10 === 9) {
      const expected = unbroken.texts.size
      const late = createClient(url)
      const lateSocket = await late.connect('&after=0')
      await eventually(() => assert.ok(late.texts.size >= expected))
      lateSocket.terminate()
      t.deepEqual(late.surprises, [])
    }
  }
  const last = await dropping.connect(`&after=${dropping.whole()}`)
  silence.abort()
  await spoken
  const ended = Promise.all([once(last, 'close'), once(staying, 'close')])
  sender.send({ type: 'FINISH' })
  await ended

  t.true(unbroken.texts.size >= drops)
  t.deepEqual([...unbroken.surprises, ...dropping.surprises], [])
  t.deepEqual(new Map(dropping.texts), new Map(unbroken.texts))
}
