import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { boundedInteger, id } from '../shared/codecs.ts'
import { decideBy, type DeciderByCommand, type Decisions } from '../shared/decider.ts'
import type { AdministratorsEvent } from './events.ts'

interface ListedUser {
  /** True while the list contains the user as an administrator. */
  readonly administers: boolean
  /** Revision of the user's own stream that this entry is based on. */
  readonly revision: number
}

/**
 * All users who were ever administrators, by user id. An entry is added after the event in the user's own stream, and
 * removed before it. So the list never contains a user who is not an administrator.
 */
export type Administrators = ReadonlyMap<number, ListedUser>

export type AdministratorsCommand =
  /**
   * Reports the state of the user's own stream. `revision`: the event that made the user an administrator, or the last
   * event that was read if the user is not an administrator.
   */
  | {
      readonly type: 'Report'
      readonly userId: number
      readonly administers: boolean
      readonly revision: number
    }
  /**
   * Removes a user from the list. Sent before the event in the user's own stream. `remaining`: id of another user, who
   * must still be an administrator.
   */
  | { readonly type: 'Leave'; readonly userId: number; readonly revision: number; readonly remaining: number }

export interface AdministratorsRefusals {
  readonly Report: never
  /** The user `remaining` has stopped being an administrator in the meantime. */
  readonly Leave: { readonly _tag: 'NoAdministratorRemains' }
}

type Rules = Decisions<Administrators, AdministratorsCommand, AdministratorsEvent, AdministratorsRefusals>

const listed = (state: Administrators, userId: number): ListedUser =>
  state.get(userId) ?? { administers: false, revision: -1 }

const report: Rules['Report'] = ({ userId, administers, revision, at }, state) => {
  const known = listed(state, userId)
  if (administers === known.administers) return E.right([])
  const isNew = administers ? revision > known.revision : revision >= known.revision
  const type = administers ? 'AdministratorAdded' : 'AdministratorRemoved'
  return E.right(isNew ? [{ type, data: { userId, revision, at } }] : [])
}

const leave: Rules['Leave'] = ({ userId, revision, remaining, at }, state) => {
  if (!listed(state, remaining).administers) return E.left({ _tag: 'NoAdministratorRemains' })
  const known = listed(state, userId)
  if (!known.administers && revision <= known.revision) return E.right([])
  const data = { userId, revision: Math.max(revision, known.revision), at }
  return E.right([{ type: 'AdministratorRemoved', data }])
}

const entries = t.array(t.tuple([
  id, t.strict({ administers: t.boolean, revision: boundedInteger(0, Number.MAX_SAFE_INTEGER) }),
]))

const administrators = new t.Type<Administrators, unknown>(
  'Administrators',
  (value): value is Administrators => value instanceof Map,
  (value, context) => E.map((decoded: t.TypeOf<typeof entries>) => new Map(decoded))(entries.validate(value, context)),
  (state) => [...state],
)

/** Keeps the list of administrators. A report of an older revision than the known one changes nothing. */
export const administratorsDecider: DeciderByCommand<
  Administrators, AdministratorsCommand, AdministratorsEvent, AdministratorsRefusals
> = {
  initialState: new Map(),
  evolve: (state, { type, data: { userId, revision } }) =>
    new Map(state).set(userId, { administers: type === 'AdministratorAdded', revision }),
  decide: decideBy({ Report: report, Leave: leave }),
  snapshots: { version: 1, codec: administrators, keyOf: () => null, isKept: false },
}
