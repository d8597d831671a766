import assert from 'node:assert/strict'
import * as E from 'fp-ts/lib/Either.js'
import { createReconciler } from '../../../application/lives/policies/reconciler.ts'
import { loadLive } from '../../../application/lives/load-live.ts'
import type { EventStore, Position, StoredEvent } from '../../../application/ports/event-store.ts'
import type { Keyring } from '../../../application/ports/keyring.ts'
import type { Timers } from '../../../application/ports/timers.ts'
import { exists } from '../../../domain/live/state.ts'
import { createManualTimers } from '../../support/doubles/manual-timers.ts'
import { right } from '../../support/tools/right.ts'
import { AUDIO } from '../../support/worlds/session-world.ts'
import { dataOf } from '../../support/events/stored-data.ts'
import { createTestEnvironment } from '../../support/doubles/environment.ts'
import { silentLogger } from '../../support/doubles/loggers.ts'
import { createWorker } from '../workers/worker-world.ts'
import { callerOf, requestOf } from '../../support/worlds/write-side.ts'

interface Stores {
  readonly store: EventStore
  readonly keyring: Keyring
}

/** How long the adapters wait for an answer. */
const ANSWER_MS = 1500
/** How long `admission` remembers a command. */
const REMEMBERED_MS = 600_000
const UNAVAILABLE = { _tag: 'StoreUnavailable', reason: 'stalled' } as const
/** Refusals after which the outcome is unknown. */
const UNKNOWN = ['StoreUnavailable', 'Contended', 'Superseded']

/** Counts the running calls of a store: virtual time stops until they are answered. */
const counting = ({ store, keyring }: Stores) => {
  let busy = 0
  const counted =
    <Args extends ReadonlyArray<unknown>, A>(call: (...args: Args) => Promise<A>) =>
    async (...args: Args): Promise<A> => {
      busy += 1
      try {
        return await call(...args)
      } finally {
        busy -= 1
      }
    }
  const { append, read, head, setMetadata } = store
  return {
    store: {
      ...store,
      append: counted(append), read: counted(read), head: counted(head), setMetadata: counted(setMetadata),
    },
    keyring: { ...keyring, seal: counted(keyring.seal), open: counted(keyring.open) },
    isBusy: () => busy > 0,
  }
}

/** While `isStalled`, an append happens 0.5 to 3 s later or never, and may be answered before it happens. */
const stalling = (store: EventStore, timers: Timers, random: () => number, isStalled: () => boolean): EventStore => {
  const wait = (ms: number): Promise<void> => new Promise((resolve) => { timers.after(ms, resolve) })
  return {
    ...store,
    append: async (...args) => {
      if (!isStalled()) return await store.append(...args)
      const delay = 500 + random() * 2500
      const isAppended = random() > 0.1
      const appended = isAppended ? wait(delay).then(() => store.append(...args)) : null
      const kind = random()
      if (appended !== null && delay < ANSWER_MS && kind > 0.5) return await appended
      await wait(kind > 0.4 ? ANSWER_MS : random() * 100)
      return E.left(UNAVAILABLE)
    },
  }
}

