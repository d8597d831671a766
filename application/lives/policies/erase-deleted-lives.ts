import { LiveDeleted } from '../../../domain/live/events.ts'
import { eventReader } from '../../../domain/read-event.ts'
import { orThrow } from '../../../domain/shared/or-throw.ts'
import { type LogDutyDeps, type RunningDuty, startLogDuty } from '../../log/log-duty.ts'
import { eraseLive, type EraseLiveDeps } from '../ending.ts'

const deletedOf = eventReader([LiveDeleted])

/**
 * Completes deletions that were interrupted because the process ended or a store was unavailable. Runs until stopped.
 */
export const eraseDeletedLives = (deps: LogDutyDeps & EraseLiveDeps): RunningDuty =>
  startLogDuty(deps, {
    name: 'erase-deleted',
    prefixes: ['live-'],
    concerns: (event) => deletedOf(event) !== undefined,
    perform: async (event) => {
      const deleted = deletedOf(event)
      if (deleted !== undefined) orThrow(await eraseLive(deps, deleted.data.liveId))
    },
    failure: 'deleted sessions could not be erased; trying again',
  })
