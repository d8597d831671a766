import test from 'ava'
import fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import {
  admissionDecider,
  fromSnapshot,
  liveIdOfCommand,
  reservedVram,
  toSnapshot,
} from '../../domain/admission/decider.ts'
import type { AdmissionCommand, AdmissionState } from '../../domain/admission/decider.ts'
import { AdmissionSnapshotTaken } from '../../domain/admission/events.ts'
import type { AdmissionEvent } from '../../domain/admission/events.ts'
import { decodeOrThrow } from '../../domain/shared/codecs.ts'
import { fold } from '../../domain/shared/decider.ts'
import { after } from './samples.ts'

const HOUR = 3_600_000

/** A command and the time since the one before, in milliseconds: mostly forwards, sometimes a clock that lags, sometimes a day. */
interface Step {
  readonly command: (at: string) => AdmissionCommand
  readonly elapsed: number
}

type AtTime<Type extends AdmissionCommand['type']> = fc.Arbitrary<Omit<Extract<AdmissionCommand, { readonly type: Type }>, 'at'>>

const setCapacity: AtTime<'SetCapacity'> = fc.record({
  type: fc.constant('SetCapacity'),
  worker: fc.constantFrom('gpu-0', 'gpu-1', 'gpu-2'),
  vram: fc.integer({ min: 0, max: 40 }).map((hundreds) => hundreds * 100),
})
const admit: AtTime<'Admit'> = fc.record({
  type: fc.constant('Admit'),
  commandId: fc.nat({ max: 60 }).map(String),
  userId: fc.integer({ min: 1, max: 4 }),
  vram: fc.constantFrom(0, 100, 700, 1000, 1500),
  maxSessions: fc.integer({ min: 0, max: 3 }),
  instance: fc.constantFrom('a', 'b'),
})
const release: AtTime<'Release'> = fc.record({ type: fc.constant('Release'), liveId: fc.integer({ min: 1, max: 30 }) })
const command: fc.Arbitrary<Step['command']> = fc
  .oneof({ weight: 1, arbitrary: setCapacity }, { weight: 8, arbitrary: admit }, { weight: 4, arbitrary: release })
  .map((members) => (at) => ({ ...members, at }))
const elapsed = fc.oneof(
  { weight: 8, arbitrary: fc.nat({ max: HOUR }) },
  { weight: 1, arbitrary: fc.integer({ min: -5000, max: 0 }) },
  { weight: 1, arbitrary: fc.integer({ min: 20 * HOUR, max: 28 * HOUR }) },
)
const steps: fc.Arbitrary<ReadonlyArray<Step>> = fc
  .array(fc.record({ command, elapsed }), { maxLength: 80 })
  .map((rest) => [{ command: (at) => ({ type: 'SetCapacity', worker: 'gpu-0', vram: 4000, at }), elapsed: 0 }, ...rest])

interface Decided {
  readonly command: AdmissionCommand
  readonly before: AdmissionState
  readonly decision: ReturnType<typeof admissionDecider.decide>
  readonly after: AdmissionState
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
    return { command, before, decision, after: state }
  })
}

const eventsOf = (decided: ReadonlyArray<Pick<Decided, 'decision'>>): ReadonlyArray<AdmissionEvent> =>
  decided.flatMap((step) => E.getOrElse((): ReadonlyArray<AdmissionEvent> => [])(step.decision))

const ensure = (holds: boolean, what: string): void => {
  if (!holds) throw new Error(what)
}

/** What the log says is reserved, counted again from the events alone. */
interface Ledger {
  readonly capacity: Map<string, number>
  readonly held: Map<number, { readonly worker: string; readonly userId: number; readonly vram: number }>
}

const sum = (values: Iterable<number>): number => [...values].reduce((total, value) => total + value, 0)
const heldOn = (ledger: Ledger, worker: string): number =>
  sum([...ledger.held.values()].filter((entry) => entry.worker === worker).map((entry) => entry.vram))
const freeOn = (ledger: Ledger): ReadonlyArray<number> =>
  [...ledger.capacity].map(([worker, vram]) => vram - heldOn(ledger, worker))
const sessionsOf = (ledger: Ledger, userId: number): number => [...ledger.held.values()].filter((entry) => entry.userId === userId).length

const record = (ledger: Ledger, event: AdmissionEvent): void => {
  switch (event.type) {
    case 'CapacitySet':
      ledger.capacity.set(event.data.worker, event.data.vram)
      break
    case 'Admitted':
      ledger.held.set(event.data.liveId, event.data)
      break
    case 'Released':
      ensure(ledger.held.delete(event.data.liveId), `live ${event.data.liveId} was released without a reservation`)
  }
}

