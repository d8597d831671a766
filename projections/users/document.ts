import type { UserFacts } from '../../application/ports/read-models.ts'
import type { Envelope } from '../../domain/shared/event.ts'
import { typedDocuments } from '../typed-documents.ts'

export const USERS = 'users'
export const USER_TOTALS = 'user-totals'
/** Id of the only document of the totals. */
export const ALL_USERS = 'all'

export interface UserDocument extends UserFacts {
  readonly username: Envelope
}

export interface UserTotalsDocument {
  readonly count: number
}

export const userTotalsIn = typedDocuments<UserTotalsDocument>(USER_TOTALS)
export const usersIn = typedDocuments<UserDocument>(USERS)
