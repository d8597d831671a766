import { isDeepStrictEqual } from 'node:util'
import test from 'ava'
import fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { admissionDecider, type AdmissionCommand } from '../../../../domain/admission/decider.ts'
import type { AdmissionEvent, WorkerRestarted } from '../../../../domain/admission/events.ts'
import { isPlaceable, canRun, type Offering } from '../../../../domain/admission/placement.ts'
import { AdmissionSnapshotPacked, fromSnapshot, toSnapshot } from '../../../../domain/admission/snapshot.ts'
import {
  liveIdOfCommand, openOf, placementOf, reservedVram, type AdmissionState,
} from '../../../../domain/admission/state.ts'
import { decodeOrThrow } from '../../../../domain/shared/codecs.ts'
import { fold, type Stamped } from '../../../../domain/shared/decider.ts'
import { join as joinOf } from './admission-samples.ts'
import { after } from '../../../support/events/sample-events.ts'
import type { EventOf } from '../../../../domain/shared/event.ts'

const WORKERS = ['gpu-0', 'gpu-1', 'gpu-2']

const ensure = (holds: boolean, message: string): void => {
  if (!holds) throw new Error(message)
}

/** The reservations, computed from the events independently of the decider. */
interface Ledger {
  readonly workers: Map<string, { readonly vram: number; readonly isDraining: boolean }>
  /** In order of waiting: sessions that lost their worker move to the end. */
  readonly held: Map<
    number,
    {
      readonly worker: string | null
      readonly userId: number
      readonly vram: number
      readonly term: number
      readonly needs: ReadonlyArray<string> | null
    }
  >
}

const newLedger = (): Ledger => ({ workers: new Map(), held: new Map() })
const sum = (values: Iterable<number>): number => [...values].reduce((total, value) => total + value, 0)
const heldOn = (ledger: Ledger, worker: string): number =>
  sum([...ledger.held.values()].filter((entry) => entry.worker === worker).map((entry) => entry.vram))
const capacityOf = (ledger: Ledger, worker: string): number => ledger.workers.get(worker)?.vram ?? 0
const freeOn = (ledger: Ledger, among: ReadonlyArray<string> = WORKERS): ReadonlyArray<number> =>
  [...ledger.workers].flatMap(([worker, { vram, isDraining }]) =>
    isDraining || !among.includes(worker) ? [] : [vram - heldOn(ledger, worker)],
  )
const sessionsOf = (ledger: Ledger, userId: number): number =>
  [...ledger.held.values()].filter((entry) => entry.userId === userId).length

const workersFor = (needs: ReadonlyArray<string> | null, offering: Offering | undefined): ReadonlyArray<string> =>
  WORKERS.filter((worker) => canRun(offering, worker, needs))

/** Throws when a session that waits longer than `liveId` would fit a worker now. */
const ensureNobodyWaitsLonger = (ledger: Ledger, liveId: number, offering: Offering | undefined): void => {
  for (const [waitingId, { worker, vram, needs }] of ledger.held) {
    if (waitingId === liveId) return
    ensure(
      worker !== null || Math.max(-1, ...freeOn(ledger, workersFor(needs, offering))) < vram,
      `session ${waitingId} waits longer than session ${liveId}`,
    )
  }
}

const recordRestart = (
  ledger: Ledger,
  { worker, vram, waiting }: EventOf<typeof WorkerRestarted>['data'],
  offering: Offering | undefined,
): void => {
  ensure(ledger.workers.has(worker), `${worker} restarted but had not joined`)
  ledger.workers.set(worker, { vram, isDraining: false })
  for (const [liveId, entry] of [...ledger.held].filter(([, held]) => held.worker === worker)) {
    const isKept = !waiting.includes(liveId)
    if (!isKept) ledger.held.delete(liveId)
    ensure(!isKept || workersFor(entry.needs, offering).includes(worker), `${worker} kept session ${liveId}`)
    ledger.held.set(liveId, isKept ? { ...entry, term: entry.term + 1 } : { ...entry, worker: null })
  }
}

