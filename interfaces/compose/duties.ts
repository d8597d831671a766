import { eraseDeletedLives } from '../../application/lives/policies/erase-deleted-lives.ts'
import { forgetText } from '../../application/lives/policies/forget-text.ts'
import type { ForgetTextDeps } from '../../application/lives/policies/forget-text.ts'
import type { RunningDuty } from '../../application/log/log-duty.ts'
import { startErasingUsers } from '../../application/users/policies/erase-user.ts'
import type { ErasingUsersDeps } from '../../application/users/policies/erase-user.ts'

type DutyDeps = ForgetTextDeps & ErasingUsersDeps

/** Names of the checkpoints of all duties. */
export const DUTIES = ['forget-text', 'retention-max', 'erase-deleted', 'erase-users'] as const

/** What follows the log to make unreadable what is no longer to be read. */
export const startDuties = (deps: DutyDeps): RunningDuty => {
  const duties = [forgetText(deps), eraseDeletedLives(deps), startErasingUsers(deps)]
  return {
    stop: async () => {
      await Promise.all(duties.map(({ stop }) => stop()))
    },
  }
}
