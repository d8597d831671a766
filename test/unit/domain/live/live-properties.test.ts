import { isDeepStrictEqual } from 'node:util'
import test from 'ava'
import fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import { liveDecider } from '../../../../domain/live/decider.ts'
import { exists } from '../../../../domain/live/state.ts'
import type { Stamped } from '../../../../domain/shared/decider.ts'
import type { LiveCommand } from '../../../../domain/live/commands.ts'
import type { LiveEvent } from '../../../../domain/live/events.ts'
import { after, liveCreated } from '../../../support/events/sample-events.ts'

type Status = 'none' | 'pending' | 'active' | 'finished' | 'error' | 'aborted' | 'deleted'

/** The allowed status changes by event, written independently of the decider. */
const transitions: Readonly<Record<Status, Partial<Record<LiveEvent['type'], Status>>>> = {
  none: { LiveCreated: 'pending', LiveAborted: 'aborted' },
  pending: {
    SenderAttached: 'pending',
    SenderDetached: 'pending',
    LiveTakenOver: 'pending',
    VocabularyChanged: 'pending',
    SourceStarted: 'pending',
    LiveStarted: 'active',
    LiveFinished: 'finished',
    LiveFailed: 'error',
  },
  active: {
    SenderAttached: 'active',
    SenderDetached: 'active',
    LiveTakenOver: 'active',
    VocabularyChanged: 'active',
    SourceStarted: 'active',
    LiveFinished: 'finished',
    LiveFailed: 'error',
  },
  finished: { LiveDeleted: 'deleted' },
  error: { LiveDeleted: 'deleted' },
  aborted: {},
  deleted: {},
}

const at = fc.nat({ max: 1e9 }).map(after)
const instance = fc.constantFrom('a', 'b', 'c')
const term = fc.integer({ min: 1, max: 4 })
const vocabulary = fc.record(
  { prompt: fc.constantFrom('', 'x'), hotwords: fc.subarray(['a', 'b']) },
  { requiredKeys: [] },
)
const command: fc.Arbitrary<Stamped<LiveCommand>> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .record({ autoStart: fc.boolean(), commandId: fc.constantFrom('x', 'y') })
      .map((changes): Stamped<LiveCommand> => ({ type: 'CreateLive', data: liveCreated(changes).data, at: after(0) })),
  },
  {
    weight: 1,
    arbitrary: at.map((at): Stamped<LiveCommand> =>
      ({ type: 'AbortLive', liveId: 7, userId: 3, reason: 'orphan', at })),
  },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('AttachSender' as const), instance, term, at }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('TakeOverLive' as const), worker: instance, term, at }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('ChangeVocabulary' as const), vocabulary, term, at }) },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('DetachSender' as const),
      epoch: fc.integer({ min: 1, max: 4 }),
      term,
      at,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('StartSource' as const),
      pid: fc.option(fc.constant(42)),
      sampleOffset: fc.nat(),
      nextSegment: fc.integer({ min: 1 }),
      mediaSequence: fc.constant(null),
      term,
      at,
    }),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('StartLive' as const), term, at }) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('EndLive' as const),
      cause: fc.constant({ status: 'finished', reason: 'sender_closed' } as const),
      at,
    }),
  },
  { weight: 1, arbitrary: at.map((at): Stamped<LiveCommand> => ({ type: 'DeleteLive', at })) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('EndLiveInTerm' as const),
      cause: fc.constant({ status: 'error', code: 'engine_failed', detail: '' } as const),
      term,
      at,
    }),
  },
)

interface Step {
  readonly command: Stamped<LiveCommand>
  readonly events: ReadonlyArray<LiveEvent>
}

/** Decides the commands one after another; a refused command has no events. */
const run = (commands: ReadonlyArray<Stamped<LiveCommand>>): ReadonlyArray<Step> => {
  let state = liveDecider.initialState
  return commands.map((command) => {
    const events = E.getOrElse((): ReadonlyArray<LiveEvent> => [])(liveDecider.decide(command, state))
    state = events.reduce(liveDecider.evolve, state)
    return { command, events }
  })
}

