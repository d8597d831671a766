import type { StoredEvent } from '../ports/event-store.ts'
import type { History, Repeatable } from './history.ts'

/** Events that take a right away, or give a name to its owner for ever. */
const TAKING: ReadonlySet<string> = new Set([
  'UserDisabled', 'PasswordChanged', 'ApiTokenDeactivated', 'ApiTokenRevoked', 'ListenerTokenClaimed', 'ModelListed',
  'TranslationPairListed',
])

/**
 * True when the replaced log knew better: its event is later than the last event of the copy about the same right. The
 * revision decides if the log went on after the copy, whatever the clock said. The time decides if an earlier restore
 * made the log shorter than the copy.
 */
const isNews = (event: StoredEvent, known: StoredEvent | undefined): boolean => {
  if (known === undefined) return true
  const isFinal = known.type === 'ApiTokenRevoked' || (known.type === event.type && known.type !== 'PasswordChanged')
  return !isFinal && (event.revision > known.revision || event.metadata.recordedAt > known.metadata.recordedAt)
}

/**
 * Returns the events of the replaced log that took something away after the copy was made, in their order: users that
 * were disabled, passwords that were changed, API tokens that were switched off or revoked, listener tokens that got
 * their owner, ids of models, and ends of sessions. Users, tokens and sessions that the copy does not contain need no
 * event.
 */
export const lostChanges = (restored: History, replaced: History): ReadonlyArray<Repeatable> => {
  const isAbout = ({ stream }: StoredEvent): boolean =>
    !/^(user|api-token)-/.test(stream) || restored.present.has(stream)
  const ends = [...replaced.ends.values()].filter(({ stream }) => restored.open.has(stream))
  const taken = [...replaced.rights]
    .filter(([right, event]) => TAKING.has(event.type) && isAbout(event) && isNews(event, restored.rights.get(right)))
    .map(([, event]) => event)
  return [...taken, ...ends].toSorted((a, b) => (a.position < b.position ? -1 : 1))
}

/** Returns the users and sessions of the copy that must be deleted again: after the copy they lost their key. */
export const lostDeletions = (
  restored: History,
  replaced: History | null,
  erased: ReadonlyArray<string>,
): ReadonlyArray<string> =>
  [...new Set([...erased, ...(replaced?.deleted ?? [])])].filter((name) => restored.present.has(name)).toSorted()
