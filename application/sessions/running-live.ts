import * as E from 'fp-ts/lib/Either.js'
import type { EngineSettings } from '../../domain/live/settings.ts'
import { isSameVocabulary } from '../../domain/live/vocabulary.ts'
import type { GivenVocabulary } from '../../domain/live/vocabulary.ts'
import { withoutPunctuation, wrapped } from '../../domain/transcript/captions.ts'
import { publishedWords } from '../../domain/transcript/words.ts'
import type { AttachedLive } from '../lives/attached-live.ts'
import type { SourcePoint } from '../lives/source-point.ts'
import { SAMPLE_RATE } from '../ports/engine.ts'
import type { JobFailed, ModelLoadFailed } from '../ports/engine.ts'
import type { Logger } from '../ports/environment.ts'
import type { CreatePipeline, LivePipeline, Segment, Vocabulary } from '../pipeline/pipeline.ts'
import type { EndCause, LiveBus } from '../pipeline/signals.ts'
import { atMost } from '../waiting.ts'
import type { Timers } from '../ports/timers.ts'
import type { AudioIntake } from './clock/audio-intake.ts'
import { createLiveClock } from './clock/live-clock.ts'
import type { Translations } from '../translation/translations.ts'
import type { LiveLifecycle } from './live-lifecycle.ts'
import { createOwnEnd, failureCause } from './own-end.ts'
import type { OwnEnd } from './own-end.ts'
import { frameOf, recordFinals, speakerOf } from './record-finals.ts'
import type { LiveMemory, RecordFinalsOptions } from './record-finals.ts'
import { recordVocabulary } from './record-vocabulary.ts'
import type { WriteQueue } from './write-queue.ts'

/** A pipeline, or a translator, that outlives the limit by this much is no longer waited for: the live must end. */
const FINISH_MARGIN = 2000

export interface RunningLiveOptions {
  readonly liveId: number
  readonly live: Pick<AttachedLive, 'term' | 'model' | 'language' | 'translations' | 'config' | 'vocabulary'>
  /** Where the clock and the segments go on after an earlier process. */
  readonly point: Pick<SourcePoint, 'sampleOffset' | 'nextSegment'>
  readonly lifecycle: Pick<LiveLifecycle, 'startLive' | 'endLive' | 'recordSegment' | 'changeVocabulary'>
  /** Through which the lifecycle is asked, one write after another. */
  readonly writes: WriteQueue
  readonly speech: Speech
  readonly bus: Pick<LiveBus, 'publish'>
  readonly memory: LiveMemory
  readonly logger: Logger
  readonly timers: Timers
  /** Aborts when the service closes. */
  readonly signal: AbortSignal
  readonly told: RunningLiveNews
}

/** What makes captions of audio. */
export interface Speech {
  readonly createPipeline: CreatePipeline
  readonly translations: Pick<Translations, 'ofLive'>
}

/** What whoever runs the live is told. */
interface RunningLiveNews extends Pick<RecordFinalsOptions, 'dropped'> {
  /** Our own end is to be told: the log has not done so in time. */
  readonly ended: (cause: EndCause) => void
  /** So much of its audio is missing. */
  readonly lost: (seconds: number) => void
}

/** `finishing`: it takes no more audio; `ending`: its end is being appended; `over`: nothing is told any more. */
export type Stage = 'open' | 'finishing' | 'ending' | 'over'

/** The one pipeline of a live in this process, and the writes that it causes. */
export interface RunningLive extends AudioIntake {
  readonly writes: WriteQueue
  /** The first call starts the pipeline; every call is followed by one `started` once the model is ready. */
  readonly configure: (settings: EngineSettings) => void
  /** From the next pass on, at any time; what is not given stays as it is. */
  readonly expect: (given: GivenVocabulary) => void
  /** One more `started` once the model is ready: for a sender that came back. */
  readonly announce: () => void
  /** No sender has configured it yet. */
  readonly isIdle: () => boolean
  readonly stage: () => Stage
  /** Transcribes what was heard and translates it; a later call with less time hurries the earlier one. */
  readonly finish: (limitMs: number) => Promise<void>
  readonly end: OwnEnd['end']
  /** The terminal event is known: nothing more is published. */
  readonly settle: () => void
}

const wholeOf = ({ prompt = '', hotwords = [] }: GivenVocabulary): Vocabulary => ({ prompt, hotwords })

