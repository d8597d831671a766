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
import type { AudioInput } from './clock/audio-input.ts'
import { createLiveClock } from './clock/live-clock.ts'
import type { Translations } from '../translation/translations.ts'
import type { LiveLifecycle } from './live-lifecycle.ts'
import { createEndAppender, failureCause } from './end-appender.ts'
import type { EndAppender } from './end-appender.ts'
import { frameOf, recordFinals, voiceOfSpeech } from './record-finals.ts'
import type { LiveMemory, RecordFinalsOptions } from './record-finals.ts'
import { recordVocabulary } from './record-vocabulary.ts'
import type { WriteQueue } from './write-queue.ts'

/** Extra wait for a pipeline or translator that exceeds its time limit. After it the session ends anyway. */
const FINISH_MARGIN_MS = 2000

export interface RunningLiveOptions {
  readonly liveId: number
  readonly live: Pick<AttachedLive, 'term' | 'model' | 'language' | 'translations' | 'config' | 'vocabulary'>
  /** The point where the clock and the segment numbers continue after an earlier process. */
  readonly point: Pick<SourcePoint, 'sampleOffset' | 'nextSegment'>
  readonly lifecycle: Pick<LiveLifecycle, 'startLive' | 'endLive' | 'recordSegment' | 'changeVocabulary'>
  /** Runs the writes one after another. */
  readonly writes: WriteQueue
  readonly speech: CaptionServices
  readonly bus: Pick<LiveBus, 'publish'>
  readonly memory: LiveMemory
  readonly logger: Logger
  readonly timers: Timers
  /** Aborts when the service closes. */
  readonly signal: AbortSignal
  readonly callbacks: RunningLiveCallbacks
}

/** The services that turn audio into captions. */
export interface CaptionServices {
  readonly createPipeline: CreatePipeline
  readonly translations: Pick<Translations, 'ofLive'>
}

/** Callbacks to the owner of a running session. */
interface RunningLiveCallbacks extends Pick<RecordFinalsOptions, 'dropped'> {
  /** Called when the end is stored, but the log has not reported it in time. */
  readonly ended: (cause: EndCause) => void
  /** Called when audio of the source is missing. */
  readonly lost: (seconds: number) => void
}

/** `finishing`: takes no more audio. `ending`: the end is being stored. `over`: publishes nothing. */
export type Stage = 'open' | 'finishing' | 'ending' | 'over'

/** A session that runs in this process: its pipeline and its writes. */
export interface RunningLive extends AudioInput {
  readonly writes: WriteQueue
  /** The first call starts the pipeline. Each call publishes `started` once the model is ready. */
  readonly configure: (settings: EngineSettings) => void
  /** Changes the vocabulary from the next pass on. Absent members stay as they are. Returns whether it changed. */
  readonly setVocabulary: (given: GivenVocabulary) => boolean
  /** Publishes `started` again once the model is ready, for a returning sender. */
  readonly announce: () => void
  /** Returns whether no sender has configured the session yet. */
  readonly isIdle: () => boolean
  readonly stage: () => Stage
  /** Transcribes and translates received audio. Later calls may shorten the limit. `isContinued`: see LivePipeline. */
  readonly finish: (limitMs: number, isContinued?: boolean) => Promise<void>
  readonly end: EndAppender['end']
  /** Call this when the end of the session is known. Nothing is published afterwards. */
  readonly settle: () => void
}

const completeVocabulary = ({ prompt = '', hotwords = [] }: GivenVocabulary): Vocabulary => ({ prompt, hotwords })