const record = (ledger: Ledger, event: AdmissionEvent, offering?: Offering): void => {
  switch (event.type) {
    case 'LiveIdsSkipped':
      break
    case 'CapacitySet':
    case 'WorkerJoined':
      ledger.workers.set(event.data.worker, { vram: event.data.vram, isDraining: false })
      break
    case 'WorkerDraining':
      ledger.workers.set(event.data.worker, { vram: capacityOf(ledger, event.data.worker), isDraining: true })
      break
    case 'WorkerLeft': {
      ensure(ledger.workers.delete(event.data.worker), `${event.data.worker} left twice`)
      const entries = [...ledger.held].filter(([, { worker }]) => worker === event.data.worker)
      for (const [liveId] of entries) ledger.held.delete(liveId)
      for (const [liveId, entry] of entries) ledger.held.set(liveId, { ...entry, worker: null })
      break
    }
    case 'WorkerRestarted':
      recordRestart(ledger, event.data, offering)
      break
    case 'Admitted':
      ledger.held.set(event.data.liveId, { ...event.data, term: 1 })
      break
    case 'Moved': {
      const { liveId, worker, term } = event.data
      const before = ledger.held.get(liveId)
      if (before === undefined) throw new Error(`session ${liveId} was moved without a reservation`)
      ensure(term === before.term + 1, `session ${liveId} went from term ${before.term} to ${term}`)
      if (before.worker === null) ensureNobodyWaitsLonger(ledger, liveId, offering)
      ensure(
        workersFor(before.needs, offering).includes(worker),
        `${worker} lacks a model that session ${liveId} needs`,
      )
      ledger.held.set(liveId, { ...before, worker, term })
      break
    }
    case 'Released':
      ensure(ledger.held.delete(event.data.liveId), `session ${event.data.liveId} was released without a reservation`)
  }
}

