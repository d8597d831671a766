import { FIRST_TERM } from '../../domain/live/events.ts'
import { type SegmentFinalised, segmentsStream, termOf, type TranscriptEvent } from '../../domain/transcript/events.ts'

interface SegmentsState {
  /** Number of the last segment. Later segments must have higher numbers. */
  readonly last: number
  /**
   * Term of the last fence. A term is the time in which one worker runs the session. A fence is the event that begins a
   * term: afterwards only the worker of this term may write.
   */
  readonly term: number
  /** True when events may be missing before the present place in the stream. */
  readonly isGap: boolean
}

const INITIAL: SegmentsState = { last: 0, term: FIRST_TERM, isGap: false }

const termProblem = ({ term, isGap }: SegmentsState, event: TranscriptEvent): string | null => {
  const eventTerm = termOf(event)
  if (event.type === 'SegmentsFenced')
    return eventTerm > term ? null : `a fence of term ${eventTerm} after the fence of term ${term}`
  if (eventTerm < term) return `a segment of term ${eventTerm} after the fence of term ${term}`
  return eventTerm === term || isGap ? null : `a segment of term ${eventTerm} without its fence`
}

const numberProblem = ({ last, isGap }: SegmentsState, { segment, kind }: SegmentFinalised['data']): string | null => {
  const isKnown = isGap || segment <= last
  if (kind === 'translation') return isKnown ? null : `a translation of segment ${segment} before that segment`
  return segment > last ? null : `segment ${segment} after segment ${last}`
}

const stateAfter = ({ last, term, isGap }: SegmentsState, event: TranscriptEvent): SegmentsState => {
  const next = Math.max(term, termOf(event))
  if (event.type === 'SegmentsFenced') return { last, term: next, isGap }
  const { segment, kind } = event.data
  if (kind === 'transcription') return { last: segment, term: next, isGap: false }
  // A translation proves that its segment existed, even if the segment is missing.
  return { last: isGap ? Math.max(last, segment) : last, term: next, isGap }
}

/** Returns a function that checks each event of all segment streams in order. It returns the broken rule, or null. */
export const createSegmentRules = () => {
  const states = new Map<string, SegmentsState>()
  return (stream: string, isGap: boolean, event: TranscriptEvent): string | null => {
    const { liveId } = event.data
    if (stream !== segmentsStream(liveId)) return `a segment of session ${liveId} in another stream`
    const known = states.get(stream) ?? INITIAL
    const before = { ...known, isGap: isGap || known.isGap }
    states.set(stream, stateAfter(before, event))
    const problem = event.type === 'SegmentFinalised' ? numberProblem(before, event.data) : null
    return termProblem(before, event) ?? problem
  }
}
