import { setImmediate } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import * as fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import type { EndMessage, FromWorker, LinkHandler, LiveLink, LiveLinks, Passed, Peer, ToWorker, WorkerLink } from '../../application/ports/live-links.ts'
import type { Self } from '../../application/ports/members.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { systemTimers } from '../../infrastructure/node/system-timers.ts'
import { eventually } from '../support/eventually.ts'

/** A process that dials, one that is dialled, and the way between them. */
export interface LinksWorld {
  readonly serve: (self: Self, handler: LinkHandler) => Promise<{ readonly peer: Peer; readonly close: () => Promise<void> }>
  readonly links: LiveLinks
  /** Nothing passes, and nobody is told. */
  readonly cut: () => void
  readonly mend: () => void
  /** The links that stand end on both sides. */
  readonly reset: () => void
  readonly close: () => Promise<void>
}

const WORKER: Self = { name: 'worker-1', incarnation: '0f6b6a2e-8a43-4f0e-8d59-0d7c2f3b6a11' }
const NOBODY: Self = { name: 'worker-1', incarnation: '11111111-8a43-4f0e-8d59-0d7c2f3b6a11' }

/** What one end of a link heard: messages, then why it was closed. */
interface Heard<A> {
  readonly messages: Array<A>
  readonly ends: Array<string>
}

const heardNothing = <A>(): Heard<A> => ({ messages: [], ends: [] })

interface WorkerEnd extends Heard<ToWorker> {
  readonly liveId: number
  readonly link: WorkerLink
}

/** A worker that keeps what it hears; `hear` may answer it. */
const createWorker = (hear: (message: ToWorker, link: WorkerLink) => void = () => undefined, end: LinkHandler['end'] = async () => null) => {
  const ends: Array<WorkerEnd> = []
  const handler: LinkHandler = {
    open: (liveId, link) => {
      const own: WorkerEnd = { ...heardNothing(), liveId, link }
      ends.push(own)
      return {
        message: (message) => {
          own.messages.push(message)
          hear(message, link)
        },
        closed: () => void own.ends.push('closed'),
      }
    },
    end,
  }
  const first = (): WorkerEnd => {
    const [own] = ends
    if (own === undefined) throw new Error('no link has come')
    return own
  }
  return { ends, handler, first }
}

const HELLO: ToWorker = { kind: 'hello', relay: 1, term: 3, listens: true }
const HERE: FromWorker = { kind: 'here', term: 3, status: 'active' }
const frame = (n: number): ToWorker => ({ kind: 'binary', bytes: Buffer.from([n % 256, 0, 255, n >> 8]) })
const line = (n: number): FromWorker => ({ kind: 'reply', frame: `line ${n}` })
const range = (count: number): ReadonlyArray<number> => Array.from({ length: count }, (_, n) => n)

const open = (links: LiveLinks, peer: Peer, liveId = 7): Heard<FromWorker> & { readonly link: LiveLink } => {
  const heard = heardNothing<FromWorker>()
  const link = links.open(peer, liveId, { message: (message) => void heard.messages.push(message), closed: (why) => void heard.ends.push(why) })
  return { ...heard, link }
}

/** Lets pass what would come behind an end, if anything did. */
const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await setImmediate()
}

