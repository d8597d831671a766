import type { SocketRole } from '../../application/ports/read-models.ts'
import { typedDocuments } from '../typed-documents.ts'

export const LIVE_TOKENS = 'live-tokens'

/**
 * One of a live's two tokens; id `<liveId>-<role>`. A custom listener token's hash may belong to several lives of one
 * user.
 */
export interface LiveTokenDocument {
  readonly liveId: number
  readonly userId: number
  readonly role: SocketRole
  readonly hash: string
}

export const liveTokensIn = typedDocuments<LiveTokenDocument>(LIVE_TOKENS)
