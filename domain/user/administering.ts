import type { StoredUserEvent, UserEvent } from './events.ts'

/** Of a user what says whether they administer: nothing of it is personal, so it is known without any key. */
export interface Administering {
  readonly isActive: boolean
  readonly isAdmin: boolean
  /** Revision of the event by which they came to administer; null while they do not. */
  readonly since: number | null
}

/** Before the registration, and after the deletion. */
export const NOBODY: Administering = { isActive: false, isAdmin: false, since: null }

const changed = (before: Administering, event: UserEvent | StoredUserEvent): Omit<Administering, 'since'> => {
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
      return NOBODY
    case 'PasswordChanged':
    case 'PasswordRehashed':
    case 'LoginsEnded':
    case 'UserLimitsChanged':
      return before
    default:
      return event satisfies never
  }
}

/** After the event at `revision` of the user's stream. */
export const administeringAfter = (
  before: Administering,
  event: UserEvent | StoredUserEvent,
  revision: number,
): Administering => {
  const { isActive, isAdmin } = changed(before, event)
  return { isActive, isAdmin, since: isActive && isAdmin ? (before.since ?? revision) : null }
}
