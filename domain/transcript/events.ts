import * as t from 'io-ts'
import { boundedInteger, boundedNumber, id, instant, object } from '../shared/codecs.ts'
import { defineEvent, definePersonalEvent, sealedJson } from '../shared/event.ts'
import type { EventOf } from '../shared/event.ts'
import { term } from '../admission/events.ts'
import { FIRST_TERM, textKey } from '../live/events.ts'

/** Final segments of a live, one writer a term; soft-deleted 60 s after the end unless the live is retained. */
export const segmentsStream = (liveId: number): string => `segments-${liveId}`

/** From the first audio; a century is more than any live lasts. */
const seconds = boundedNumber(0, 3.2e9)

/** A word with its punctuation and the space before it. */
export const segmentWord = t.strict(
  { start: seconds, end: seconds, text: t.string, confidence: boundedNumber(0, 1) },
  'Word',
)
export type SegmentWord = t.TypeOf<typeof segmentWord>

/**
 * A final segment; `segment` counts from 1 and is the resume cursor. `text` is unwrapped. What is told of one number in
 * two terms are two segments.
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
      /** The width that its lines had, which the sender's config decides; unknown of the first versions' segments. */
      maxChars: boundedInteger(1, 1e6),
      /** The last media sequence of its HLS source that had been heard by its end, −1 for none: where another process goes on. */
      mediaSequence: boundedInteger(-1, Number.MAX_SAFE_INTEGER),
      /** Of the worker that heard it; unknown of the first versions' segments, which had one term alone. */
      term,
      /** One after another `text`, where its session asked for words and the model tells when they sound. */
      words: sealedJson(t.readonlyArray(segmentWord), []),
    },
  ),
  ['text', 'words'],
  (data) => textKey(data.liveId),
)
export type SegmentFinalised = EventOf<typeof SegmentFinalised>

/** From here on the worker of this term alone writes: what one of a lower term appends finds another revision. */
export const SegmentsFenced = defineEvent(
  'SegmentsFenced',
  t.strict({ liveId: id, worker: t.string, term, at: instant }),
)

export const transcriptEvents = [SegmentFinalised, SegmentsFenced] as const
export type TranscriptEvent = EventOf<(typeof transcriptEvents)[number]>

/** Whose turn it is to write behind this event. */
export const termOf = ({ data }: { readonly data: { readonly term?: number } }): number => data.term ?? FIRST_TERM
