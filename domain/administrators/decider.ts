import * as E from 'fp-ts/lib/Either.js'
import type { Decider } from '../shared/decider.ts'
import type { AdministratorsEvent } from './events.ts'

/** What is counted of a user up to a revision of the user's own stream. */
interface Counted {
  readonly administers: boolean
  readonly revision: number
}

/** Everybody who ever administered, by user id. Never more than do: who leaves is taken off first, who comes added last. */
export type Administrators = ReadonlyMap<number, Counted>

export type AdministratorsCommand =
  /** What the user's own stream says. `revision`: since when they administer, or how far it was read where they do not. */
  | {
      readonly type: 'Count'
      readonly userId: number
      readonly administers: boolean
      readonly revision: number
      readonly at: string
    }
  /** Before the user's own event that ends it, because `stays` administers and goes on doing so. */
  | {
      readonly type: 'Leave'
      readonly userId: number
      readonly revision: number
      readonly stays: number
      readonly at: string
    }

/** Who was to stay has left meanwhile. */
export interface NobodyStays {
  readonly _tag: 'NobodyStays'
}

const isCounted = (state: Administrators, userId: number): boolean => state.get(userId)?.administers === true

/** Who leaves, and whoever is counted, by the newest revision that anybody looked at: a late look changes nothing. */
export const administratorsDecider: Decider<
  Administrators, AdministratorsCommand, AdministratorsEvent, NobodyStays
> = {
  initialState: new Map(),
  evolve: (state, { type, data: { userId, revision } }) =>
    new Map(state).set(userId, { administers: type === 'AdministratorAdded', revision }),
  decide: (command, state) => {
    const { userId, revision, at } = command
    const known = state.get(userId) ?? { administers: false, revision: -1 }
    const removed = (upTo: number): AdministratorsEvent =>
      ({ type: 'AdministratorRemoved', data: { userId, revision: upTo, at } })
    if (command.type === 'Leave') {
      if (!isCounted(state, command.stays)) return E.left({ _tag: 'NobodyStays' })
      if (!known.administers && revision <= known.revision) return E.right([])
      return E.right([removed(Math.max(revision, known.revision))])
    }
    if (command.administers) {
      if (known.administers || revision <= known.revision) return E.right([])
      return E.right([{ type: 'AdministratorAdded', data: { userId, revision, at } }])
    }
    return E.right(known.administers && revision >= known.revision ? [removed(revision)] : [])
  },
}
