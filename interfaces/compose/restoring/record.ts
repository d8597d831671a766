import { lostDeletions } from '../../../application/restore/lost-changes.ts'
import { eventsUntilNow, type ReadHistory, readHistory } from '../../../application/restore/read-history.ts'
import { type Recorded, recordRestore } from '../../../application/restore/record-restore.ts'
import type { EventStore } from '../../../application/ports/event-store.ts'
import { createEnvironment } from '../../../infrastructure/process/clock-and-ids.ts'
import { CommandError } from '../../command-error.ts'
import { keysOf } from './deletions.ts'
import type { Progress, ReplacedData } from './replaced-data.ts'

/** What the user of a restore decides. */
export interface RestoreOptions {
  /** Ids of each kind that are skipped if the log of the time after the copy is gone or unreadable. */
  readonly lostIds: number
  /** Whether to go on although some of the replaced data cannot be read. */
  readonly skipUnreadable: boolean
}

/** What a restore did, for the user. */
export interface RestoreReport extends Recorded {
  /** Ids of each kind that were skipped because nobody knows what was lost. */
  readonly unknownIds: number
  /** Users and sessions that the next start deletes again. */
  readonly toDelete: ReadonlyArray<string>
  /** All administrators of the backup were disabled or deleted after it. Logs of version 0.1.0 do not list them. */
  readonly leavesNoAdministrator: boolean
  /** Names of all keys that must not exist: they were erased, or belong to something that was deleted. */
  readonly erasedKeys: ReadonlyArray<string>
}

/** Number of problems that an error names. */
const MAX_SHOWN = 10

/** Throws a CommandError when data of the lost time cannot be read, unless the user accepts that. */
const requireReadable = (problems: ReadonlyArray<string>, { skipUnreadable }: RestoreOptions): void => {
  if (problems.length === 0 || skipUnreadable) return
  const shown = problems.slice(0, MAX_SHOWN).join('; ')
  const more = problems.length > MAX_SHOWN ? `; and ${problems.length - MAX_SHOWN} more` : ''
  throw new CommandError(
    `What happened after the backup cannot be read completely: ${shown}${more}.`,
    {
      hint: 'Nothing was changed. If you accept that users, sessions and texts that were deleted after the backup may '
        + 'come back, and disabled users may log in again, add --skip-unreadable.',
    },
  )
}

interface RecordTask {
  readonly store: Pick<EventStore, 'append' | 'subscribe'>
  readonly replaced: ReplacedData
  /** Keys that an earlier restore of the backed-up service still had to erase. */
  readonly pending: ReadonlyArray<string>
  readonly backupAt: string | null
  readonly options: RestoreOptions
  readonly status: Progress
}

/** Reads a restored log, and records the restore in it. Throws when data of the lost time cannot be read. */
export const recordIn = async (task: RecordTask): Promise<RestoreReport> => {
  const { store, replaced, pending, backupAt, options, status } = task
  const onEvents = (count: number): void => status.show('reading the restored log', `${count} rows`)
  const { history: restored, problems }: ReadHistory = await readHistory(eventsUntilNow(store), onEvents)
  // What neither log can tell happened before the backup.
  const news = [...replaced.problems].filter((problem) => !problems.has(problem))
  const unread = [...news, ...[...problems].filter((problem) => !replaced.problems.has(problem))]
  requireReadable(unread, options)
  const isKnown = replaced.log !== null && unread.length === 0
  const unknownIds = isKnown ? 0 : options.lostIds
  status.show('recording the restore')
  const lost = { replaced: replaced.log, keyNames: replaced.keyNames, unknownIds, backupAt }
  const recorded = await recordRestore({ store, environment: createEnvironment() }, restored, lost)
  const deleted = [...restored.deleted, ...(replaced.log?.deleted ?? [])]
  const toDelete = lostDeletions(restored, replaced.log, [...replaced.erasedKeys, ...pending])
  return {
    ...recorded,
    unknownIds,
    toDelete,
    leavesNoAdministrator:
      restored.administrators.size > 0 && recorded.administrators.every((name) => toDelete.includes(name)),
    erasedKeys: [...new Set([...replaced.erasedKeys, ...[...deleted, ...toDelete].flatMap(keysOf)])],
  }
}

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

const CHANGES: Readonly<Record<string, string>> = {
  UserDisabled: 'disabled user',
  PasswordChanged: 'changed password',
  ApiTokenDeactivated: 'switched-off API token',
  ApiTokenRevoked: 'revoked API token',
  ListenerTokenClaimed: 'claimed listener token',
  LiveFinished: 'ended session',
  LiveFailed: 'failed session',
  ModelListed: 'id of a model',
  TranslationPairListed: 'id of a translation pair',
}

const appliedText = ({ appliedAgain }: Recorded): string =>
  Object.entries(CHANGES).flatMap(([type, noun]) => {
    const count = appliedAgain.filter((applied) => applied === type).length
    return count === 0 ? [] : [plural(count, noun)]
  }).join(', ')

/** Describes what a restore did, one sentence each. */
export const linesOf = (report: RestoreReport): ReadonlyArray<string> => {
  const { nextIds, unknownIds, tokensSwitchedOff, stillOpen, toDelete, leavesNoAdministrator } = report
  const applied = appliedText(report)
  return [
    'All logins have ended: everybody must log in again.',
    `The next ids are: session ${nextIds.live}, user ${nextIds.user}, profile ${nextIds.profile}, `
      + `API token ${nextIds['api-token']}, job ${nextIds.job}.`,
    ...(applied === '' ? [] : [`Applied again from the time after the backup: ${applied}.`]),
    ...(toDelete.length === 0 ? [] : [`The next start deletes again: ${toDelete.join(', ')}.`]),
    ...(leavesNoAdministrator
      ? ['No administrator is left. Make one after the start: stenolog users create NAME --permission admin']
      : []),
    ...(unknownIds === 0 ? [] : [
      `The log of the time after the backup is gone or not readable, so ${unknownIds} ids of each kind were skipped, `
      + `and ${plural(tokensSwitchedOff, 'API token')} switched off. Their owners can switch them on again.`,
      ...(stillOpen.length === 0 ? [] : [
        `${plural(stillOpen.length, 'session')} may have ended after the backup, and will run again: `
        + `${stillOpen.join(', ')}. End them after the start with: stenolog lives finish ID`,
      ]),
      'Users that were disabled, and passwords that were changed after the backup, are as in the backup.',
    ]),
  ]
}