export const createRunningLive = (options: RunningLiveOptions): RunningLive => {
  const { liveId, live, lifecycle, writes, bus, logger, timers, told } = options
  const voiceOf = speakerOf(live)
  let { config, vocabulary } = live
  let pipeline: LivePipeline | undefined
  let ready: Promise<boolean> = Promise.resolve(false)
  let settled = false
  let finishing = false
  let lastFinal: Promise<void> = Promise.resolve()
  let drained: () => void = () => undefined
  let stored = options.point.sampleOffset
  let begun = false

  const own = createOwnEnd({ ...options, term: live.term, ended: told.ended })

  const fail = (failure: ModelLoadFailed | JobFailed): void => {
    logger.error({ liveId, failure: failure._tag, reason: failure.reason }, 'a live failed')
    void own.end(failureCause(live.model, failure))
  }

  /** The pipeline counts what it hears, the live from its first sample ever, lost ones too. */
  const clock = createLiveClock(options.point.sampleOffset)
  const onClock = ({ words, ...segment }: Segment): Segment => ({
    ...segment,
    start: clock.at(segment.start),
    end: clock.at(segment.end),
    ...(config.words === true && words !== undefined && { words: publishedWords(words, clock.at) }),
  })

  const earlier = options.point.sampleOffset / SAMPLE_RATE
  const record = recordFinals({ ...options, term: live.term, earlier, dropped: told.dropped, isSettled: () => settled })

  const translations = options.speech.translations.ofLive({
    liveId,
    targets: live.translations,
    deliver: async ({ segment, start, end }, to, translated) => {
      const text = config.punctuation ? translated : withoutPunctuation(translated)
      // One frame a segment and target, whatever its length: no line is too long, and no word is lost.
      const line = { segment, start, end, text, caption: wrapped(text, config.max_chars) }
      await record(line, { kind: 'translation', language: to }, config.max_chars)
    },
  })

  const recordExpected = recordVocabulary(options)

  const load = async (starting: LivePipeline): Promise<boolean> => {
    const loaded = await starting.start()()
    if (E.isLeft(loaded)) fail(loaded.left)
    return E.isRight(loaded)
  }

  const announce = async (loading: Promise<boolean>): Promise<void> => {
    if ((await loading) && !settled) bus.publish(liveId, { kind: 'started' })
  }

  const broke = (error: unknown): boolean => {
    fail({ _tag: 'JobFailed', reason: String(error) })
    return false
  }

  const open = (settings: EngineSettings): LivePipeline =>
    options.speech.createPipeline({
      liveId,
      model: live.model,
      language: live.language,
      ...(live.config.task !== undefined && { task: live.config.task }),
      vocabulary: wholeOf(vocabulary),
      settings,
      nextSegment: options.point.nextSegment,
      events: {
        partial: (segment) => {
          if (!settled) bus.publish(liveId, frameOf(onClock(segment), false, voiceOf(segment)))
        },
        final: async (heardFinal) => {
          const [segment, voice] = [onClock(heardFinal), voiceOf(heardFinal)]
          lastFinal = record(segment, voice, config.max_chars)
          await lastFinal
          translations.add(segment, voice.language)
        },
        failed: fail,
        drained: () => drained(),
      },
    })

  const lastWords = async (running: LivePipeline, limitMs: number): Promise<void> => {
    await running.finish(limitMs)
    await lastFinal
    await translations.settled()
  }

  const speakOut = async (limitMs: number): Promise<void> => {
    try {
      if (pipeline !== undefined) await atMost(timers, limitMs + FINISH_MARGIN, lastWords(pipeline, limitMs))
      await lastFinal
    } catch (error) {
      broke(error)
    }
    translations.stop()
  }

  return {
    writes,
    configure: (settings) => {
      config = settings
      if (pipeline === undefined) {
        pipeline = open(settings)
        ready = load(pipeline).catch(broke)
        translations.prepare()
      } else {
        pipeline.configure(settings)
      }
      void announce(ready)
    },
    expect: (given) => {
      const expected = { ...vocabulary, ...given }
      if (isSameVocabulary(expected, vocabulary)) return
      vocabulary = expected
      pipeline?.expect(wholeOf(expected))
      recordExpected(expected)
    },
    announce: () => void announce(ready),
    push: (samples, lost = 0) => {
      if (!begun) void writes.add('start', lifecycle.startLive(liveId, live.term))
      begun = true
      if (lost > 0) {
        pipeline?.push(clock.lost(lost, config.buffer_timeout))
        told.lost(lost / SAMPLE_RATE)
      }
      clock.heard(samples.length)
      pipeline?.push(samples)
    },
    backlogSeconds: () => pipeline?.backlogSeconds() ?? 0,
    onDrained: (callback) => { drained = callback },
    heardSamples: clock.samples,
    skip: clock.skip,
    settled: () => {
      const told = Math.floor(clock.at((pipeline?.settledSamples() ?? 0) / SAMPLE_RATE) * SAMPLE_RATE)
      // A final waits for the log from the moment in which it is settled.
      if (!options.memory.finals.isWaiting()) stored = told
      return { told, stored }
    },
    isIdle: () => pipeline === undefined,
    stage: () => {
      if (settled) return 'over'
      if (own.hasBegun()) return 'ending'
      return finishing ? 'finishing' : 'open'
    },
    finish: async (limitMs) => {
      finishing = true
      await speakOut(limitMs)
    },
    end: own.end,
    settle: () => {
      if (settled) return
      settled = true
      own.settle()
      pipeline?.abort()
      translations.stop()
    },
  }
}
