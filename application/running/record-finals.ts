import type { TranscriptFrame } from '../../domain/transcript/frame.ts'
import { writtenLanguage } from '../../domain/live/settings.ts'
import type { AttachedLive } from '../lives/attached-live.ts'
import { AUTO_LANGUAGE, type Segment } from '../pipeline/pipeline.ts'
import type { LiveBus } from '../pipeline/signals.ts'
import { SAMPLE_RATE } from '../ports/engine.ts'
import type { Timers } from '../ports/timers.ts'
import { atMost } from '../waiting.ts'
import type { ReceivedSequences } from './received-sequences.ts'
import type { LiveLifecycle } from './live-lifecycle.ts'
import type { LiveFinals } from './recent-finals.ts'
import type { WriteQueue } from './write-queue.ts'

/** Longest wait for the store before a final is sent anyway. */
const STORE_WAIT_MS = 1000

/** The state of a session that is only in memory. */
export interface LiveMemory {
  readonly finals: Pick<LiveFinals, 'add' | 'isWaiting'>
  /** The HLS segments that the received audio contains. */
  readonly sequences: Pick<ReceivedSequences, 'lastWithin'>
}

export interface RecordFinalsOptions {
  readonly liveId: number
  readonly term: number
  /** Seconds of the session before this process took it over. */
  readonly earlierSeconds: number
  readonly lifecycle: Pick<LiveLifecycle, 'recordSegment'>
  readonly writes: WriteQueue
  readonly bus: Pick<LiveBus, 'publish'>
  readonly memory: LiveMemory
  readonly timers: Timers
  /** Called for a final that cannot be stored. */
  readonly dropped: (final: Pick<TranscriptFrame, 'segment' | 'kind' | 'language'>) => void
  /** Returns whether the session has ended, so nothing is published. */
  readonly isSettled: () => boolean
}

/** Says whether a text is speech or a translation, and its language. */
export type Voice = Pick<TranscriptFrame, 'kind' | 'language'>

/** The ISO 639-2 code for an undetermined language. */
const UNDETERMINED = 'und'

/** Returns kind and language of a segment of speech. A language that is not detected yet is undetermined. */
export const voiceOfSpeech =
  (live: Pick<AttachedLive, 'language' | 'config'>) =>
  ({ language = live.language }: Pick<Segment, 'language'>): Voice => {
    const spoken = language === AUTO_LANGUAGE ? UNDETERMINED : language
    return { kind: 'transcription', language: writtenLanguage(spoken, live.config) }
  }

/** Returns the words of a final, or an empty object for a final without words. */
const wordsOf = ({ words }: Segment): Pick<TranscriptFrame, 'words'> => (words === undefined ? {} : { words })

export const frameOf = (segment: Segment, final: boolean, { kind, language }: Voice): TranscriptFrame => ({
  kind, segment: segment.segment, final, start: segment.start, end: segment.end, text: segment.caption, language,
  ...(final ? wordsOf(segment) : {}),
})

/** Stores finals, then sends them. */
export const recordFinals = (options: RecordFinalsOptions) => {
  const { liveId, term, earlierSeconds: earlier, lifecycle, writes, bus, memory, timers, isSettled } = options
  let isStoreLate = false

  /** The HLS position is stored with each final of speech, so another process can continue there. */
  const pointOf = ({ end }: Segment, { kind }: Voice): { readonly mediaSequence?: number } => {
    if (kind !== 'transcription') return {}
    const mediaSequence = memory.sequences.lastWithin(Math.round((end - earlier) * SAMPLE_RATE))
    return mediaSequence === null ? {} : { mediaSequence }
  }

  return async (final: Segment, voice: Voice, maxChars: number): Promise<void> => {
    const { segment, start, end, text } = final
    const frame = frameOf(final, true, voice)
    const added = memory.finals.add(frame)
    const isStoreBusy = isStoreLate && writes.size() > 0
    let hasAnswered = false
    const times = { segment, start, end }
    const facts = { liveId, term, ...times, text, ...voice, maxChars, ...wordsOf(final), ...pointOf(final, voice) }
    const written = writes.add('segment', () => lifecycle.recordSegment(facts)).then((isDurable) => {
      hasAnswered = true
      if (isDurable) return added.stored()
      added.dropped()
      options.dropped({ segment, ...voice })
    })
    // While an earlier write is still late, a new final does not wait for the store.
    if (!isStoreBusy) {
      await atMost(timers, STORE_WAIT_MS, written)
      isStoreLate = !hasAnswered
    }
    if (isSettled()) return
    added.sent()
    bus.publish(liveId, frame)
  }
}
