import * as E from 'fp-ts/lib/Either.js'
import type { EndMessage, FromWorker, LinkHandler, RelayedData, ToWorker } from '../../application/ports/live-links.ts'
import type { Timers } from '../../application/ports/timers.ts'
import {
  WORKER, RESTARTED_WORKER, createWorker, HELLO, HERE, frame, line, range, open, turns, inWorlds, type LinksWorld,
} from './live-links-support.ts'

/** Tests every adapter of LiveLinks on working connections. `openWorld` opens a separate world for each test. */
export const liveLinksContract = (name: string, openWorld: (timers: Timers) => Promise<LinksWorld>): void => {
  const { on, until } = inWorlds(name, openWorld)

  on(
    'messages arrive in order in both directions, also those sent before the link is open',
    async (t, { serve, links }) => {
      const worker = createWorker((message, link) => {
        if (message.kind === 'binary') link.send(line(message.bytes[0] ?? 0))
      })
      const { peer } = await serve(WORKER, worker.handler)
      const near = open(links, peer)
      const sent = [
        HELLO,
        ...range(300).map(frame),
        { kind: 'text', text: null } as const,
        { kind: 'text', text: '{"ü":"\u{1f600}\u0000"}' } as const,
      ]
      for (const message of sent) near.link.send(message)
      await until(t, () => near.messages.length === 300)
      t.deepEqual(worker.first().messages, sent)
      t.is(worker.first().liveId, 7)
      t.deepEqual(near.messages, range(300).map((n) => line(n % 256)))
    },
  )

  on('messages that a worker sends on open arrive first', async (t, { serve, links }) => {
    const { handler } = createWorker()
    const opening: LinkHandler = {
      ...handler,
      open: (liveId, link) => {
        link.send(HERE)
        link.send(line(liveId))
        return handler.open(liveId, link)
      },
    }
    const { peer } = await serve(WORKER, opening)
    const near = open(links, peer, 9)
    await until(t, () => near.messages.length === 2)
    t.deepEqual(near.messages, [HERE, line(9)])
  })

  on('every message of the port arrives unchanged', async (t, { serve, links }) => {
    const up: ReadonlyArray<ToWorker> = [
      HELLO,
      { kind: 'listen', listens: false },
      { kind: 'sender', requestId: 'r-1', from: null },
      { kind: 'sender', requestId: 'r-2', from: { frame: 4, sample: 0 } },
      { kind: 'gone', requestId: 'r', how: 'abandoned' },
    ]
    const down: ReadonlyArray<FromWorker> = [
      HERE,
      { kind: 'elsewhere', worker: null, term: null },
      { kind: 'elsewhere', worker: 'worker-2', term: 4 },
      {
        kind: 'recent',
        finals: [{ segment: 1, text: 'hello', words: [{ start: 0.25 }] }],
        isWhole: true,
        dropped: ['1/3'],
      },
      { kind: 'signal', signal: { kind: 'ended', cause: null } },
      { kind: 'admitted', requestId: 'r-1' },
      { kind: 'refused', requestId: 'r-2', why: 'already_connected' },
      { kind: 'close', frame: '{}', close: 4409, reason: 'taken' },
      { kind: 'hold', on: true },
      { kind: 'heard', frame: 0, sample: 0 },
      { kind: 'covered', frame: 10, sample: 160_000 },
    ]
    const worker = createWorker((message, link) => {
      if (message.kind === 'gone') for (const message of down) link.send(message)
    })
    const { peer } = await serve(WORKER, worker.handler)
    const near = open(links, peer)
    for (const message of up) near.link.send(message)
    await until(t, () => near.messages.length === down.length)
    t.deepEqual(worker.first().messages, [...up])
    t.deepEqual(near.messages, [...down])
  })

  on(
    'a close delivers pending messages first; both sides end once and receive nothing after it',
    async (t, { serve, links }) => {
      const worker = createWorker()
      const { peer } = await serve(WORKER, worker.handler)
      const near = open(links, peer)
      for (const n of range(100)) near.link.send(frame(n))
      near.link.close()
      near.link.send(frame(100))
      near.link.close()
      t.deepEqual(near.closeReasons, [])
      await until(t, () => near.closeReasons.length > 0 && worker.ends[0]?.closeReasons.length === 1)
      t.deepEqual(worker.first().messages, range(100).map(frame))
      worker.first().link.send(HERE)
      worker.first().link.close()
      await turns()
      t.is(near.closeReasons.length, 1)
      t.deepEqual(worker.first().closeReasons, ['closed'])
      t.deepEqual(near.messages, [])
    },
  )

  on('a worker that closes delivers its pending messages first', async (t, { serve, links }) => {
    const worker = createWorker((message, link) => {
      if (message.kind !== 'hello') return
      for (const n of range(50)) link.send(line(n))
      link.close()
      link.send(line(50))
    })
    const { peer } = await serve(WORKER, worker.handler)
    const near = open(links, peer)
    near.link.send(HELLO)
    await until(t, () => near.closeReasons.length > 0 && worker.ends[0]?.closeReasons.length === 1)
    await turns()
    t.deepEqual(near.messages, range(50).map(line))
    t.is(near.closeReasons.length, 1)
  })

  on('another incarnation refuses a link and a request to end a session', async (t, { serve, links }) => {
    const worker = createWorker()
    const { peer } = await serve(WORKER, worker.handler)
    const otherPeer = { ...peer, incarnation: RESTARTED_WORKER.incarnation }
    const near = open(links, otherPeer)
    near.link.send(HELLO)
    await until(t, () => near.closeReasons.length > 0)
    t.regex(near.closeReasons[0] ?? '', /has restarted/)
    const ended = await links.end(otherPeer, { liveId: 7, end: {} }, 60_000)
    t.regex(E.isLeft(ended) ? ended.left.reason : '', /has restarted/)
    await turns()
    t.is(near.closeReasons.length, 1)
    t.deepEqual(worker.ends, [])
  })

  on('without a process the link closes once and a request to end a session fails', async (t, { serve, links }) => {
    const { peer, close } = await serve(WORKER, createWorker().handler)
    await close()
    const near = open(links, peer)
    await until(t, () => near.closeReasons.length > 0)
    const ended = await links.end(peer, { liveId: 7, end: {} }, 60_000)
    t.true(E.isLeft(ended) && ended.left._tag === 'Unreachable')
    near.link.send(HELLO)
    near.link.close()
    await turns()
    t.is(near.closeReasons.length, 1)
  })

  on('a request to end a session returns the answer of its worker, also null', async (t, { serve, links }) => {
    const ends: Array<EndMessage> = []
    const answers: Array<RelayedData | null> = [{ position: { text: 'x' } }, null]
    const worker = createWorker(undefined, async (message) => {
      ends.push(message)
      return answers.shift() ?? null
    })
    const { peer } = await serve(WORKER, worker.handler)
    const message: EndMessage = { liveId: 12, end: { cause: 'finish', limitMs: 2000 } }
    t.deepEqual(await links.end(peer, message, 60_000), E.right({ position: { text: 'x' } }))
    t.deepEqual(await links.end(peer, message, 60_000), E.right(null))
    t.deepEqual(ends, [message, message])
  })

  on('a stopping worker and a stopping process close their links', async (t, { serve, links }) => {
    const worker = createWorker((_, link) => link.send(HERE))
    const { peer, close } = await serve(WORKER, worker.handler)
    const near = open(links, peer)
    near.link.send(HELLO)
    await until(t, () => near.messages.length === 1)
    await close()
    await until(t, () => near.closeReasons.length === 1 && worker.first().closeReasons.length === 1)

    const second = createWorker((_, link) => link.send(HERE))
    const next = await serve(RESTARTED_WORKER, second.handler)
    const other = open(links, next.peer)
    other.link.send(HELLO)
    await until(t, () => other.messages.length === 1)
    await links.close()
    await until(t, () => other.closeReasons.length === 1 && second.first().closeReasons.length === 1)
    const after = open(links, next.peer)
    await until(t, () => after.closeReasons.length === 1)
  })

  on('links of many sessions do not mix', async (t, { serve, links }) => {
    const worker = createWorker((message, link) => {
      if (message.kind === 'text') link.send({ kind: 'reply', frame: message.text ?? '' })
    })
    const { peer } = await serve(WORKER, worker.handler)
    const all = range(20).map((n) => open(links, peer, n + 1))
    for (const n of range(20))
      for (const [index, { link }] of all.entries()) link.send({ kind: 'text', text: `${index} ${n}` })
    await until(t, () => all.every(({ messages }) => messages.length === 20))
    for (const [index, { messages }] of all.entries())
      t.deepEqual(
        messages,
        range(20).map((n) => ({ kind: 'reply', frame: `${index} ${n}` })),
      )
  })
}
