import type { ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { fold } from '../../../domain/shared/decider.ts'
import type { Decider } from '../../../domain/shared/decider.ts'

/** Given these events, when this command is decided, then these events follow, or nothing, or a refusal. */
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
