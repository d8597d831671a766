import { type StoredUserEvent, UserDeleted, userEvents, UserRegistered } from '../../domain/user/events.ts'
import { defineProjection } from '../projection.ts'
import { defineTotals } from '../totals.ts'
import { USER_TOTALS, type UserDocument, USERS } from './document.ts'

const project = (user: UserDocument | null, event: StoredUserEvent): UserDocument | null => {
  switch (event.type) {
    case 'UserRegistered':
      return {
        id: event.data.userId,
        username: event.data.username,
        permissions: event.data.permissions,
        maxSessions: event.data.maxSessions,
        maxTranslations: event.data.maxTranslations,
        isActive: true,
        createdAt: event.data.at,
        updatedAt: null,
      }
    case 'PasswordChanged':
      return user && { ...user, updatedAt: event.data.at }
    case 'PasswordRehashed':
    case 'LoginsEnded':
      return user
    case 'UserLimitsChanged': {
      const { maxSessions, maxTranslations, at } = event.data
      return user && { ...user, maxSessions, maxTranslations, updatedAt: at }
    }
    case 'UserPermissionsChanged':
      return user && { ...user, permissions: event.data.permissions, updatedAt: event.data.at }
    case 'UserDisabled':
      return user && { ...user, isActive: false, updatedAt: event.data.at }
    case 'UserEnabled':
      return user && { ...user, isActive: true, updatedAt: event.data.at }
    case 'UserDeleted':
      return null
    default:
      return event satisfies never
  }
}

/** The administrators' list of users. */
export const users = defineProjection({
  name: 'users',
  collection: { name: USERS, indexes: [['id']] },
  prefixes: ['user-'],
  events: userEvents,
  touches: (event) => [String(event.data.userId)],
  project,
})

/** The number of users. */
export const userTotals = defineTotals({
  name: USER_TOTALS, prefixes: ['user-'], created: UserRegistered, deleted: UserDeleted,
  idOf: (event) => event.data.userId,
})
