import * as t from 'io-ts'
import type { LiveIntegrity } from '../../../application/lives/queries/get-integrity.ts'
import type { HistoryEntry } from '../../../application/lives/queries/history-entries.ts'
import { boundedInteger, instant } from '../../../domain/shared/codecs.ts'
import { count, nullable } from './presenters.ts'

export const entryView = t.strict(
  {
    /** Position in the history of the session, from 1. */
    id: boundedInteger(1, Number.MAX_SAFE_INTEGER),
    type: t.string,
    at: instant,
    /** The cause of the event: `user:7`, `service`, or the `instance:…` that ran the session. */
    actor: t.string,
    correlation_id: t.string,
    causation_id: t.string,
    data: t.UnknownRecord,
  },
  'HistoryEntry',
)

const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** Converts member names to snake case, as in the rest of the interface. */
const presentValue = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(presentValue)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [snakeCase(name), presentValue(member)]))
}

export const presentEntry = ({ id, type, at, actor, ...entry }: HistoryEntry): t.TypeOf<typeof entryView> => ({
  id,
  type,
  at,
  actor,
  correlation_id: entry.correlationId,
  causation_id: entry.causationId,
  data: presentValue(entry.data) as Readonly<Record<string, unknown>>,
})

/** Returns the codec of one entry and the session after that entry. */
export const pastView = <State extends t.Mixed>(state: State) =>
  t.strict({ entry: entryView, state }, `Past${state.name}`)

export const integrityView = t.strict(
  {
    status: t.keyof({ intact: null, damaged: null, unavailable: null }),
    entries: count,
    /** Positions in the whole event log. */
    first_position: nullable(count),
    last_position: nullable(count),
    /** SHA-256 of the last entry, chained over all earlier entries, in hexadecimal. */
    head_hash: nullable(t.string),
    /** `id` is the position of the damaged entry. 0 means the whole history, or the text of the session. */
    damaged: t.readonlyArray(t.strict({ id: count, reason: t.string }, 'DamagedEntry')),
    checked_at: instant,
  },
  'LiveIntegrity',
)

export const presentIntegrity = (integrity: LiveIntegrity): t.TypeOf<typeof integrityView> => ({
  status: integrity.status,
  entries: integrity.rows,
  first_position: integrity.first,
  last_position: integrity.last,
  head_hash: integrity.headHash,
  damaged: integrity.damaged,
  checked_at: integrity.checkedAt,
})
