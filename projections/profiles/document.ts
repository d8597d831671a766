import type { ProfileFacts } from '../../application/ports/read-models.ts'
import type { Envelope } from '../../domain/shared/event.ts'
import { typedDocuments } from '../typed-documents.ts'

export const PROFILES = 'profiles'

/**
 * All profiles of one user, by ascending id. The id of the document is the user's id as text. One document for all
 * profiles makes counting them cheap, and a user has few profiles.
 */
export interface ProfilesDocument {
  readonly userId: number
  readonly profiles: ReadonlyArray<ProfileFacts & { readonly name: Envelope; readonly vocabulary?: Envelope }>
}

export const profilesIn = typedDocuments<ProfilesDocument>(PROFILES)
