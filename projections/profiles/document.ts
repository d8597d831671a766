import type { ProfileFacts } from '../../application/ports/read-models.ts'
import type { Envelope } from '../../domain/shared/event.ts'
import { typedDocuments } from '../typed-documents.ts'

export const PROFILES = 'profiles'

/**
 * All profiles of one user, ascending by id (`_id` is the user's id as text): a set is never large, and always needed
 * whole to be counted.
 */
export interface ProfilesDocument {
  readonly userId: number
  readonly profiles: ReadonlyArray<ProfileFacts & { readonly name: Envelope; readonly vocabulary?: Envelope }>
}

export const profilesIn = typedDocuments<ProfilesDocument>(PROFILES)
