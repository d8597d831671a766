import type { GivenVocabulary } from '../../domain/live/vocabulary.ts'
import type { Timers } from '../ports/timers.ts'
import { pause } from '../waiting.ts'
import type { LiveLifecycle } from './live-lifecycle.ts'
import type { WriteQueue } from './write-queue.ts'

/** Minimum time between two events, because a sender may change the vocabulary with every frame. */
const SPACING_MS = 1000

interface RecordVocabularyOptions {
  readonly liveId: number
  readonly live: { readonly term: number }
  readonly lifecycle: Pick<LiveLifecycle, 'changeVocabulary'>
  readonly writes: WriteQueue
  readonly timers: Timers
  /** Aborts when the service closes. */
  readonly signal: AbortSignal
}

/** Stores the vocabulary of a session. Of several changes within a second, stores the first and the last. */
export const recordVocabulary = ({ liveId, live, lifecycle, writes, timers, signal }: RecordVocabularyOptions) => {
  let newest: GivenVocabulary | null = null
  let isRecording = false

  const record = async (): Promise<void> => {
    isRecording = true
    while (newest !== null && !signal.aborted) {
      const vocabulary = newest
      newest = null
      await writes.add('vocabulary', lifecycle.changeVocabulary(liveId, { vocabulary, term: live.term }))
      await pause(timers, SPACING_MS, signal)
    }
    isRecording = false
  }

  return (vocabulary: GivenVocabulary): void => {
    newest = vocabulary
    if (!isRecording) void record()
  }
}