test('R57, R60: an admission never exceeds the capacity of its worker nor the quota of its user', (t) => {
  const seen = { admitted: 0, quota: 0, vram: 0 }
  fc.assert(fc.property(steps, (sequence) => {
    const ledger: Ledger = { capacity: new Map(), held: new Map() }
    for (const { command, decision } of run(sequence)) {
      const events = eventsOf([{ decision }])
      for (const event of events) {
        record(ledger, event)
        if (event.type !== 'Admitted' || command.type !== 'Admit') continue
        seen.admitted += 1
        const { worker, userId } = event.data
        ensure(heldOn(ledger, worker) <= (ledger.capacity.get(worker) ?? 0), `${worker} is over its capacity`)
        ensure(sessionsOf(ledger, userId) <= command.maxSessions, `user ${userId} is over the quota`)
      }
      if (E.isLeft(decision) && command.type === 'Admit') {
        seen[decision.left._tag === 'QuotaReached' ? 'quota' : 'vram'] += 1
        const sessions = sessionsOf(ledger, command.userId)
        if (decision.left._tag === 'QuotaReached') ensure(sessions >= command.maxSessions, 'refused below the quota')
        else ensure(Math.max(-1, ...freeOn(ledger)) < command.vram, 'refused although a worker had room')
      }
    }
  }), { numRuns: 1000 })
  t.true(seen.admitted > 0 && seen.quota > 0 && seen.vram > 0, 'all three answers occur')
})

test('R104: the state agrees with the log: a release frees exactly what was reserved', (t) => {
  fc.assert(fc.property(steps, (sequence) => {
    const ledger: Ledger = { capacity: new Map(), held: new Map() }
    for (const step of run(sequence)) {
      for (const event of eventsOf([step])) record(ledger, event)
      ensure(reservedVram(step.after) === sum([...ledger.held.values()].map((entry) => entry.vram)), 'the sum differs')
      ensure(String(step.after.open.map((held) => held.liveId)) === String([...ledger.held.keys()]), 'the open lives differ')
    }
  }))
  t.pass()
})

test('live ids are unique and grow by one', (t) => {
  fc.assert(fc.property(steps, (sequence) => {
    const ids = eventsOf(run(sequence)).flatMap((event) => (event.type === 'Admitted' ? [event.data.liveId] : []))
    return ids.every((liveId, index) => liveId === index + 1)
  }))
  t.pass()
})

test('a command that was admitted within a day is never admitted again, and finds its live', (t) => {
  let repeated = 0
  fc.assert(fc.property(steps, (sequence) => {
    for (const { command, before, decision } of run(sequence)) {
      if (command.type !== 'Admit') continue
      const known = liveIdOfCommand(before, command.commandId)
      if (O.isNone(known)) continue
      repeated += 1
      ensure(E.isRight(decision) && decision.right.length === 0, 'admitted twice')
      const entry = toSnapshot(before, 0).commands.find((entry) => entry.commandId === command.commandId)
      ensure(entry?.liveId === known.value, 'another live')
    }
  }))
  t.true(repeated > 0)
})

/** So many lives admitted and released one after another, five minutes apart: more creates than one chunk of them holds. */
const crowd = (size: number): ReadonlyArray<AdmissionEvent> =>
  Array.from({ length: size }, (_, index) => index + 1).flatMap((liveId): ReadonlyArray<AdmissionEvent> => {
    const at = after((liveId - size) * 300_000)
    const live = { liveId, userId: 9, worker: 'gpu-9', vram: 1, instance: 'a', commandId: `crowd-${liveId}`, at }
    return [{ type: 'Admitted', data: live }, { type: 'Released', data: { liveId, at } }]
  })

test('a snapshot taken at any point, through JSON, folds on to what the whole log folds to', (t) => {
  fc.assert(fc.property(fc.nat({ max: 400 }), steps, fc.nat({ max: 100 }), (size, sequence, percent) => {
    const history = crowd(size)
    const events = [...history, ...eventsOf(run(sequence, fold(admissionDecider, history)))]
    const cut = Math.round((events.length * percent) / 100)
    const json = JSON.stringify(toSnapshot(fold(admissionDecider, events.slice(0, cut)), cut))
    const snapshot = decodeOrThrow(AdmissionSnapshotTaken.codec, JSON.parse(json))
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
      const version = { state, asItWas: JSON.stringify(toSnapshot(state, 0)) }
      state = admissionDecider.evolve(state, event)
      return version
    })
    return versions.every((version) => JSON.stringify(toSnapshot(version.state, 0)) === version.asItWas)
  }))
  t.pass()
})
