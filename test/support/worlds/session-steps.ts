import test, { type ExecutionContext } from 'ava'
import { step, type Input } from '../../../application/running/session-machine.ts'
import type { Answer } from '../../../application/running/socket-sessions.ts'
import {
  beginSession, type ConfigFrame, type Effect, type End, type SessionState,
} from '../../../application/running/session-state.ts'
import type { FinishReason } from '../../../domain/live/events.ts'
import { DEFAULT_ENGINE_SETTINGS } from '../../../domain/live/settings.ts'
import { AUDIO } from './session-world.ts'

export const CONFIG = DEFAULT_ENGINE_SETTINGS

/** A session with raw audio that no sender has used yet. */
export const newSession = (facts: Partial<SessionState['facts']> = {}): SessionState => {
  const live = { model: 'demo-en', config: CONFIG, vocabulary: {}, audioFormat: 'raw', autoStart: false } as const
  const state = beginSession(live, 0, 0)
  return { ...state, facts: { ...state.facts, ...facts } }
}

/**
 * Tests a running session in three steps. Given the inputs so far, when another input comes, then it has effects and
 * an answer.
 */
export const specifySession = (t: ExecutionContext, session: SessionState = newSession()) => ({
  given: (...inputs: ReadonlyArray<Input>) => ({
    when: (input: Input) => {
      const before = inputs.reduce((state, given) => step(state, given).state, session)
      const { state, effects, answer } = step(before, input)
      return {
        thenEffects: (...expected: ReadonlyArray<Effect>): void => { t.deepEqual(effects, expected) },
        thenAnswer: (expected: typeof answer): void => { t.is(answer, expected) },
        thenState: (expected: object): void => { t.like(state, expected) },
      }
    },
  }),
})

export const GRACE = { grace: 5000 }
export const RADIO = { isPulled: true }
export const AUTO_STARTED = { isPulled: true, isIndependent: true }

export const endAs = (reason: FinishReason): End =>
  ({ cause: { status: 'finished', reason }, origin: null })

export const frameOf = (changes: Partial<ConfigFrame> = {}): ConfigFrame =>
  ({ overrides: {}, vocabulary: {}, isBeyondBudget: false, ...changes })

export const COMES: Input = ['senderCame', null, false, 10_000]
export const CONFIGURES: Input = ['config', 1, frameOf()]
export const SPEAKS: Input = ['audio', 1, AUDIO]
export const IS_LOST: Input = ['lost', 1, 0]
export const SPEAKING: ReadonlyArray<Input> = [COMES, CONFIGURES, SPEAKS]
export const RECORDED: ReadonlyArray<Input> = [...SPEAKING, ['senderRecorded', 1, 7]]

export const NO_RECORD: Effect = ['cancelTimer', 'record']
export const toEnd = (limitMs: number, end: End): ReadonlyArray<Effect> => [['stopSource'], ['finish', limitMs, end]]
export const WAIT: Effect = ['startTimer', 'wait', 5000]

/** One row of a table of steps. */
export interface SessionStep {
  readonly title: string
  readonly session?: Partial<SessionState['facts']>
  readonly given: ReadonlyArray<Input>
  readonly when: Input
  readonly effects: ReadonlyArray<Effect>
  /** Default: ok. */
  readonly answer?: Answer
  /** The members of the next state that the row is about. */
  readonly state?: object
}

/** Declares a test for each row. */
export const testSteps = (rows: ReadonlyArray<SessionStep>): void => {
  for (const { title, session, given, when, effects, answer = 'ok', state } of rows)
    test(title, (t) => {
      const outcome = specifySession(t, newSession(session)).given(...given).when(when)
      outcome.thenEffects(...effects)
      outcome.thenAnswer(answer)
      if (state !== undefined) outcome.thenState(state)
    })
}
