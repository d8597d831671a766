import test from 'ava'
import fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import { liveDecider } from '../../domain/live/decider.ts'
import type { LiveCommand } from '../../domain/live/decider.ts'
import type { LiveEvent } from '../../domain/live/events.ts'
import { after, liveCreated } from './samples.ts'

type Status = 'none' | 'pending' | 'active' | 'finished' | 'error' | 'aborted' | 'deleted'

/** R98's changes, by the events that make them: written down again here, so that the decider cannot agree with itself. */
const transitions: Readonly<Record<Status, Partial<Record<LiveEvent['type'], Status>>>> = {
  none: { LiveCreated: 'pending', LiveAborted: 'aborted' },
  pending: {
    SenderAttached: 'pending', SenderDetached: 'pending', SourceStarted: 'pending',
    LiveStarted: 'active', LiveFinished: 'finished', LiveFailed: 'error',
  },
  active: { SenderAttached: 'active', SenderDetached: 'active', SourceStarted: 'active', LiveFinished: 'finished', LiveFailed: 'error' },
  finished: { LiveDeleted: 'deleted' },
  error: { LiveDeleted: 'deleted' },
  aborted: {},
  deleted: {},
}

const INSTANCES = ['a', 'b', 'c']
const at = fc.nat({ max: 1e9 }).map(after)
const instance = fc.constantFrom(...INSTANCES)
const command: fc.Arbitrary<LiveCommand> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ autoStart: fc.boolean(), commandId: fc.constantFrom('x', 'y') })
    .map((changes): LiveCommand => ({ type: 'CreateLive', data: liveCreated(changes).data })) },
  { weight: 1, arbitrary: at.map((at): LiveCommand => ({ type: 'AbortLive', liveId: 7, userId: 3, reason: 'orphan', at })) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('AttachSender' as const), instance, otherInstances: fc.subarray(INSTANCES), at }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('DetachSender' as const), epoch: fc.integer({ min: 1, max: 4 }), at }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('StartSource' as const), pid: fc.option(fc.constant(42)), sampleOffset: fc.nat(),
    nextSegment: fc.integer({ min: 1 }), mediaSequence: fc.constant(null), at }) },
  { weight: 3, arbitrary: at.map((at): LiveCommand => ({ type: 'StartLive', at })) },
  { weight: 1, arbitrary: at.map((at): LiveCommand => ({ type: 'FinishLive', reason: 'sender_closed', at })) },
  { weight: 1, arbitrary: at.map((at): LiveCommand => ({ type: 'DeleteLive', at })) },
  { weight: 1, arbitrary: at.map((at): LiveCommand => ({ type: 'FailLive', code: 'engine_failed', detail: '', at })) },
)

interface Step {
  readonly command: LiveCommand
  readonly events: ReadonlyArray<LiveEvent>
}

/** The commands decided one after another, with the events of each that was not refused. */
const run = (commands: ReadonlyArray<LiveCommand>): ReadonlyArray<Step> => {
  let state = liveDecider.initialState
  return commands.map((command) => {
    const events = E.getOrElse((): ReadonlyArray<LiveEvent> => [])(liveDecider.decide(command, state))
    state = events.reduce(liveDecider.evolve, state)
    return { command, events }
  })
}

const sequence = fc.array(command, { maxLength: 40 })

test('R98: no command sequence makes a change of state that is not allowed, and nothing but a deletion follows a terminal event', (t) => {
  const reached = new Set<Status>()
  fc.assert(fc.property(sequence, (commands) => {
    let status: Status = 'none'
    let state = liveDecider.initialState
    for (const event of run(commands).flatMap((step) => step.events)) {
      const next: Status | undefined = transitions[status][event.type]
      if (next === undefined) throw new Error(`${event.type} on ${status}`)
      status = next
      state = liveDecider.evolve(state, event)
      reached.add(status)
      if (state.status !== status) throw new Error(`${event.type} led to ${state.status}, not ${status}`)
    }
  }), { numRuns: 2000 })
  t.deepEqual([...reached].sort(), ['aborted', 'active', 'deleted', 'error', 'finished', 'pending'], 'the sequences reach every status')
})

test('R98: terminal is final: no event but a deletion moves a live out of it', (t) => {
  const anyEvents = sequence.map((commands) => run(commands).flatMap((step) => step.events))
  const endings = fc.constantFrom<LiveEvent>(
    { type: 'LiveFinished', data: { liveId: 7, userId: 3, at: after(0), reason: 'restart' } },
    { type: 'LiveFailed', data: { liveId: 7, userId: 3, at: after(0), code: 'source_failed', detail: '' } },
  )
  fc.assert(fc.property(endings, fc.array(anyEvents, { maxLength: 4 }), (ending, later) => {
    const over = [liveCreated(), ending].reduce(liveDecider.evolve, liveDecider.initialState)
    return later.flat().filter(({ type }) => type !== 'LiveDeleted').reduce(liveDecider.evolve, over) === over
  }))
  t.pass()
})

test('one sender at a time: epochs count up by one, and a sender is replaced only when its process is dead', (t) => {
  let replaced = 0
  fc.assert(fc.property(sequence, (commands) => {
    let epoch = 0
    let holder: string | null = null
    for (const { command, events } of run(commands))
      for (const event of events) {
        if (event.type === 'SenderAttached' && command.type === 'AttachSender') {
          const alive = [command.instance, ...command.otherInstances]
          if (event.data.epoch !== epoch + 1) throw new Error(`epoch ${event.data.epoch} after ${epoch}`)
          if (holder !== null && alive.includes(holder)) throw new Error(`${command.instance} took over from ${holder}, which lives`)
          if (holder !== null) replaced += 1
          epoch += 1
          holder = command.instance
        }
        if (event.type === 'SenderDetached') {
          if (holder === null || event.data.epoch !== epoch) throw new Error('a sender left that was not attached')
          holder = null
        }
      }
  }), { numRuns: 1000 })
  t.true(replaced > 0, 'the sequences replace dead senders')
})

test('repeating any command at once is nothing to do or a refusal; only a source may start again', (t) => {
  fc.assert(fc.property(sequence, command, (commands, last) => {
    const repeated = run([...commands, last, last]).at(-1)
    return last.type === 'StartSource' || repeated?.events.length === 0
  }))
  t.pass()
})
