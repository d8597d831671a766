import assert from 'node:assert/strict'
import * as E from 'fp-ts/lib/Either.js'
import { reconciling } from '../../application/lives/policies/reconcile-lives.ts'
import { loadLive } from '../../application/lives/load-live.ts'
import type { EventStore } from '../../application/ports/event-store.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { exists } from '../../domain/live/decider.ts'
import { createManualTimers } from '../support/manual-timers.ts'
import { createMemoryEventStore } from '../support/memory-event-store.ts'
import { createMemoryKeyring } from '../support/memory-keyring.ts'
import { right } from '../support/projecting.ts'
import { AUDIO } from '../support/sessions.ts'
import { dataOf } from '../support/stored-data.ts'
import { createTestEnvironment } from '../support/test-environment.ts'
import { createWorker } from './worker-world.ts'
import { callerOf, requestOf } from './write-side.ts'

/** The adapters wait so long for an answer. */
const ANSWER_MS = 1500
const AWAY = { _tag: 'StoreUnavailable', reason: 'stalled' } as const
const UNKNOWN = ['StoreUnavailable', 'Contended', 'Superseded']

/** While `isStalled` every append is made 0.5 to 3 s later, and answered then, too early to know, or never made. */
const stalling = (store: EventStore, timers: Timers, random: () => number, isStalled: () => boolean): EventStore => {
  const wait = (ms: number): Promise<void> => new Promise((resolve) => { timers.after(ms, resolve) })
  return {
    ...store,
    append: (...args) => async () => {
      if (!isStalled()) return await store.append(...args)()
      const delay = 500 + random() * 2500
      const isMade = random() > 0.1
      const making = isMade ? wait(delay).then(() => store.append(...args)()) : null
      const kind = random()
      if (making !== null && delay < ANSWER_MS && kind > 0.5) return await making
      await wait(kind > 0.4 ? ANSWER_MS : random() * 100)
      return E.left(AWAY)
    },
  }
}

/** So many sessions on a store that stalls, then 30 s of one that is well; throws where one is locked, deaf or doubled. */
export const assertNobodyIsLocked = async (random: () => number, sessions: number) => {
  const timers = createManualTimers()
  let isStalled = false
  const memory = createMemoryEventStore()
  const store = stalling(memory, timers, random, () => isStalled)
  const start = Date.parse('2026-11-21T09:30:00Z')
  const now = (): string => new Date(start + timers.monotonic()).toISOString().replace('Z', '000+00:00')
  const environment = { ...createTestEnvironment(), now, random, monotonic: timers.monotonic }
  const worker = await createWorker({ store, keyring: createMemoryKeyring(), timers, environment, worker: 'w1', vram: 1e6, script: { tail: () => null } })
  await worker.start()
  const { side, sessions: live, admission, bus } = worker
  const owner = callerOf(1, { maxSessions: 1e6 })
  const chance = (share: number): boolean => random() < share
  const after = (ms: number): Promise<void> => new Promise((resolve) => { timers.after(random() * ms, resolve) })
  const [over, speaking] = [new Set<number>(), new Map<number, Awaited<ReturnType<typeof worker.attach>>>()]

  /** As a client that tries again for as long as it is told nothing. */
  const surely = async <L extends { readonly _tag: string }, A>(ask: () => Promise<E.Either<L, A>>): Promise<E.Either<L, A>> => {
    for (;;) {
      const answer = await ask()
      if (E.isRight(answer) || !UNKNOWN.includes(answer.left._tag)) return answer
      await after(3000)
    }
  }
  const session = async (number: number): Promise<void> => {
    await after(20_000)
    const made = await surely(side.createLive(owner, requestOf(), `create-${number}`))
    assert.ok(E.isRight(made), 'a create is refused')
    const { id } = made.right
    bus.subscribe(id, ({ kind }) => { if (kind === 'ended') over.add(id) })
    if (chance(0.1)) return
    const first = await live.attachSender(id)()
    if (E.isLeft(first) && chance(0.3)) return
    const attached = E.isRight(first) ? first : await surely(live.attachSender(id))
    assert.ok(E.isRight(attached), `live ${id} is locked: ${E.isLeft(attached) ? attached.left._tag : ''}`)
    speaking.set(id, attached.right)
    attached.right.configure({})
    attached.right.audio(AUDIO)
    await worker.pipelines.of(id).final(1, 'words')
    await after(5000)
    const end = random()
    if (end < 0.25) attached.right.finish()
    else if (end < 0.5) await side.finishLive(owner, id)()
    else if (end < 0.7) attached.right.lost()
    else if (end < 0.8) await surely(side.finishLive(owner, id))
  }

  /** Lets virtual time pass until it is done. */
  const drive = async (isDone: () => boolean): Promise<void> => {
    for (let turns = 0; !isDone(); turns++) {
      assert.ok(turns < 100_000, 'the sessions do not come to rest')
      await new Promise((resolve) => { setImmediate(resolve) })
      timers.advance(20)
    }
  }
  let done = 0
  const failures: Array<unknown> = []
  isStalled = true
  for (let number = 0; number < sessions; number++) void session(number).catch((error: unknown) => failures.push(error)).finally(() => { done += 1 })
  await drive(() => done === sessions)
  isStalled = false
  const well = timers.monotonic() + 30_000
  const reconcile = reconciling(side.deps).round
  void reconcile()
  await drive(() => timers.monotonic() >= well)
  let isReconciled = false
  void reconcile().finally(() => { isReconciled = true })
  await drive(() => isReconciled && timers.size() === 0)
  if (failures.length > 0) throw failures[0]

  const reserved = admission.state().open.map(({ liveId }) => liveId)
  const created = memory.allEvents().filter(({ type }) => type === 'LiveCreated').map(dataOf)
  assert.equal(new Set(created.map((data) => String(data['commandId']).split('/')[0])).size, created.length, 'a create is doubled')
  let open = 0
  for (const data of created) {
    const id = Number(data['liveId'])
    const { state } = right(await loadLive(side.deps, id)())
    const isOpen = exists(state) && (state.status === 'pending' || state.status === 'active')
    assert.equal(reserved.includes(id), isOpen, `live ${id} is ${state.status}`)
    const finals = memory.allEvents().filter(({ stream, type }) => stream === `segments-${id}` && type === 'SegmentFinalised')
    assert.ok(finals.length <= 1, `a final of live ${id} is doubled`)
    const sender = speaking.get(id)
    if (!isOpen) {
      assert.ok(sender === undefined || over.has(id), `nobody told who speaks to live ${id} of its end`)
      continue
    }
    open += 1
    assert.equal(state.sender !== null, live.runs.hasSender(id), `the log names a sender of live ${id}, or none, wrongly`)
    if (sender !== undefined) assert.equal(sender.audio(AUDIO), 'ok', `live ${id} is deaf`)
    else right(await live.attachSender(id)())
  }
  assert.equal(reserved.length, open)
  assert.equal(live.count(), open, 'what is over is forgotten')
  await worker.close()
  return { open, made: created.length }
}
