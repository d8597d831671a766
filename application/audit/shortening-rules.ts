import { textKey } from '../../domain/live/events.ts'
import type { ShortenedStream } from '../ports/integrity.ts'

/** Streams of which the service keeps only the newest events. */
const LIMITED = /^(seq-|idem-|login-failures-|login-token-|token-use-|snapshot-|(jobs|admission-snapshot)$)/
/** Streams that the service removes. */
const REMOVED = /^segments-(\d+)$/

/** Whether the service never hides an event of this stream, so that its revisions have no gaps. */
export const isNeverShortened = (stream: string): boolean => !LIMITED.test(stream) && !REMOVED.test(stream)

/**
 * Returns the rule that a shortened stream breaks, or null. The service removes the text of a session only after it has
 * erased its key. `hasErasedText`: whether this key was erased, by session.
 */
export const shorteningProblem = (
  { name, hasLimit }: ShortenedStream, hasErasedText: (liveId: number) => boolean,
): string | null => {
  if (LIMITED.test(name)) return null
  const [, id] = REMOVED.exec(name) ?? []
  if (id === undefined || hasLimit) return 'hides events, which the service never does in this stream'
  return hasErasedText(Number(id)) ? null : `was removed although the key ${textKey(Number(id))} was not erased`
}
