import { FIRST_TERM } from '../../domain/live/events.ts'
import { segmentsStream, termOf } from '../../domain/transcript/events.ts'
import type { SegmentFinalised, TranscriptEvent } from '../../domain/transcript/events.ts'

/** What is known of a stream of segments. */
interface HeardSegments {
  /** None of a smaller or the same number may come. */
  readonly last: number
  /** Of the last fence: one worker writes behind it. */
  readonly term: number
  /** Later ones may have stood here and are gone. */
  readonly isGap: boolean
}

const NONE: HeardSegments = { last: 0, term: FIRST_TERM, isGap: false }

const brokenByTerm = ({ term, isGap }: HeardSegments, event: TranscriptEvent): string | null => {
  const own = termOf(event)
  if (event.type === 'SegmentsFenced') return own > term ? null : `a fence of term ${own} behind that of term ${term}`
  if (own < term) return `a segment of term ${own} behind the fence of term ${term}`
  return own === term || isGap ? null : `a segment of term ${own} without its fence`
}

const brokenByNumber = ({ last, isGap }: HeardSegments, { segment, kind }: SegmentFinalised['data']): string | null => {
  const isTold = isGap || segment <= last
  if (kind === 'translation') return isTold ? null : `a translation of segment ${segment} before that segment`
  return segment > last ? null : `segment ${segment} after segment ${last}`
}

const after = ({ last, term, isGap }: HeardSegments, event: TranscriptEvent): HeardSegments => {
  const next = Math.max(term, termOf(event))
  if (event.type === 'SegmentsFenced') return { last, term: next, isGap }
  const { segment, kind } = event.data
  if (kind === 'transcription') return { last: segment, term: next, isGap: false }
  // A translation stands behind its segment, be it gone.
  return { last: isGap ? Math.max(last, segment) : last, term: next, isGap }
}

/** Judges the segments of all lives, each stream in its order: which rule an event breaks, null for none. */
export const createSegmentRules = () => {
  const heard = new Map<string, HeardSegments>()
  return (stream: string, isGap: boolean, event: TranscriptEvent): string | null => {
    if (stream !== segmentsStream(event.data.liveId)) return `a segment of live ${event.data.liveId} in another stream`
    const known = heard.get(stream) ?? NONE
    const before = { ...known, isGap: isGap || known.isGap }
    heard.set(stream, after(before, event))
    const misnumbered = event.type === 'SegmentFinalised' ? brokenByNumber(before, event.data) : null
    return brokenByTerm(before, event) ?? misnumbered
  }
}