const ensureFits = (ledger: Ledger, event: AdmissionEvent): void => {
  if (event.type !== 'Admitted' && event.type !== 'Moved' && event.type !== 'WorkerRestarted') return
  const { worker } = event.data
  ensure(ledger.workers.get(worker)?.isDraining === false, `${worker} accepts no sessions`)
  ensure(heldOn(ledger, worker) <= capacityOf(ledger, worker), `${worker} is over its capacity`)
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** A command and the time since the previous command. */
interface Step {
  readonly command: (at: string) => Stamped<AdmissionCommand>
  /** Milliseconds: usually below a minute, sometimes hours. Negative when the clock was set back. */
  readonly elapsed: number
}

type AtTime<Type extends Stamped<AdmissionCommand>['type']> = fc.Arbitrary<
  Omit<Extract<Stamped<AdmissionCommand>, { readonly type: Type }>, 'at'>
>

const worker = fc.constantFrom(...WORKERS)
const incarnation = fc.constantFrom('a', 'b', 'c')
const vram = fc.integer({ min: 0, max: 40 }).map((hundreds) => hundreds * 100)
const join: AtTime<'Join'> = fc.record({
  type: fc.constant('Join'), worker, incarnation, vram, knowsRestart: fc.boolean(),
})
const drain: AtTime<'Drain'> = fc.record({ type: fc.constant('Drain'), worker, incarnation })
const leave: AtTime<'Leave'> = fc.record({
  type: fc.constant('Leave'), worker, incarnation, reason: fc.constantFrom('lost', 'stopped'),
})
const place: AtTime<'Place'> = fc.record({ type: fc.constant('Place') })
const liveId = fc.integer({ min: 1, max: 30 })
const move: AtTime<'Move'> = fc.record({
  type: fc.constant('Move'), liveId, term: fc.integer({ min: 1, max: 4 }), to: fc.option(worker),
})
const admit: AtTime<'Admit'> = fc.record({
  type: fc.constant('Admit'),
  commandId: fc.nat({ max: 60 }).map(String),
  userId: fc.integer({ min: 1, max: 4 }),
  vram: fc.constantFrom(0, 100, 700, 1000, 1500),
  maxSessions: fc.integer({ min: 0, max: 3 }),
  instance: fc.constantFrom('a', 'b'),
  needs: fc.constantFrom(['tiny'], ['tiny', 'en-es']),
  candidates: fc
    .subarray(WORKERS, { minLength: 1 })
    .map((names) => names.map((worker, index) => ({ worker, rank: index % 2 }))),
})
const release: AtTime<'Release'> = fc.record({ type: fc.constant('Release'), liveId })
/** The models of each worker, as far as the caller knows them; undefined when the caller knows none. */
const offerings: fc.Arbitrary<Offering | undefined> = fc.option(
  fc
    .array(fc.tuple(worker, fc.subarray(['tiny', 'en-es']).map((names) => new Set(names))))
    .map((entries) => new Map(entries)),
  { nil: undefined },
)
const command: fc.Arbitrary<Step['command']> = fc
  .oneof(
    { weight: 3, arbitrary: fc.oneof(join, leave, drain, place) },
    { weight: 2, arbitrary: move },
    { weight: 8, arbitrary: admit },
    { weight: 4, arbitrary: release },
  )
  .chain((fields) => offerings.map((offering) => (at: string) => ({ ...fields, at, offering })))
const elapsed = fc.oneof(
  { weight: 8, arbitrary: fc.nat({ max: MINUTE }) },
  { weight: 1, arbitrary: fc.integer({ min: -5000, max: 0 }) },
  { weight: 1, arbitrary: fc.integer({ min: 9 * MINUTE, max: 28 * HOUR }) },
)
const steps: fc.Arbitrary<ReadonlyArray<Step>> = fc
  .array(fc.record({ command, elapsed }), { maxLength: 80 })
  .map((rest) => [
    { command: (at) => ({ ...joinOf('gpu-0', 4000, 'a'), at }), elapsed: 0 },
    ...rest,
  ])

interface Decided {
  readonly command: Stamped<AdmissionCommand>
  readonly before: AdmissionState
  readonly decision: ReturnType<typeof admissionDecider.decide>
  readonly next: AdmissionState
}

const run = (sequence: ReadonlyArray<Step>, initial = admissionDecider.initialState): ReadonlyArray<Decided> => {
  let clock = 10_000
  let state = initial
  return sequence.map((step) => {
    clock = Math.max(0, clock + step.elapsed)
    const command = step.command(after(clock))
    const before = state
    const decision = admissionDecider.decide(command, before)
    state = fold(admissionDecider, E.getOrElse((): ReadonlyArray<AdmissionEvent> => [])(decision), before)
    return { command, before, decision, next: state }
  })
}

const eventsOf = (decided: ReadonlyArray<Pick<Decided, 'decision'>>): ReadonlyArray<AdmissionEvent> =>
  decided.flatMap((step) => E.getOrElse((): ReadonlyArray<AdmissionEvent> => [])(step.decision))

test('capacities and quotas hold, the longest waiting session moves first, and terms grow by one', (t) => {
  const seen = { admitted: 0, moved: 0, restarted: 0, quota: 0, vram: 0 }
  fc.assert(
    fc.property(steps, (sequence) => {
      const ledger = newLedger()
      for (const { command, decision } of run(sequence)) {
        const events = eventsOf([{ decision }])
        for (const event of events) {
          record(ledger, event, command.offering)
          ensureFits(ledger, event)
          if (event.type === 'Moved') seen.moved += 1
          if (event.type === 'WorkerRestarted') seen.restarted += 1
          if (event.type !== 'Admitted' || command.type !== 'Admit') continue
          seen.admitted += 1
          const { userId } = event.data
          ensure(sessionsOf(ledger, userId) <= command.maxSessions, `user ${userId} is over the quota`)
        }
        if (E.isLeft(decision) && command.type === 'Admit') {
          seen[decision.left._tag === 'QuotaReached' ? 'quota' : 'vram'] += 1
          const sessions = sessionsOf(ledger, command.userId)
          const candidateNames = command.candidates.map(({ worker }) => worker)
          if (decision.left._tag === 'QuotaReached') ensure(sessions >= command.maxSessions, 'refused below the quota')
          else
            ensure(Math.max(-1, ...freeOn(ledger, candidateNames)) < command.vram, 'refused although a worker had room')
        }
      }
    }),
    { numRuns: 1000 },
  )
  t.true(Object.values(seen).every((count) => count > 0), 'every kind of event and answer occurs')
})

test('the state agrees with the log: a release frees exactly its reservation', (t) => {
  fc.assert(fc.property(steps, (sequence) => {
    const ledger = newLedger()
    for (const step of run(sequence)) {
      for (const event of eventsOf([step])) record(ledger, event, step.command.offering)
      ensure(
        reservedVram(step.next) === sum([...ledger.held.values()].map((entry) => entry.vram)),
        'the reserved megabytes differ',
      )
      ensure(
        String(step.next.open.map((held) => held.liveId)) === String([...ledger.held.keys()]),
        'the open sessions differ',
      )
      for (const [liveId, { worker, term }] of ledger.held)
        ensure(
          JSON.stringify(placementOf(step.next, liveId)) === JSON.stringify({ worker, term }),
          'the placement differs',
        )
      for (const worker of WORKERS)
        ensure(
          ledger.workers.has(worker) || openOf(step.next, worker).length === 0,
          `${worker} left but still has sessions`,
        )
    }
  }))
  t.pass()
})

test('a waiting session is placed as soon as there is room', (t) => {
  let waited = 0
  fc.assert(fc.property(steps, (sequence) => {
    for (const { command, decision, next } of run(sequence)) {
      if (next.open.some(({ worker }) => worker === null)) waited += 1
      // Only commands that can free room must place waiting sessions.
      const mustPlace = eventsOf([{ decision }]).length > 0 && !['Admit', 'Drain'].includes(command.type)
      if (mustPlace || command.type === 'Place')
        ensure(!isPlaceable(next, command.offering), `there is room after ${command.type}`)
    }
  }), { numRuns: 500 })
  t.true(waited > 0)
})

test('session ids are unique and grow by one', (t) => {
  fc.assert(fc.property(steps, (sequence) => {
    const ids = eventsOf(run(sequence)).flatMap((event) => (event.type === 'Admitted' ? [event.data.liveId] : []))
    return ids.every((liveId, index) => liveId === index + 1)
  }))
  t.pass()
})

test('a create that is repeated within ten minutes is not admitted again and finds its session', (t) => {
  let repeated = 0
  fc.assert(fc.property(steps, (sequence) => {
    for (const { command, before, decision } of run(sequence)) {
      if (command.type !== 'Admit' || E.isLeft(decision)) continue
      const admitted = fold(admissionDecider, decision.right, before)
      const foundId = liveIdOfCommand(admitted, command.commandId)
      ensure(O.isSome(foundId), 'forgotten at once')
      repeated += 1
      ensure(isDeepStrictEqual(admissionDecider.decide(command, admitted), E.right([])), 'admitted twice')
      const entry = toSnapshot(admitted, 0).commands.find(([commandId]) => commandId === command.commandId)
      ensure(entry?.[1] === O.toNullable(foundId), 'the snapshot names another session')
    }
  }))
  t.true(repeated > 0)
})

/** Sessions that are admitted and released one after another, two seconds apart. */
const shortSessions = (size: number): ReadonlyArray<AdmissionEvent> =>
  Array.from({ length: size }, (_, index) => index + 1).flatMap((liveId): ReadonlyArray<AdmissionEvent> => {
    const at = after((liveId - size) * 2000)
    // An older version did not store the models that a session needs.
    const needs = liveId % 3 === 0 ? null : ['tiny']
    const data = {
      liveId, userId: 9, worker: 'gpu-9', vram: 1, needs, instance: 'a', commandId: `command-${liveId}`, at,
    }
    return [{ type: 'Admitted', data }, { type: 'Released', data: { liveId, at } }]
  })

test('restoring a snapshot taken at any point and folding the rest equals folding the whole log', (t) => {
  fc.assert(fc.property(fc.nat({ max: 400 }), steps, fc.nat({ max: 100 }), (size, sequence, percent) => {
    const history = shortSessions(size)
    const events = [...history, ...eventsOf(run(sequence, fold(admissionDecider, history)))]
    const cut = Math.round((events.length * percent) / 100)
    const json = JSON.stringify(toSnapshot(fold(admissionDecider, events.slice(0, cut)), cut))
    const snapshot = decodeOrThrow(AdmissionSnapshotPacked.codec, JSON.parse(json))
    const folded = fold(admissionDecider, events.slice(cut), fromSnapshot(snapshot))
    const whole = fold(admissionDecider, events)
    return JSON.stringify(toSnapshot(folded, 0)) === JSON.stringify(toSnapshot(whole, 0))
  }))
  t.pass()
})

test('folding changes no earlier state', (t) => {
  fc.assert(fc.property(steps, (sequence) => {
    let state = admissionDecider.initialState
    const versions = eventsOf(run(sequence)).map((event) => {
      const version = { state, snapshot: JSON.stringify(toSnapshot(state, 0)) }
      state = admissionDecider.evolve(state, event)
      return version
    })
    return versions.every((version) => JSON.stringify(toSnapshot(version.state, 0)) === version.snapshot)
  }))
  t.pass()
})