const sequence = fc.array(command, { maxLength: 40 })

test('no command sequence causes a forbidden status change', (t) => {
  const reached = new Set<Status>()
  fc.assert(
    fc.property(sequence, (commands) => {
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
    }),
    { numRuns: 2000 },
  )
  t.deepEqual(
    [...reached].sort(),
    ['aborted', 'active', 'deleted', 'error', 'finished', 'pending'],
    'the sequences reach every status',
  )
})

test('an ended session stays ended: only a deletion changes its status', (t) => {
  const anyEvents = sequence.map((commands) => run(commands).flatMap((step) => step.events))
  const endings = fc.constantFrom<LiveEvent>(
    { type: 'LiveFinished', data: { liveId: 7, userId: 3, at: after(0), reason: 'restart' } },
    { type: 'LiveFailed', data: { liveId: 7, userId: 3, at: after(0), code: 'source_failed', detail: '' } },
  )
  fc.assert(fc.property(endings, fc.array(anyEvents, { maxLength: 4 }), (ending, later) => {
    const ended = [liveCreated(), ending].reduce(liveDecider.evolve, liveDecider.initialState)
    return later.flat().filter(({ type }) => type !== 'LiveDeleted').reduce(liveDecider.evolve, ended) === ended
  }))
  t.pass()
})

test('terms rise, commands of a lower term make no event, and each sender attaches and detaches once', (t) => {
  let takeovers = 0
  fc.assert(
    fc.property(sequence, (commands) => {
      let epoch = 0
      let term = 1
      let sender: number | null = null
      for (const { command, events } of run(commands))
        for (const event of events) {
          const commandTerm = 'term' in command ? command.term : null
          if (commandTerm !== null && commandTerm < term)
            throw new Error(`${event.type} of term ${commandTerm} in term ${term}`)
          if (event.type === 'LiveTakenOver') {
            if (event.data.term <= term) throw new Error(`term ${event.data.term} after ${term}`)
            term = event.data.term
            sender = null
          }
          if (event.type === 'SenderAttached') {
            if (event.data.epoch !== epoch + 1) throw new Error(`epoch ${event.data.epoch} after ${epoch}`)
            epoch += 1
            sender = epoch
          }
          if (event.type === 'SenderDetached') {
            if (event.data.epoch !== sender) throw new Error('a sender left that was not attached')
            sender = null
          }
        }
      if (term > 1) takeovers += 1
    }),
    { numRuns: 1000 },
  )
  t.true(takeovers > 0, 'the sequences contain takeovers')
})

test('repeating a command does nothing or is refused, except for StartSource and AttachSender', (t) => {
  fc.assert(
    fc.property(sequence, command, (commands, last) => {
      const repeated = run([...commands, last, last]).at(-1)
      return last.type === 'StartSource' || last.type === 'AttachSender' || repeated?.events.length === 0
    }),
  )
  t.pass()
})

test('a session has the vocabulary of the last change, and every change is one event', (t) => {
  fc.assert(fc.property(sequence, (commands) => {
    let state = liveDecider.initialState
    for (const { command, events } of run(commands)) {
      const before = exists(state) ? state.vocabulary : null
      state = events.reduce(liveDecider.evolve, state)
      const after = exists(state) ? state.vocabulary : null
      const expected = command.type === 'ChangeVocabulary' ? command.vocabulary : before
      const hasChanged = events.some(({ type }) => type === 'VocabularyChanged')
      if (before !== null && after !== null && hasChanged !== !isDeepStrictEqual(before, after))
        throw new Error('a change without an event')
      if (hasChanged && !isDeepStrictEqual(after, expected)) throw new Error('the vocabulary differs')
    }
  }), { numRuns: 1000 })
  t.pass()
})
