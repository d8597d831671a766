import { setImmediate } from 'node:timers/promises'
import * as fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import type { Timers } from '../../application/ports/timers.ts'
import { eventually } from '../support/tools/eventually.ts'
import {
  WORKER, createWorker, HELLO, HERE, frame, line, range, open, turns, inWorlds, type LinksWorld, type WorkerEnd,
} from './live-links-support.ts'

/** Tests every adapter of LiveLinks while connections fail. The last test tries `runs` random orders of steps. */
export const brokenLinksContract = (
  name: string,
  openWorld: (timers: Timers) => Promise<LinksWorld>,
  runs: number,
): void => {
  const { on, until } = inWorlds(name, openWorld)

  on('an unanswered dial times out, and messages that wait for it count as buffered', async (t, world) => {
    const { peer } = await world.serve(WORKER, createWorker().handler)
    world.cut()
    const near = open(world.links, peer)
    near.link.send(frame(1))
    t.true(near.link.buffered() >= 4)
    await until(t, () => near.closeReasons.length > 0)
    t.deepEqual(near.messages, [])
  }, 1)

  on('both sides notice a cut connection on their own', async (t, world) => {
    const worker = createWorker((_, link) => link.send(HERE))
    const { peer } = await world.serve(WORKER, worker.handler)
    const near = open(world.links, peer)
    near.link.send(HELLO)
    await until(t, () => near.messages.length === 1)
    world.cut()
    await until(t, () => near.closeReasons.length > 0 && worker.first().closeReasons.length > 0)
    world.mend()
    await turns()
    t.is(near.closeReasons.length, 1)
    t.is(worker.first().closeReasons.length, 1)
  }, 2)

  on('both sides notice a broken link', async (t, world) => {
    const worker = createWorker((_, link) => link.send(HERE))
    const { peer } = await world.serve(WORKER, worker.handler)
    const near = open(world.links, peer)
    near.link.send(HELLO)
    await until(t, () => near.messages.length === 1)
    world.reset()
    await until(t, () => near.closeReasons.length > 0 && worker.first().closeReasons.length > 0)
    const again = open(world.links, peer)
    again.link.send(HELLO)
    await until(t, () => again.messages.length === 1)
    t.is(near.closeReasons.length, 1)
  })

  on('unread messages count as buffered, and too many of them end the link', async (t, world) => {
    const worker = createWorker((_, link) => link.send(HERE))
    const { peer } = await world.serve(WORKER, worker.handler)
    const near = open(world.links, peer)
    near.link.send(HELLO)
    await until(t, () => near.messages.length === 1)
    world.cut()
    const bytes = Buffer.alloc(512 * 1024)
    let most = 0
    for (let sent = 0; sent < 100 && near.closeReasons.length === 0; sent += 1) {
      near.link.send({ kind: 'binary', bytes })
      most = Math.max(most, near.link.buffered())
      await setImmediate()
    }
    await until(t, () => near.closeReasons.length > 0)
    t.regex(near.closeReasons[0] ?? '', /reads its messages too slowly/)
    t.true(most > 8 * 1024 * 1024 && most < 10 * 1024 * 1024, `${most}`)
  })

  on('a worker notices that its peer does not read', async (t, world) => {
    const worker = createWorker()
    const { peer } = await world.serve(WORKER, worker.handler)
    const near = open(world.links, peer)
    near.link.send(HELLO)
    await until(t, () => worker.ends[0]?.messages.length === 1)
    world.cut()
    const { link, closeReasons } = worker.first()
    const text = 'word '.repeat(100_000)
    let most = 0
    for (let sent = 0; sent < 100 && closeReasons.length === 0; sent += 1) {
      link.send({ kind: 'reply', frame: text })
      most = Math.max(most, link.buffered())
      await setImmediate()
    }
    await until(t, () => closeReasons.length > 0)
    t.true(most > 8 * 1024 * 1024 && most < 10 * 1024 * 1024, `${most}`)
  })

  on('a request to end a session fails when its answer is late or the worker fails', async (t, world) => {
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

  on('in any order of steps, each side receives a prefix of the messages and exactly one end', async (t, world) => {
    const steps = fc.array(fc.constantFrom('up', 'down', 'turn', 'close', 'leave', 'reset'), { maxLength: 30 })
    const worker = createWorker()
    const { peer } = await world.serve(WORKER, worker.handler)
    await fc.assert(fc.asyncProperty(steps, async (taken) => {
      const sent = { up: 0, down: 0 }
      const own = worker.ends.length
      const near = open(world.links, peer)
      const far = (): WorkerEnd | undefined => worker.ends[own]
      const acts = {
        up: () => near.link.send(frame(sent.up++)),
        down: () => far()?.link.send(line(sent.down++)),
        turn: () => undefined,
        close: () => near.link.close(),
        leave: () => far()?.link.close(),
        reset: () => world.reset(),
      }
      const down = near.messages
      const up = () => far()?.messages ?? []
      for (const step of taken) {
        if (step !== 'down' || far() !== undefined) acts[step]()
        await setImmediate()
      }
      near.link.close()
      await eventually(() => {
        const isOpen = near.closeReasons.length === 0 || far()?.closeReasons.length === 0
        if (isOpen) throw new Error('the link is still open')
      }, { timeoutMs: 60_000 })
      await turns()
      t.is(near.closeReasons.length, 1)
      t.true(far() === undefined || far()?.closeReasons.length === 1)
      t.deepEqual(down, range(down.length).map(line))
      t.deepEqual(up(), range(up().length).map(frame))
      t.true(down.length <= sent.down && up().length <= sent.up)
      // Without a failure, and when only the dialler closed the link, every sent message has arrived.
      if (!taken.includes('reset') && !taken.includes('leave')) {
        const closedAt = taken.indexOf('close')
        const before = taken.slice(0, closedAt === -1 ? taken.length : closedAt).filter((step) => step === 'up').length
        t.is(up().length, before)
      }
    }), { numRuns: runs })
  })
}
