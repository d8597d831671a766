import type { SocketRole } from '../../application/ports/read-models.ts'
import { typedDocuments } from '../typed-documents.ts'

export const LIVE_TOKENS = 'live-tokens'

/**
 * One of the two tokens of a session. The id of the document is `<liveId>-<role>`. Several sessions of one user may
 * share a custom listener token, so they have equal hashes.
 */
export interface LiveTokenDocument {
  readonly liveId: number
  readonly userId: number
  readonly role: SocketRole
  readonly hash: string
}

export const liveTokensIn = typedDocuments<LiveTokenDocument>(LIVE_TOKENS)