/** What every adapter of the port does; `openWorld` gives one that nobody else uses. */
export const liveLinksContract = (name: string, openWorld: (timers: Timers) => Promise<LinksWorld>, runs: number): void => {
  /** Only what is about waiting waits about as long as it does in earnest: this machine may stand still for seconds. */
  const on = (title: string, body: (t: ExecutionContext, world: LinksWorld) => Promise<void>, slower = 20): void => {
    test.serial(`${name}: ${title}`, async (t) => {
      const world = await openWorld({ after: (ms, task) => systemTimers.after(ms * slower, task) })
      try {
        await body(t, world)
      } finally {
        world.mend()
        await world.close()
      }
    })
  }
  const until = async (t: ExecutionContext, is: () => boolean): Promise<void> => {
    await eventually(() => {
      if (!is()) throw new Error('not yet')
    }, { timeoutMs: 60_000 })
    t.true(is())
  }

  on('messages pass in order, both ways, those sent before it is open among them; binary frames as they came', async (t, { serve, links }) => {
    const worker = createWorker((message, link) => {
      if (message.kind === 'binary') link.send(line(message.bytes[0] ?? 0))
    })
    const { peer } = await serve(WORKER, worker.handler)
    const near = open(links, peer)
    const sent = [HELLO, ...range(300).map(frame), { kind: 'text', text: null } as const, { kind: 'text', text: '{"ü":"\u{1f600}\u0000"}' } as const]
    for (const message of sent) near.link.send(message)
    await until(t, () => near.messages.length === 300)
    t.deepEqual(worker.first().messages, sent)
    t.is(worker.first().liveId, 7)
    t.deepEqual(near.messages, range(300).map((n) => line(n % 256)))
  })

  on('what a worker sends as the link opens comes first', async (t, { serve, links }) => {
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

  on('every message of the port passes', async (t, { serve, links }) => {
    const up: ReadonlyArray<ToWorker> = [
      HELLO,
      { kind: 'listen', listens: false },
      { kind: 'sender', requestId: 'r-1', from: null },
      { kind: 'sender', requestId: 'r-2', from: { frame: 4, sample: 0 } },
      { kind: 'gone', how: 'abandoned' },
    ]
    const down: ReadonlyArray<FromWorker> = [
      HERE,
      { kind: 'elsewhere', worker: null, term: null },
      { kind: 'elsewhere', worker: 'worker-2', term: 4 },
      { kind: 'recent', finals: [{ segment: 1, text: 'hello', words: [{ start: 0.25 }] }], isWhole: true, dropped: ['1/3'] },
      { kind: 'signal', signal: { kind: 'ended', cause: null } },
      { kind: 'admitted', requestId: 'r-1' },
      { kind: 'refused', requestId: 'r-2', why: 'already_connected' },
      { kind: 'close', frame: '{}', close: 4409, reason: 'taken' },
      { kind: 'hold', on: true },
      { kind: 'heard', frame: 0, sample: 0 },
      { kind: 'covered', frame: 10, sample: 160_000 },
    ]
    const worker = createWorker((message, link) => {
      if (message.kind === 'gone') for (const one of down) link.send(one)
    })
    const { peer } = await serve(WORKER, worker.handler)
    const near = open(links, peer)
    for (const message of up) near.link.send(message)
    await until(t, () => near.messages.length === down.length)
    t.deepEqual(worker.first().messages, [...up])
    t.deepEqual(near.messages, [...down])
  })

  on('who closes has sent first what was under way; both hear of it once, and of nothing behind it', async (t, { serve, links }) => {
    const worker = createWorker()
    const { peer } = await serve(WORKER, worker.handler)
    const near = open(links, peer)
    for (const n of range(100)) near.link.send(frame(n))
    near.link.close()
    near.link.send(frame(100))
    near.link.close()
    t.deepEqual(near.ends, [])
    await until(t, () => near.ends.length > 0 && worker.ends[0]?.ends.length === 1)
    t.deepEqual(worker.first().messages, range(100).map(frame))
    worker.first().link.send(HERE)
    worker.first().link.close()
    await turns()
    t.is(near.ends.length, 1)
    t.deepEqual(worker.first().ends, ['closed'])
    t.deepEqual(near.messages, [])
  })

  on('a worker that closes has sent first what was under way', async (t, { serve, links }) => {
    const worker = createWorker((message, link) => {
      if (message.kind !== 'hello') return
      for (const n of range(50)) link.send(line(n))
      link.close()
      link.send(line(50))
    })
    const { peer } = await serve(WORKER, worker.handler)
    const near = open(links, peer)
    near.link.send(HELLO)
    await until(t, () => near.ends.length > 0 && worker.ends[0]?.ends.length === 1)
    await turns()
    t.deepEqual(near.messages, range(50).map(line))
    t.is(near.ends.length, 1)
  })

  on('another incarnation refuses, for a link and for an end', async (t, { serve, links }) => {
    const worker = createWorker()
    const { peer } = await serve(WORKER, worker.handler)
    const near = open(links, { ...peer, incarnation: NOBODY.incarnation })
    near.link.send(HELLO)
    await until(t, () => near.ends.length > 0)
    t.regex(near.ends[0] ?? '', /another incarnation/)
    const ended = await links.end({ ...peer, incarnation: NOBODY.incarnation }, { liveId: 7, end: {} }, 60_000)
    t.regex(E.isLeft(ended) ? ended.left.reason : '', /another incarnation/)
    await turns()
    t.is(near.ends.length, 1)
    t.deepEqual(worker.ends, [])
  })

  on('where nobody answers the link closes once and an end is unreachable', async (t, { serve, links }) => {
    const { peer, close } = await serve(WORKER, createWorker().handler)
    await close()
    const near = open(links, peer)
    await until(t, () => near.ends.length > 0)
    const ended = await links.end(peer, { liveId: 7, end: {} }, 60_000)
    t.true(E.isLeft(ended) && ended.left._tag === 'Unreachable')
    near.link.send(HELLO)
    near.link.close()
    await turns()
    t.is(near.ends.length, 1)
  })

  on('a dial that is not answered is given up; what waits for it counts as buffered', async (t, world) => {
    const { peer } = await world.serve(WORKER, createWorker().handler)
    world.cut()
    const near = open(world.links, peer)
    near.link.send(frame(1))
    t.true(near.link.buffered() >= 4)
    await until(t, () => near.ends.length > 0)
    t.deepEqual(near.messages, [])
  }, 1)

  on('both sides notice a cut way by themselves', async (t, world) => {
    const worker = createWorker((_, link) => link.send(HERE))
    const { peer } = await world.serve(WORKER, worker.handler)
    const near = open(world.links, peer)
    near.link.send(HELLO)
    await until(t, () => near.messages.length === 1)
    world.cut()
    await until(t, () => near.ends.length > 0 && worker.first().ends.length > 0)
    world.mend()
    await turns()
    t.is(near.ends.length, 1)
    t.is(worker.first().ends.length, 1)
  }, 2)

  on('a link that breaks is heard on both sides', async (t, world) => {
    const worker = createWorker((_, link) => link.send(HERE))
    const { peer } = await world.serve(WORKER, worker.handler)
    const near = open(world.links, peer)
    near.link.send(HELLO)
    await until(t, () => near.messages.length === 1)
    world.reset()
    await until(t, () => near.ends.length > 0 && worker.first().ends.length > 0)
    const again = open(world.links, peer)
    again.link.send(HELLO)
    await until(t, () => again.messages.length === 1)
    t.is(near.ends.length, 1)
  })

  on('what nobody takes is counted, and ends the link when it is too much', async (t, world) => {
    const worker = createWorker((_, link) => link.send(HERE))
    const { peer } = await world.serve(WORKER, worker.handler)
    const near = open(world.links, peer)
    near.link.send(HELLO)
    await until(t, () => near.messages.length === 1)
    world.cut()
    const bytes = Buffer.alloc(512 * 1024)
    let most = 0
    for (let sent = 0; sent < 100 && near.ends.length === 0; sent += 1) {
      near.link.send({ kind: 'binary', bytes })
      most = Math.max(most, near.link.buffered())
      await setImmediate()
    }
    await until(t, () => near.ends.length > 0)
    t.regex(near.ends[0] ?? '', /does not read/)
    t.true(most > 8 * 1024 * 1024 && most < 10 * 1024 * 1024, `${most}`)
  })

  on('a worker sees that its peer takes nothing', async (t, world) => {
    const worker = createWorker()
    const { peer } = await world.serve(WORKER, worker.handler)
    const near = open(world.links, peer)
    near.link.send(HELLO)
    await until(t, () => worker.ends[0]?.messages.length === 1)
    world.cut()
    const { link, ends } = worker.first()
    const words = 'word '.repeat(100_000)
    let most = 0
    for (let sent = 0; sent < 100 && ends.length === 0; sent += 1) {
      link.send({ kind: 'reply', frame: words })
      most = Math.max(most, link.buffered())
      await setImmediate()
    }
    await until(t, () => ends.length > 0)
    t.true(most > 8 * 1024 * 1024 && most < 10 * 1024 * 1024, `${most}`)
  })

  on('an end is answered as its worker answers it, null too', async (t, { serve, links }) => {
    const asked: Array<EndMessage> = []
    const answers: Array<Passed | null> = [{ position: { text: 'x' } }, null]
    const worker = createWorker(undefined, async (message) => {
      asked.push(message)
      return answers.shift() ?? null
    })
    const { peer } = await serve(WORKER, worker.handler)
    const message: EndMessage = { liveId: 12, end: { cause: 'finish', limitMs: 2000 } }
    t.deepEqual(await links.end(peer, message, 60_000), E.right({ position: { text: 'x' } }))
    t.deepEqual(await links.end(peer, message, 60_000), E.right(null))
    t.deepEqual(asked, [message, message])
  })

  on('an end that is not answered in time, or fails at its worker, is unreachable', async (t, world) => {
    const unanswered = Promise.withResolvers<null>()
    const endings = [() => Promise.reject(new Error('broken')), () => unanswered.promise]
    const worker = createWorker(undefined, () => endings.shift()?.() ?? Promise.resolve(null))
    const { peer } = await world.serve(WORKER, worker.handler)
    const failed = await world.links.end(peer, { liveId: 7, end: {} }, 60_000)
    t.true(E.isLeft(failed))
    const late = await world.links.end(peer, { liveId: 7, end: {} }, 50)
    t.regex(E.isLeft(late) ? late.left.reason : '', /50 ms/)
    world.cut()
    const cut = await world.links.end(peer, { liveId: 7, end: {} }, 50)
    t.true(E.isLeft(cut))
    unanswered.resolve(null)
  })

  on('a worker that stops, and a process that stops, close their links', async (t, { serve, links }) => {
    const worker = createWorker((_, link) => link.send(HERE))
    const { peer, close } = await serve(WORKER, worker.handler)
    const near = open(links, peer)
    near.link.send(HELLO)
    await until(t, () => near.messages.length === 1)
    await close()
    await until(t, () => near.ends.length === 1 && worker.first().ends.length === 1)

    const second = createWorker((_, link) => link.send(HERE))
    const next = await serve(NOBODY, second.handler)
    const other = open(links, next.peer)
    other.link.send(HELLO)
    await until(t, () => other.messages.length === 1)
    await links.close()
    await until(t, () => other.ends.length === 1 && second.first().ends.length === 1)
    const after = open(links, next.peer)
    await until(t, () => after.ends.length === 1)
  })

  on('links of many lives do not mix', async (t, { serve, links }) => {
    const worker = createWorker((message, link) => {
      if (message.kind === 'text') link.send({ kind: 'reply', frame: message.text ?? '' })
    })
    const { peer } = await serve(WORKER, worker.handler)
    const all = range(20).map((n) => open(links, peer, n + 1))
    for (const n of range(20)) for (const [index, { link }] of all.entries()) link.send({ kind: 'text', text: `${index} ${n}` })
    await until(t, () => all.every(({ messages }) => messages.length === 20))
    for (const [index, { messages }] of all.entries()) t.deepEqual(messages, range(20).map((n) => ({ kind: 'reply', frame: `${index} ${n}` })))
  })

  on('whatever happens, each side hears a beginning of what the other sent, and one end', async (t, world) => {
    const steps = fc.array(fc.constantFrom('up', 'down', 'turn', 'close', 'leave', 'reset'), { maxLength: 30 })
    const worker = createWorker()
    const { peer } = await world.serve(WORKER, worker.handler)
    await fc.assert(fc.asyncProperty(steps, async (taken) => {
      const sent = { up: 0, down: 0 }
      const own = worker.ends.length
      const near = open(world.links, peer)
      const far = (): WorkerEnd | undefined => worker.ends[own]
      for (const step of taken) {
        if (step === 'up') near.link.send(frame(sent.up++))
        if (step === 'down' && far() !== undefined) far()?.link.send(line(sent.down++))
        if (step === 'close') near.link.close()
        if (step === 'leave') far()?.link.close()
        if (step === 'reset') world.reset()
        await setImmediate()
      }
      near.link.close()
      await eventually(() => {
        if (near.ends.length === 0 || far()?.ends.length === 0) throw new Error('it is open')
      }, { timeoutMs: 60_000 })
      await turns()
      t.is(near.ends.length, 1)
      t.true(far() === undefined || far()?.ends.length === 1)
      t.deepEqual(near.messages, range(near.messages.length).map(line))
      t.deepEqual(far()?.messages ?? [], range(far()?.messages.length ?? 0).map(frame))
      t.true(near.messages.length <= sent.down && (far()?.messages.length ?? 0) <= sent.up)
      // Where nothing broke it and only the diallers closed it, everything that was sent has come.
      if (!taken.includes('reset') && !taken.includes('leave')) {
        const closedAt = taken.indexOf('close')
        const before = taken.slice(0, closedAt === -1 ? taken.length : closedAt).filter((step) => step === 'up').length
        t.is(far()?.messages.length ?? 0, before)
      }
    }), { numRuns: runs })
  })
}
