import type { AttachedLive } from '../lives/attached-live.ts'
import type { SourcePoint } from '../lives/source-point.ts'
import type { StartPuller } from '../ports/audio-source.ts'
import type { Environment, Logger } from '../ports/environment.ts'
import type { Timers } from '../ports/timers.ts'
import type { HeardSequences } from './heard-sequences.ts'
import type { LiveLifecycle } from './live-lifecycle.ts'
import { startLiveSource } from './live-source.ts'
import type { LiveSource } from './live-source.ts'
import type { RunningLive } from './running-live.ts'

/** Wall time for what was heard before the source ended. */
const FINISH_LIMIT = 30_000

export interface SourcedLiveOptions {
  readonly liveId: number
  readonly live: Pick<AttachedLive, 'term' | 'audioUrl' | 'autoStart'>
  /** Where an earlier process stopped. */
  readonly point: SourcePoint
  readonly running: RunningLive
  readonly sequences: Pick<HeardSequences, 'heard'>
  readonly lifecycle: Pick<LiveLifecycle, 'startSource'>
  readonly startPuller: StartPuller
  readonly timers: Timers
  readonly environment: Pick<Environment, 'monotonic'>
  readonly logger: Logger
  readonly track: (work: Promise<void>) => void
}

/** A running live that may pull its audio. */
export interface SourcedLive extends RunningLive {
  /** Begins to pull; only the first call counts. */
  readonly startSource: () => void
}

/** Puts a live's source in front of its pipeline: whoever finishes or settles the live stops the source too. */
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

  const over = async (cause: Parameters<RunningLive['end']>[0]): Promise<void> => {
    stop()
    await running.finish(FINISH_LIMIT)
    await running.end(cause)
  }

  return {
    ...running,
    onDrained: (callback) => {
      drained = callback
    },
    finish: async (limitMs) => {
      stop()
      await running.finish(limitMs)
    },
    settle: () => {
      stop()
      running.settle()
    },
    startSource: () => {
      if (source !== undefined || live.audioUrl === null || running.stage() !== 'open') return
      let launches = 0
      // Only the process of an auto-started live is shown (D26).
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
          // A later one goes on where the clock stands.
          const sampleOffset = launches === 0 ? point.sampleOffset : point.sampleOffset + running.heardSamples()
          launches += 1
          pidShown = live.autoStart ? pid : null
          record(sampleOffset, mediaSequence)
        },
        audio: running.push,
        heard: (mediaSequence) => {
          options.sequences.heard(mediaSequence, running.heardSamples())
          if (isPlaceKnown) return
          isPlaceKnown = true
          // Until the first final nothing else tells another worker where to go on: it would begin near the live's end.
          record(point.sampleOffset, mediaSequence)
        },
        backlogSeconds: running.backlogSeconds,
        completed: () => void over({ status: 'finished', reason: 'source_ended' }),
        failed: (cause) =>
          void over({ status: 'error', code: 'source_failed', detail: `The audio source failed: ${cause}` }),
      })
    },
  }
}
