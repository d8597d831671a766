import type { UserFacts } from '../../application/ports/read-models.ts'
import type { Envelope } from '../../domain/shared/event.ts'
import { typedDocuments } from '../typed-documents.ts'

export const USERS = 'users'
export const USER_TOTALS = 'user-totals-2'

export interface UserDocument extends UserFacts {
  readonly username: Envelope
}

export const usersIn = typedDocuments<UserDocument>(USERS)
