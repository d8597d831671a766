import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { createAdmissionActor } from '../../../application/admission/admission-actor.ts'
import { joinWorker } from '../../../application/admission/join-worker.ts'
import type { EventStore, NewEvent } from '../../../application/ports/event-store.ts'
import { reservedVram } from '../../../domain/admission/state.ts'
import { admitCommand } from '../../support/worlds/write-side.ts'
import { immediateTimers } from '../../support/doubles/immediate-timers.ts'
import { createMemoryEventStore } from '../../support/doubles/memory/event-store.ts'
import { createMemoryKeyring } from '../../support/doubles/memory/keyring.ts'
import { right } from '../../support/tools/right.ts'
import { chanceOf } from '../../support/tools/seeded.ts'
import { createTestEnvironment } from '../../support/doubles/environment.ts'
import { silentLogger } from '../../support/doubles/loggers.ts'

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/** The size of an append by the rules of EventStoreDB. */
const bytesOf = (events: ReadonlyArray<NewEvent>): number =>
  events.reduce((sum, { type, data, metadata }) => sum + 2 * type.length + jsonBytes(data) + jsonBytes(metadata), 0)

/** Wraps a store. `largest` returns the bytes of the largest append to a stream so far. */
const withLargestAppends = (store: EventStore) => {
  const largest = new Map<string, number>()
  const append: EventStore['append'] = (stream, expected, events) => {
    largest.set(stream, Math.max(largest.get(stream) ?? 0, bytesOf(events)))
    return store.append(stream, expected, events)
  }
  return { store: { ...store, append }, largest: (stream: string): number => largest.get(stream) ?? 0 }
}

const KIB = 1024
const DAY_MS = 24 * 60 * 60 * 1000
const DAYS = 3
const CREATES_PER_DAY = 50_000
const VRAM = 1400
const NEEDS = ['whisper-large-v3-turbo', 'opus-mt-en-es', 'opus-mt-en-fr']

interface Limit {
  /** Highest number of open sessions. */
  readonly open: number
  readonly maxAppendBytes: number
}

const LIMITS: ReadonlyArray<Limit> = [
  { open: 100, maxAppendBytes: 64 * KIB },
  { open: 4000, maxAppendBytes: 900 * KIB },
]

/** Returns the load at a time of the day, as a multiple of the average: 2 at noon, 0 at midnight. */
const loadAt = (time: number): number => 1 - Math.cos((2 * Math.PI * (time % DAY_MS)) / DAY_MS)

for (const { open, maxAppendBytes } of LIMITS)
  test(`${open} open sessions over three days: appends stay under ${maxAppendBytes / KIB} KiB`, async (t) => {
    t.timeout(1_200_000)
    const random = chanceOf(t).random('creates')
    const midnight = Date.UTC(2026, 10, 21)
    let clock = 0
    const memory = createMemoryEventStore(() => midnight + clock)
    const measured = withLargestAppends(memory)
    const keyring = createMemoryKeyring()
    const now = (): string => new Date(midnight + clock).toISOString().replace('Z', '000+00:00')

    /** Starts a process; `join` adds it as a worker. */
    const start = async (store: EventStore) => {
      const environment = { ...createTestEnvironment(), now }
      const actor = await createAdmissionActor({
        store,
        keyring,
        environment,
        timers: immediateTimers,
        logger: silentLogger,
      })
      const join = () =>
        joinWorker(
          { admission: actor, environment, knowsRestart: () => true },
          { name: 'worker-1', incarnation: environment.instance },
          open * VRAM,
        )
      return { actor, environment, join }
    }

    let { actor, environment, join } = await start(measured.store)
    right(await join())
    let [creates, restarts, refused] = [0, 0, 0]
    while (clock < DAYS * DAY_MS) {
      clock += 10_000
      const due = (CREATES_PER_DAY / (DAY_MS / 10_000)) * loadAt(clock) * 2 * random()
      const atOnce = Math.floor(due) + (random() < due % 1 ? 1 : 0)
      const admitted = await Promise.all(Array.from({ length: atOnce }, () => {
        const [commandId, correlationId] = [environment.newId(), environment.newId()]
        const request = { commandId, userId: 1 + Math.floor(random() * 1e6), vram: VRAM, needs: NEEDS }
        const command = admitCommand({ ...request, instance: environment.instance })
        return actor.send({ command, commandId, correlationId, actor: `user:${request.userId}` })
      }))
      creates += atOnce
      refused += admitted.filter(E.isLeft).length
      const toRelease = actor.state().open.slice(0, Math.max(0, actor.state().open.length - open + Math.ceil(2 * due)))
      await Promise.all(
        toRelease.map(({ liveId }) =>
          actor.send({
            command: { type: 'Release', liveId },
            commandId: environment.newId(),
            correlationId: environment.newId(),
            actor: `instance:${environment.instance}`,
          }),
        ),
      )
      await actor.idle()
      if (random() > 0.0005) continue
      ;({ actor, environment, join } = await start(measured.store))
      right(await join())
      restarts += 1
    }

    const reads: Array<number> = []
    const read: EventStore['read'] = async (stream, options) => {
      const events = await memory.read(stream, options)
      if (stream === 'admission') reads.push(right(events).length)
      return events
    }
    const loadStart = performance.now()
    const cold = await start({ ...memory, read })
    const loadMs = performance.now() - loadStart
    t.deepEqual(cold.actor.state(), actor.state())
    t.is(reservedVram(cold.actor.state()), cold.actor.state().open.length * VRAM)
    t.true((reads[0] ?? Infinity) < 500, `${reads[0]} events read`)

    const largest = ['admission', 'snapshot-admission'].map((stream) => [stream, measured.largest(stream)] as const)
    t.log(`${creates} creates, ${refused} refused, ${restarts} restarts, ${actor.state().open.length} open at the end`)
    t.log(
      `a cold load took ${loadMs.toFixed(1)} ms; ` +
        `largest appends: ${largest.map(([stream, bytes]) => `${stream} ${bytes} B`).join(', ')}`,
    )
    t.true(creates > 0.95 * DAYS * CREATES_PER_DAY, `${creates} creates`)
    for (const [stream, bytes] of largest) t.true(bytes > 0 && bytes <= maxAppendBytes, `${bytes} bytes to ${stream}`)
  })