/** Creates a worker on a store that stalls during each round of sessions. */
export const createStalledWorld = async (random: () => number, stores: Stores) => {
  const timers = createManualTimers()
  let isStalled = false
  const { store: real, keyring, isBusy } = counting(stores)
  const store = stalling(real, timers, random, () => isStalled)
  const start = Date.parse('2026-11-21T09:30:00Z')
  const now = (): string => new Date(start + timers.monotonic()).toISOString().replace('Z', '000+00:00')
  const environment = { ...createTestEnvironment(), now, random, monotonic: timers.monotonic }
  const worker = await createWorker({
    store, keyring, timers, environment, logger: silentLogger, worker: 'w1', vram: 1e6, script: { tail: () => null },
  })
  await worker.start()
  const { side, sessions: live, admission, bus } = worker
  const owner = callerOf(1, { maxSessions: 1e6 })
  const chance = (share: number): boolean => random() < share
  const after = (ms: number): Promise<void> => new Promise((resolve) => { timers.after(random() * ms, resolve) })

  /** Repeats a request until its outcome is known, as a client does. */
  const retry = async <L extends { readonly _tag: string }, A>(
    send: () => Promise<E.Either<L, A>>,
  ): Promise<E.Either<L, A>> => {
    for (;;) {
      const answer = await send()
      if (E.isRight(answer) || !UNKNOWN.includes(answer.left._tag)) return answer
      await after(3000)
    }
  }

  /** Advances virtual time until `isDone`. */
  const drive = async (isDone: () => boolean): Promise<void> => {
    for (let turns = 0; !isDone(); turns++) {
      assert.ok(turns < 100_000, 'the sessions do not finish')
      await new Promise((resolve) => { setImmediate(resolve) })
      while (isBusy()) await new Promise((resolve) => { setImmediate(resolve) })
      timers.advance(20)
    }
  }
  /** Runs 30 s on an available store, with a round of the reconciler before and after. */
  const recover = async (): Promise<void> => {
    const end = timers.monotonic() + 30_000
    const reconcile = createReconciler(side.deps).round
    void reconcile()
    await drive(() => timers.monotonic() >= end)
    let isReconciled = false
    void reconcile().finally(() => { isReconciled = true })
    await drive(() => isReconciled && timers.size() === 0)
  }
  const logSince = async (from: Position): Promise<ReadonlyArray<StoredEvent>> => {
    const events: Array<StoredEvent> = []
    for await (const message of real.subscribe(from, [''], new AbortController().signal)) {
      if (message.kind === 'caught-up') break
      if (message.kind === 'event') events.push(message.event)
    }
    return events
  }

  /**
   * Runs the sessions on a stalling store, then recovers. Throws when a session is locked (refuses its sender), mute
   * (accepts no audio) or doubled (exists twice).
   */
  const round = async (name: string, sessions: number) => {
    const from = right(await real.head())
    const [ended, senders] = [new Set<number>(), new Map<number, Awaited<ReturnType<typeof worker.attach>>>()]
    const unsubscribes: Array<() => void> = []
    const session = async (number: number): Promise<void> => {
      await after(20_000)
      const createdLive = await retry(() => side.createLive(owner, requestOf(), `${name}-${number}`))
      assert.ok(E.isRight(createdLive), 'a create was refused')
      const { id } = createdLive.right
      unsubscribes.push(bus.subscribe(id, ({ kind }) => { if (kind === 'ended') ended.add(id) }))
      if (chance(0.1)) return
      const first = await live.attachSender(id)
      if (E.isLeft(first) && chance(0.3)) return
      const attached = E.isRight(first) ? first : await retry(() => live.attachSender(id))
      assert.ok(E.isRight(attached), `session ${id} is locked: ${E.isLeft(attached) ? attached.left._tag : ''}`)
      senders.set(id, attached.right)
      attached.right.configure({})
      attached.right.audio(AUDIO)
      await worker.pipelines.of(id).final(1, 'words')
      await after(5000)
      const end = random()
      if (end < 0.25) attached.right.finish()
      else if (end < 0.5) await side.finishLive(owner, id)
      else if (end < 0.7) attached.right.lost()
      else if (end < 0.8) await retry(() => side.finishLive(owner, id))
    }
    let done = 0
    const failures: Array<unknown> = []
    isStalled = true
    for (let number = 0; number < sessions; number++)
      void session(number).catch((error: unknown) => failures.push(error)).finally(() => { done += 1 })
    await drive(() => done === sessions)
    isStalled = false
    await recover()
    if (failures.length > 0) throw failures[0]

    const reserved = admission.state().open.map(({ liveId }) => liveId)
    const log = await logSince(from)
    const created = log.filter(({ type }) => type === 'LiveCreated').map(dataOf)
    const commands = new Set(created.map((data) => String(data['commandId']).split('/')[0]))
    assert.equal(commands.size, created.length, 'a create made two sessions')
    let open = 0
    for (const data of created) {
      const id = Number(data['liveId'])
      const { state } = right(await loadLive(side.deps, id))
      const isOpen = exists(state) && (state.status === 'pending' || state.status === 'active')
      assert.equal(reserved.includes(id), isOpen, `session ${id} is ${state.status}`)
      const finals = log.filter(({ stream, type }) => stream === `segments-${id}` && type === 'SegmentFinalised')
      assert.ok(finals.length <= 1, `a final of session ${id} was stored twice`)
      const sender = senders.get(id)
      if (!isOpen) {
        assert.ok(sender === undefined || ended.has(id), `the sender of session ${id} was not informed of its end`)
        continue
      }
      open += 1
      const isSenderInLog = state.sender !== null
      const difference = `the log and the worker differ about the sender of session ${id}`
      assert.equal(isSenderInLog, live.runs.hasSender(id), difference)
      if (sender !== undefined) assert.equal(sender.audio(AUDIO), 'ok', `session ${id} accepts no audio`)
      else right(await live.attachSender(id))
    }
    assert.equal(reserved.length, open)
    assert.equal(live.count(), open, 'ended sessions are forgotten')
    unsubscribes.forEach((stop) => stop())
    worker.pipelines.forget()
    return { open, created: created.length }
  }

  return {
    round,
    /** Ends all sessions and waits until their commands are forgotten. */
    endAll: async (): Promise<void> => {
      const open = admission.state().open.map(({ liveId }) => liveId)
      let isDone = false
      void Promise.all(open.map((id) => side.finishLive(owner, id))).finally(() => { isDone = true })
      await drive(() => isDone)
      await recover()
      const forgotten = timers.monotonic() + REMEMBERED_MS
      await drive(() => timers.monotonic() >= forgotten)
      assert.equal(live.count() + admission.state().open.length, 0, 'all sessions have ended')
    },
    close: worker.close,
  }
}
