import type { WatchedLog } from '../../log/watched-log.ts'
import type { UserDirectory } from '../policies/user-directory.ts'

export type HasUsers = () => boolean

export interface HasUsersDeps {
  readonly directory: Pick<UserDirectory, 'count'>
  readonly log: Pick<WatchedLog, 'isHurt'>
}

/** Who cannot be read is one all the same: a service with users must not ask for its first. */
export const hasUsers =
  (deps: HasUsersDeps): HasUsers =>
  () =>
    deps.directory.count() > 0 || deps.log.isHurt('user')
