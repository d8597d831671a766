import * as E from 'fp-ts/lib/Either.js'
import { ADMISSION_STREAM, LiveIdsSkipped } from '../../domain/admission/events.ts'
import { ApiTokenDeactivated } from '../../domain/api-token/events.ts'
import { subjectOf } from '../../domain/key-subject.ts'
import { LogRestored, RESTORES_STREAM } from '../../domain/restores/events.ts'
import { orThrow } from '../../domain/shared/or-throw.ts'
import { UserDisabled } from '../../domain/user/events.ts'
import type { Environment } from '../ports/environment.ts'
import type { EventStore, NewEvent } from '../ports/event-store.ts'
import type { History, IdKind } from './history.ts'
import { lostChanges } from './lost-changes.ts'

const SEQUENCES = ['user', 'profile', 'api-token', 'job'] as const
export const ID_KINDS: ReadonlyArray<IdKind> = ['live', ...SEQUENCES]

/** The actor of all events that a restore writes. */
export const RESTORE_ACTOR = 'restore'

/** What is known about the time between the copy and the restore. */
export interface Lost {
  /** The log that was replaced. Null: it is gone. */
  readonly replaced: History | null
  /** Names of keys that exist or existed, such as `user-3` or `text-7`. */
  readonly keyNames: ReadonlyArray<string>
  /** Ids of each kind that are skipped, because the replaced log is gone or unreadable. 0: nothing was lost. */
  readonly unknownIds: number
  /** When the copy was made; null: unknown. */
  readonly backupAt: string | null
}

/** What a restore wrote into the log. */
export interface Recorded {
  /** The first id of each kind that will be given out. */
  readonly nextIds: Readonly<Record<IdKind, number>>
  /** Types of the events that were applied again. */
  readonly appliedAgain: ReadonlyArray<string>
  /** API tokens that were switched off because nobody knows whether they were revoked. */
  readonly tokensSwitchedOff: number
  /** Sessions that the restored log contains as pending or active: they continue. */
  readonly stillOpen: ReadonlyArray<string>
  /** Administrators of the restored log who were not disabled again. */
  readonly administrators: ReadonlyArray<string>
}

export const highestNamed = (kind: IdKind, names: ReadonlyArray<string>): number => {
  const wanted = kind === 'live' ? 'session' : kind
  return names.reduce((highest, name) => {
    const subject = subjectOf(name)
    return subject?.kind === wanted ? Math.max(highest, subject.id) : highest
  }, 0)
}

/** Returns the last id of each kind that may have been given out before the restore. */
const lastIdsOf = (restored: History, { replaced, keyNames, unknownIds }: Lost): ReadonlyMap<IdKind, number> =>
  new Map(ID_KINDS.map((kind) => {
    const known = Math.max(restored.lastId(kind), replaced?.lastId(kind) ?? 0, highestNamed(kind, keyNames))
    return [kind, known + unknownIds]
  }))

/**
 * Writes into a restored log what must hold from now on: no id of the lost time is given out again, all logins end, and
 * what was taken away after the copy is taken away again. May be repeated. Rejects when the log cannot be written.
 */
export const recordRestore = async (
  { store, environment }: { readonly store: Pick<EventStore, 'append'>; readonly environment: Environment },
  restored: History,
  lost: Lost,
): Promise<Recorded> => {
  const epoch = environment.newId()
  const at = environment.now()
  const metadata = { correlationId: epoch, causationId: epoch, actor: RESTORE_ACTOR, recordedAt: at }
  const append = async (stream: string, type: string, data: NewEvent['data']): Promise<void> => {
    const appended = await store.append(stream, 'any', [{ id: environment.newId(), type, data, metadata }])
    if (E.isLeft(appended)) orThrow(appended, `${type} could not be written to ${stream}`)
  }
  const lastIds = lastIdsOf(restored, lost)
  const lastId = (kind: IdKind): number => lastIds.get(kind) ?? 0
  const offsets = SEQUENCES.map((kind) => [kind, lastId(kind) - restored.taken(kind)] as const)
  await append(RESTORES_STREAM, LogRestored.type, {
    epoch, idOffsets: Object.fromEntries(offsets), lost: lost.unknownIds > 0 ? 'unknown' : 'known',
    backupAt: lost.backupAt, at,
  })
  if (lastId('live') > restored.lastId('live'))
    await append(ADMISSION_STREAM, LiveIdsSkipped.type, { through: lastId('live'), at })
  const changes = lost.replaced === null ? [] : lostChanges(restored, lost.replaced)
  for (const { stream, type, data } of changes) await append(stream, type, data as NewEvent['data'])
  const tokens = lost.unknownIds > 0 ? [...restored.activeTokens] : []
  const disabled = new Set(changes.flatMap(({ stream, type }) => (type === UserDisabled.type ? [stream] : [])))
  const again = new Set(changes.map(({ stream }) => stream))
  const undecided = tokens.filter(([stream]) => !again.has(stream))
  for (const [stream, token] of undecided) await append(stream, ApiTokenDeactivated.type, { ...token, at })
  return {
    nextIds: Object.fromEntries(ID_KINDS.map((kind) => [kind, lastId(kind) + 1])) as Record<IdKind, number>,
    appliedAgain: changes.map(({ type }) => type),
    tokensSwitchedOff: undecided.length,
    administrators: [...restored.administrators].filter((name) => !disabled.has(name)),
    stillOpen: [...restored.open].filter((stream) => !again.has(stream)),
  }
}
