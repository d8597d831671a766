import type { StoredUserEvent, UserEvent } from './events.ts'

/** Shows whether a user is an administrator. It contains no personal data, so it can be read without any key. */
export interface AdminStatus {
  readonly isActive: boolean
  readonly isAdmin: boolean
  /**
   * Revision, in the user's stream, of the event that made the user an active administrator. Null while the user is not
   * an active administrator.
   */
  readonly since: number | null
}

/** The status before the registration and after the deletion. */
export const NOT_REGISTERED: AdminStatus = { isActive: false, isAdmin: false, since: null }

const changed = (before: AdminStatus, event: UserEvent | StoredUserEvent): Omit<AdminStatus, 'since'> => {
  switch (event.type) {
    case 'UserRegistered':
      return { isActive: true, isAdmin: event.data.permissions.includes('admin') }
    case 'UserPermissionsChanged':
      return { ...before, isAdmin: event.data.permissions.includes('admin') }
    case 'UserEnabled':
      return { ...before, isActive: true }
    case 'UserDisabled':
      return { ...before, isActive: false }
    case 'UserDeleted':
      return NOT_REGISTERED
    case 'PasswordChanged':
    case 'PasswordRehashed':
    case 'LoginsEnded':
    case 'UserLimitsChanged':
      return before
    default:
      return event satisfies never
  }
}

/** Returns the status after an event. `revision`: the revision of the event in the user's stream. */
export const adminStatusAfter = (
  before: AdminStatus,
  event: UserEvent | StoredUserEvent,
  revision: number,
): AdminStatus => {
  const { isActive, isAdmin } = changed(before, event)
  return { isActive, isAdmin, since: isActive && isAdmin ? (before.since ?? revision) : null }
}
