import type { AttachedLive } from '../lives/attached-live.ts'
import type { SourcePoint } from '../lives/source-point.ts'
import type { StartPuller } from '../ports/audio-source.ts'
import type { Environment, Logger } from '../ports/environment.ts'
import type { Timers } from '../ports/timers.ts'
import type { ReceivedSequences } from './received-sequences.ts'
import type { LiveLifecycle } from './live-lifecycle.ts'
import { startLiveSource } from './live-source.ts'
import type { LiveSource } from './live-source.ts'
import type { RunningLive } from './running-live.ts'

/** Longest time to transcribe the received audio after the end of the source. */
const FINISH_LIMIT_MS = 30_000

export interface SourcedLiveOptions {
  readonly liveId: number
  readonly live: Pick<AttachedLive, 'term' | 'audioUrl' | 'autoStart'>
  /** The point where an earlier process stopped. */
  readonly point: SourcePoint
  readonly running: RunningLive
  readonly sequences: Pick<ReceivedSequences, 'record'>
  readonly lifecycle: Pick<LiveLifecycle, 'startSource'>
  readonly startPuller: StartPuller
  readonly timers: Timers
  readonly environment: Pick<Environment, 'monotonic'>
  readonly logger: Logger
  /** Receives background work, so a close can wait for it. */
  readonly track: (work: Promise<void>) => void
}

/** A running session that can pull its audio from a URL. */
export interface SourcedLive extends RunningLive {
  /** Starts to pull the source. Further calls do nothing. */
  readonly startSource: () => void
}

/** Adds a source to a running session. Finishing or settling the session also stops the source. */
export const withSource = ({ running, ...options }: SourcedLiveOptions): SourcedLive => {
  const { liveId, live, point, lifecycle, track } = options
  let source: LiveSource | undefined
  let drained: () => void = () => undefined

  running.onDrained(() => {
    source?.drained()
    drained()
  })

  const stop = (): void => {
    if (source !== undefined) track(source.stop())
  }

  const finish = async (cause: Parameters<RunningLive['end']>[0]): Promise<void> => {
    stop()
    await running.finish(FINISH_LIMIT_MS)
    await running.end(cause)
  }

  return {
    ...running,
    onDrained: (callback) => {
      drained = callback
    },
    finish: async (limitMs, isContinued = false) => {
      stop()
      // Nobody keeps the audio of a URL, so its last words must not wait for another process.
      await running.finish(limitMs, isContinued && live.audioUrl === null)
    },
    settle: () => {
      stop()
      running.settle()
    },
    startSource: () => {
      if (source !== undefined || live.audioUrl === null || running.stage() !== 'open') return
      let launches = 0
      // The interface shows only the process of an auto-started session.
      let pidShown: number | null = null
      let isPlaceKnown = point.mediaSequence !== null
      const { nextSegment } = point
      const record = (sampleOffset: number, mediaSequence: number | null): void => {
        const facts = { pid: pidShown, term: live.term, sampleOffset, nextSegment, mediaSequence }
        void running.writes.add('source', lifecycle.startSource(liveId, facts))
      }
      source = startLiveSource({
        ...options,
        monotonic: options.environment.monotonic,
        target: { url: live.audioUrl, mediaSequence: point.mediaSequence },
        launched: (pid, mediaSequence) => {
          // A replacement process continues at the present sample.
          const sampleOffset = launches === 0 ? point.sampleOffset : point.sampleOffset + running.receivedSamples()
          launches += 1
          pidShown = live.autoStart ? pid : null
          record(sampleOffset, mediaSequence)
        },
        audio: running.push,
        delivered: (mediaSequence) => {
          options.sequences.record(mediaSequence, running.receivedSamples())
          if (isPlaceKnown) return
          isPlaceKnown = true
          // Stored once at the start. Without it, another worker could not know where to continue before the first
          // final.
          record(point.sampleOffset, mediaSequence)
        },
        backlogSeconds: running.backlogSeconds,
        completed: () => void finish({ status: 'finished', reason: 'source_ended' }),
        failed: (cause) =>
          void finish({ status: 'error', code: 'source_failed', detail: `The audio source failed: ${cause}` }),
      })
    },
  }
}