export const createRunningLive = (options: RunningLiveOptions): RunningLive => {
  const { liveId, live, lifecycle, writes, bus, logger, timers, callbacks } = options
  const voiceOf = voiceOfSpeech(live)
  let { config, vocabulary } = live
  let pipeline: LivePipeline | undefined
  let ready: Promise<boolean> = Promise.resolve(false)
  let isOver = false
  let isFinishing = false
  let lastFinal: Promise<void> = Promise.resolve()
  let drained: () => void = () => undefined
  let stored = options.point.sampleOffset
  let hasAudio = false

  const endAppender = createEndAppender({ ...options, term: live.term, ended: callbacks.ended })

  const fail = (failure: ModelLoadFailed | JobFailed): void => {
    logger.error({ liveId, failure: failure._tag, reason: failure.reason }, 'a session failed')
    void endAppender.end(failureCause(live.model, failure))
  }

  /**
   * The pipeline counts only the samples that it receives. The session's clock also counts earlier and lost samples.
   */
  const clock = createLiveClock(options.point.sampleOffset)
  const onClock = ({ words, ...segment }: Segment): Segment => ({
    ...segment,
    start: clock.at(segment.start),
    end: clock.at(segment.end),
    ...(config.words === true && words !== undefined && { words: publishedWords(words, clock.at) }),
  })

  const earlierSeconds = options.point.sampleOffset / SAMPLE_RATE
  const record = recordFinals({
    ...options, term: live.term, earlierSeconds, dropped: callbacks.dropped, isSettled: () => isOver,
  })

  const translations = options.speech.translations.ofLive({
    liveId,
    targets: live.translations,
    deliver: async ({ segment, start, end }, to, translated) => {
      const text = config.punctuation ? translated : withoutPunctuation(translated)
      // Each segment has one frame for each target, even if it is long. The text is wrapped, so no word is lost.
      const final = { segment, start, end, text, caption: wrapped(text, config.max_chars) }
      await record(final, { kind: 'translation', language: to }, config.max_chars)
    },
  })

  const storeVocabulary = recordVocabulary(options)

  const load = async (starting: LivePipeline): Promise<boolean> => {
    const loaded = await starting.start()()
    if (E.isLeft(loaded)) fail(loaded.left)
    return E.isRight(loaded)
  }

  const announce = async (loading: Promise<boolean>): Promise<void> => {
    if ((await loading) && !isOver) bus.publish(liveId, { kind: 'started' })
  }

  const handleException = (error: unknown): boolean => {
    fail({ _tag: 'JobFailed', reason: String(error) })
    return false
  }

  const open = (settings: EngineSettings): LivePipeline =>
    options.speech.createPipeline({
      liveId,
      model: live.model,
      language: live.language,
      ...(live.config.task !== undefined && { task: live.config.task }),
      vocabulary: completeVocabulary(vocabulary),
      settings,
      nextSegment: options.point.nextSegment,
      events: {
        partial: (segment) => {
          if (!isOver) bus.publish(liveId, frameOf(onClock(segment), false, voiceOf(segment)))
        },
        final: async (final) => {
          const [segment, voice] = [onClock(final), voiceOf(final)]
          lastFinal = record(segment, voice, config.max_chars)
          await lastFinal
          translations.add(segment, voice.language)
        },
        failed: fail,
        drained: () => drained(),
      },
    })

  const finishPipeline = async (running: LivePipeline, limitMs: number, isContinued: boolean): Promise<void> => {
    await running.finish(limitMs, isContinued)
    await lastFinal
    await translations.settled()
  }

  const finish = async (limitMs: number, isContinued = false): Promise<void> => {
    isFinishing = true
    try {
      if (pipeline !== undefined)
        await atMost(timers, limitMs + FINISH_MARGIN_MS, finishPipeline(pipeline, limitMs, isContinued))
      await lastFinal
    } catch (error) {
      handleException(error)
    }
    translations.stop()
  }

  return {
    writes,
    configure: (settings) => {
      config = settings
      if (pipeline === undefined) {
        pipeline = open(settings)
        ready = load(pipeline).catch(handleException)
        translations.prepare()
      } else {
        pipeline.configure(settings)
      }
      void announce(ready)
    },
    setVocabulary: (given) => {
      const expected = { ...vocabulary, ...given }
      if (isSameVocabulary(expected, vocabulary)) return false
      vocabulary = expected
      pipeline?.setVocabulary(completeVocabulary(expected))
      storeVocabulary(expected)
      return true
    },
    announce: () => void announce(ready),
    push: (samples, lost = 0) => {
      if (!hasAudio) void writes.add('start', lifecycle.startLive(liveId, live.term))
      hasAudio = true
      if (lost > 0) {
        pipeline?.push(clock.lost(lost, config.buffer_timeout))
        callbacks.lost(lost / SAMPLE_RATE)
      }
      clock.received(samples.length)
      pipeline?.push(samples)
    },
    backlogSeconds: () => pipeline?.backlogSeconds() ?? 0,
    onDrained: (callback) => { drained = callback },
    receivedSamples: clock.samples,
    skip: clock.skip,
    settledSamples: () => {
      const sent = Math.floor(clock.at((pipeline?.settledSamples() ?? 0) / SAMPLE_RATE) * SAMPLE_RATE)
      // While a final waits for the log, `stored` does not advance.
      if (!options.memory.finals.isWaiting()) stored = sent
      return { sent, stored }
    },
    isIdle: () => pipeline === undefined,
    stage: () => {
      if (isOver) return 'over'
      if (endAppender.hasBegun()) return 'ending'
      return isFinishing ? 'finishing' : 'open'
    },
    finish,
    end: endAppender.end,
    settle: () => {
      if (isOver) return
      isOver = true
      endAppender.settle()
      pipeline?.abort()
      translations.stop()
    },
  }
}
