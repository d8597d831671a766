import { writtenLanguage } from '../../domain/live/settings.ts'
import type { AttachedLive } from '../lives/attached-live.ts'
import { AUTO_LANGUAGE } from '../pipeline/pipeline.ts'
import type { Segment } from '../pipeline/pipeline.ts'
import type { LiveBus, TranscriptFrame } from '../pipeline/signals.ts'
import { SAMPLE_RATE } from '../ports/engine.ts'
import type { Timers } from '../ports/timers.ts'
import { atMost } from '../waiting.ts'
import type { HeardSequences } from './heard-sequences.ts'
import type { LiveLifecycle } from './live-lifecycle.ts'
import type { LiveFinals } from './recent-finals.ts'
import type { WriteQueue } from './write-queue.ts'

/** How long a final waits for the store before it is sent all the same (design 6). */
const STORE_PATIENCE = 1000

/** What this process remembers of a live beside its log. */
export interface LiveMemory {
  /** For sockets that come back. */
  readonly finals: Pick<LiveFinals, 'add' | 'isWaiting'>
  /** How much of an HLS source a final covers. */
  readonly sequences: Pick<HeardSequences, 'until'>
}

export interface RecordFinalsOptions {
  readonly liveId: number
  readonly term: number
  /** Seconds of the live's clock before the first sample that this process heard. */
  readonly earlier: number
  readonly lifecycle: Pick<LiveLifecycle, 'recordSegment'>
  readonly writes: WriteQueue
  readonly bus: Pick<LiveBus, 'publish'>
  readonly memory: LiveMemory
  readonly timers: Timers
  /** A final is in no store and never will be. */
  readonly dropped: (final: Pick<TranscriptFrame, 'segment' | 'kind' | 'language'>) => void
  /** Nothing is published any more. */
  readonly isSettled: () => boolean
}

/** Whose words a line is: the speaker's, or a translator's. */
export type Voice = Pick<TranscriptFrame, 'kind' | 'language'>

/** ISO 639-2's code of a language that nobody knows. */
const UNDETERMINED = 'und'

/** The voice of what is heard in a live: of a language that is to be found there is none at first. */
export const speakerOf =
  (live: Pick<AttachedLive, 'language' | 'config'>) =>
  ({ language = live.language }: Pick<Segment, 'language'>): Voice => {
    const spoken = language === AUTO_LANGUAGE ? UNDETERMINED : language
    return { kind: 'transcription', language: writtenLanguage(spoken, live.config) }
  }

/** What else a final tells, where there is more. */
const furtherOf = ({ words }: Segment): Pick<TranscriptFrame, 'words'> => (words === undefined ? {} : { words })

export const frameOf = (line: Segment, final: boolean, { kind, language }: Voice): TranscriptFrame => ({
  kind, segment: line.segment, final, start: line.start, end: line.end, text: line.caption, language,
  ...(final ? furtherOf(line) : {}),
})

/** Appends finals, as the live's clock and their voice have them, then sends them. */
export const recordFinals = (options: RecordFinalsOptions) => {
  const { liveId, term, earlier, lifecycle, writes, bus, memory, timers, isSettled } = options
  let storeIsLate = false

  /** Kept with each final that was heard: another process goes on there. */
  const pointOf = ({ end }: Segment, { kind }: Voice): { readonly mediaSequence?: number } => {
    if (kind !== 'transcription') return {}
    const mediaSequence = memory.sequences.until(Math.round((end - earlier) * SAMPLE_RATE))
    return mediaSequence === null ? {} : { mediaSequence }
  }

  return async (final: Segment, voice: Voice, maxChars: number): Promise<void> => {
    const { segment, start, end, text } = final
    const frame = frameOf(final, true, voice)
    const added = memory.finals.add(frame)
    const behind = storeIsLate && writes.size() > 0
    let answered = false
    const facts = { liveId, term, segment, start, end, text, ...voice, maxChars, ...furtherOf(final), ...pointOf(final, voice) }
    const written = writes.add('segment', lifecycle.recordSegment(facts)).then((isDurable) => {
      answered = true
      if (isDurable) return added.stored()
      added.dropped()
      options.dropped({ segment, ...voice })
    })
    // Behind a write that already kept a final waiting, the wait would be for nothing.
    if (!behind) {
      await atMost(timers, STORE_PATIENCE, written)
      storeIsLate = !answered
    }
    if (isSettled()) return
    added.told()
    bus.publish(liveId, frame)
  }
}
