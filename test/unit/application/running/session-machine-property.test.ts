import test from 'ava'
import fc from 'fast-check'
import { step, type Input } from '../../../../application/running/session-machine.ts'
import type { Effect, SessionState, Timer } from '../../../../application/running/session-state.ts'
import { newSession } from '../../../support/worlds/session-steps.ts'

const STAGES = ['open', 'finishing', 'ending', 'over'] as const
const CAUSE = { status: 'finished', reason: 'finish_route' } as const
const END = { cause: CAUSE, origin: null }

const sender = fc.integer({ min: 1, max: 3 })
const samples = fc.integer({ min: 0, max: 9 }).map((count) => new Int16Array(count))
const ms = fc.constantFrom(0, 5000)
const frame = fc.record({
  overrides: fc.constantFrom({}, { max_chars: 40 }, { min_buffer: 99 }),
  vocabulary: fc.constantFrom({}, { prompt: 'a' }, { prompt: 'b' }),
  isBeyondBudget: fc.boolean(),
})

const named = <Name extends string, Values extends Array<unknown>>(
  name: Name,
  ...values: { readonly [Index in keyof Values]: fc.Arbitrary<Values[Index]> }
): fc.Arbitrary<readonly [Name, ...Values]> => 
  fc.tuple(...values).map((given) => [name, ...(given as Values)])

/** Any input, in any order. */
const input: fc.Arbitrary<Input> = fc.oneof(
  { weight: 4, arbitrary: named('senderCame', fc.option(fc.integer({ min: 0, max: 30 })), fc.boolean(), ms) },
  { weight: 4, arbitrary: named('config', sender, frame) },
  { weight: 8, arbitrary: named('audio', sender, samples) },
  named('lost', sender, ms),
  named('abandoned', sender, ms),
  named('finishMessage', sender),
  named('closed', sender, fc.constantFrom('sender_closed', 'idle')),
  named('senderRecorded', sender, fc.integer({ min: 1, max: 9 })),
  named('awaitSender', ms, fc.constant(END)),
  named('pull'),
  named('sourceAudio', samples, fc.integer({ min: 0, max: 3 })),
  named('sourceEnded', fc.constant(CAUSE)),
  named('modelLoaded'),
  named('pipelineFailed', fc.constant({ _tag: 'JobFailed' as const, reason: 'it died' })),
  named('timerFired', fc.constantFrom('record', 'wait', 'report')),
  named('takeNoMore'),
  named('end', fc.constant(END)),
  named('endStored', fc.boolean()),
  named('settle'),
)

const session = fc.record({
  isPulled: fc.boolean(), isIndependent: fc.boolean(), earlier: fc.constantFrom(0, 10), grace: ms,
})

/** The owner of a session gives no second sender, no timer that does not run, and no stored end without an end. */
const isPossible = (state: SessionState, timers: ReadonlySet<Timer>, [name, value]: Input): boolean => {
  const { stage, sender, end } = state
  if (name === 'senderCame') return stage === 'open' && sender === null
  if (name === 'timerFired') return timers.has(value)
  if (name === 'endStored') return end !== null && !end.isStored
  return name !== 'awaitSender' || (stage === 'open' && sender === null)
}

interface Played {
  readonly before: SessionState
  readonly state: SessionState
  readonly effects: ReadonlyArray<Effect>
}

/** Runs a session. Returns each step with the state before it. */
const play = (facts: Partial<SessionState['facts']>, inputs: ReadonlyArray<Input>) => {
  const timers = new Set<Timer>()
  const steps: Array<Played> = []
  let before = newSession(facts)
  for (const next of inputs) {
    if (!isPossible(before, timers, next)) continue
    if (next[0] === 'timerFired') timers.delete(next[1])
    const { state, effects } = step(before, next)
    for (const effect of effects) {
      if (effect[0] === 'startTimer') timers.add(effect[1])
      if (effect[0] === 'cancelTimer') timers.delete(effect[1])
      if (effect[0] === 'stop') timers.clear()
    }
    steps.push({ before, state, effects })
    before = state
  }
  return { steps, timers, state: before, effects: steps.flatMap(({ effects }) => effects) }
}

const count = (effects: ReadonlyArray<Effect>, name: Effect[0]): number =>
  effects.filter(([each]) => each === name).length

const holds = (check: (played: ReturnType<typeof play>) => boolean): void => {
  const inputs = fc.array(input, { maxLength: 40 })
  fc.assert(fc.property(session, inputs, (facts, given) => check(play(facts, given))), { numRuns: 500 })
}

test('a stage never goes back', (t) => {
  holds(({ steps }) => steps.every(({ before, state }) => STAGES.indexOf(state.stage) >= STAGES.indexOf(before.stage)))
  t.pass()
})

test('a session has at most one end, and publishes nothing after it is over', (t) => {
  const telling = new Set<Effect[0]>(['publish', 'reportEnd', 'appendEnd', 'finish'])
  holds(({ effects, steps }) =>
    count(effects, 'appendEnd') <= 1 &&
    steps.every(({ before, effects }) => before.stage !== 'over' || !effects.some(([name]) => telling.has(name))))
  t.pass()
})

test('when a session is over, no timer runs', (t) => {
  holds(({ state, timers }) => state.stage !== 'over' || timers.size === 0)
  t.pass()
})

test('audio is taken only while a session is open, and it starts the session once', (t) => {
  holds(({ steps, effects }) =>
    count(effects, 'appendStart') <= 1 &&
    steps.every(({ before, effects }) => before.stage === 'open' || count(effects, 'pushAudio') === 0))
  t.pass()
})

test('the samples of a session are those that its pipeline got, and those that were lost or skipped', (t) => {
  holds(({ state, effects }) => state.received === effects.reduce(
    (sum, effect) => (effect[0] === 'pushAudio' ? sum + effect[1].length + effect[2] + effect[3] : sum), 0))
  t.pass()
})

test('each sender is recorded at most once, and recorded as gone only after that', (t) => {
  holds(({ effects }) => {
    const records = effects.flatMap((effect) =>
      effect[0] === 'appendAttach' || effect[0] === 'appendDetach' ? [`${effect[0]} ${effect[1]}`] : [])
    return new Set(records).size === records.length && records.every((each, index) =>
      !each.startsWith('appendDetach') || records.indexOf(each.replace('Detach', 'Attach')) in records.slice(0, index))
  })
  t.pass()
})

test('the state of a session can be logged: it is plain data', (t) => {
  holds(({ state }) => {
    t.deepEqual(JSON.parse(JSON.stringify(state)), state)
    return true
  })
})
