import { eraseDeletedLives } from '../../application/lives/policies/erase-deleted-lives.ts'
import { forgetText } from '../../application/lives/policies/forget-text.ts'
import type { ForgetTextDeps } from '../../application/lives/policies/forget-text.ts'
import type { RunningDuty } from '../../application/log/log-duty.ts'
import { eraseUsers } from '../../application/users/policies/erase-users.ts'
import type { EraseUsersDeps } from '../../application/users/policies/erase-users.ts'

type DutyDeps = ForgetTextDeps & EraseUsersDeps

/** Checkpoint names of all duties. A duty is a background task that follows the event log, such as erasing old text. */
export const DUTIES = ['forget-text', 'retention-max', 'erase-deleted', 'erase-users', 'complete-users'] as const

/** Starts the duties that erase expired text, deleted sessions and deleted users. */
export const startDuties = (deps: DutyDeps): RunningDuty => {
  const duties = [forgetText(deps), eraseDeletedLives(deps), eraseUsers(deps)]
  return {
    stop: async () => {
      await Promise.all(duties.map(({ stop }) => stop()))
    },
  }
}
