import * as t from 'io-ts'
import { boundedInteger, boundedNumber, id, instant, object } from '../shared/codecs.ts'
import { defineEvent, definePersonalEvent, type EventOf, sealedJson } from '../shared/event.ts'
import { term } from '../admission/events.ts'
import { FIRST_TERM, textKey } from '../live/events.ts'

/**
 * Holds the final segments of a session. In each leadership term (the time in which one worker runs the session) only
 * that worker writes. The stream is soft-deleted 60 s after the end of the session, unless `retention` keeps it.
 */
export const segmentsStream = (liveId: number): string => `segments-${liveId}`

/** Seconds from the first audio, at most about a century. */
const seconds = boundedNumber(0, 3.2e9)

/** A word with its punctuation and the space before it. Times are in seconds from the first audio. */
export const segmentWord = t.strict(
  { start: seconds, end: seconds, text: t.string, confidence: boundedNumber(0, 1) },
  'Word',
)
export type SegmentWord = t.TypeOf<typeof segmentWord>

/**
 * A final segment, or its translation. `segment` counts from 1. A listener that reconnects sends the last number that
 * it received. `text` has no line breaks. Segments of two terms are different, even with the same number.
 */
export const SegmentFinalised = definePersonalEvent(
  'SegmentFinalised',
  object(
    {
      liveId: id,
      segment: boundedInteger(1, Number.MAX_SAFE_INTEGER),
      start: seconds,
      end: seconds,
      text: t.string,
      kind: t.keyof({ transcription: null, translation: null }),
      language: t.string,
    },
    {
      /** Characters in a line, from the sender's config. Absent in events of the first versions. */
      maxChars: boundedInteger(1, 1e6),
      /**
       * HLS: number of the last part of the playlist that was received by the end of the segment. A new source process
       * continues after it. −1: no part was received.
       */
      mediaSequence: boundedInteger(-1, Number.MAX_SAFE_INTEGER),
      /** Leadership term of the worker that wrote the segment. Absent in events of the first versions. */
      term,
      /** The words, which form `text` when joined. Present if they were requested and the model returns word times. */
      words: sealedJson(t.readonlyArray(segmentWord), []),
    },
  ),
  ['text', 'words'],
  (data) => textKey(data.liveId),
)
export type SegmentFinalised = EventOf<typeof SegmentFinalised>

/**
 * Begins a term, in which only its worker may append. The event raises the revision of the stream, so appends of
 * earlier workers fail.
 */
export const SegmentsFenced = defineEvent(
  'SegmentsFenced',
  t.strict({ liveId: id, worker: t.string, term, at: instant }),
)

export const transcriptEvents = [SegmentFinalised, SegmentsFenced] as const
export type TranscriptEvent = EventOf<(typeof transcriptEvents)[number]>

/** Returns the term whose worker may write after this event. */
export const termOf = ({ data }: { readonly data: { readonly term?: number } }): number => data.term ?? FIRST_TERM
