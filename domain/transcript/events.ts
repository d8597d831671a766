import * as t from 'io-ts'
import { boundedInteger, boundedNumber, id, object } from '../shared/codecs.ts'
import { definePersonalEvent } from '../shared/event.ts'
import type { EventOf } from '../shared/event.ts'
import { textKey } from '../live/events.ts'

/** Final segments of a live, one writer; soft-deleted 60 s after the end unless the live is retained. */
export const segmentsStream = (liveId: number): string => `segments-${liveId}`

/** From the first audio; a century is more than any live lasts. */
const seconds = boundedNumber(0, 3.2e9)

/** A final segment; `segment` counts from 1 and is the resume cursor. `text` is unwrapped. */
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
      /** The last media sequence of its HLS source that had been heard by its end: where another process goes on. */
      mediaSequence: boundedInteger(0, Number.MAX_SAFE_INTEGER),
    },
  ),
  ['text'],
  (data) => textKey(data.liveId),
)
export type SegmentFinalised = EventOf<typeof SegmentFinalised>
