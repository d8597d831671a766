import { lastRestore } from '../../../../application/log/last-restore.ts'
import { lostDeletions } from '../../../../application/restore/lost-changes.ts'
import { eventsUntilNow, readHistory } from '../../../../application/restore/read-history.ts'
import { ID_KINDS, highestNamed } from '../../../../application/restore/record-restore.ts'
import { orThrow } from '../../../../domain/shared/or-throw.ts'
import type { Settings } from '../../../../infrastructure/settings/settings.ts'
import { withData } from '../tool-data.ts'
import type { StatusLine } from '../../status-line.ts'
import { keysOf, pendingDeletions } from '../../../compose/restoring/deletions.ts'
import { presentNames } from '../../../compose/restoring/replaced-data.ts'

interface Checked {
  readonly lines: ReadonlyArray<string>
  readonly problems: ReadonlyArray<string>
}

/**
 * Compares the log with the keys, and changes nothing: an id that a key is named after must not be given out again, and
 * nothing whose key was erased may be present.
 */
export const checkRestored = (settings: Settings, status: StatusLine): Promise<Checked> =>
  withData(settings, async ({ store }) => {
    const { keyNames, erasedKeys } = await presentNames(settings)
    const onEvents = (count: number): void => status.show('reading the log', `${count} rows`)
    const { history, problems: unreadable } = await readHistory(eventsUntilNow(store), onEvents)
    const last = orThrow(await lastRestore({ store }))
    const used = ID_KINDS.filter((kind) => highestNamed(kind, keyNames) > history.lastId(kind)).map((kind) =>
      `The keys name the ${kind} ${highestNamed(kind, keyNames)}, but the next id in the log is `
      + `${history.lastId(kind) + 1}: the log is older than the keys, and its restore was not recorded.`)
    const pending = await pendingDeletions(settings.dataDir)
    const back = lostDeletions(history, null, erasedKeys).filter((name) => !pending.includes(name))
    const isKept = new Set(keyNames)
    for (const name of erasedKeys) isKept.delete(name)
    const left = [...history.deleted].flatMap(keysOf).filter((name) => isKept.has(name))
    return {
      lines: [
        last === null ? 'The log was never restored.' : `The log was restored at ${last.at}. Earlier logins ended.`,
        `The next ids are: ${ID_KINDS.map((kind) => `${kind} ${history.lastId(kind) + 1}`).join(', ')}.`,
        ...(pending.length === 0 ? [] : [`The next start deletes again: ${pending.join(', ')}.`]),
      ],
      problems: [
        ...[...unreadable].map((problem) => `The log cannot be read completely: ${problem}.`),
        ...used,
        ...back.map((name) => `${name} was erased, but the log still contains it.`),
        ...left.map((name) => `The key ${name} of something deleted exists: the keys are older than the log.`),
      ],
    }
  })
