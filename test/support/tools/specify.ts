import type { ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { fold, type Decider } from '../../../domain/shared/decider.ts'

/**
 * Tests a decider in three steps. Given the events of the past, when a command is decided, then the decision is new
 * events, nothing, or a refusal.
 */
export const specify = <State, Command, Event, Refusal>(
  t: ExecutionContext,
  decider: Decider<State, Command, Event, Refusal>,
) => ({
  given: (...history: ReadonlyArray<Event>) => ({
    when: (command: Command) => {
      const decision = decider.decide(command, fold(decider, history))
      return {
        thenEvents: (...events: ReadonlyArray<Event>): void => { t.deepEqual(decision, E.right(events)) },
        thenNothing: (): void => { t.deepEqual(decision, E.right([])) },
        thenRefused: (refusal: Refusal): void => { t.deepEqual(decision, E.left(refusal)) },
      }
    },
  }),
})
