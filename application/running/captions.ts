import * as E from 'fp-ts/lib/Either.js'
import type { EngineSettings } from '../../domain/live/settings.ts'
import type { GivenVocabulary } from '../../domain/live/vocabulary.ts'
import { withoutPunctuation, wrapped } from '../../domain/transcript/captions.ts'
import { publishedWords } from '../../domain/transcript/words.ts'
import type { AttachedLive } from '../lives/attached-live.ts'
import type { SourcePoint } from '../lives/source-point.ts'
import { SAMPLE_RATE, type JobFailed, type ModelLoadFailed } from '../ports/engine.ts'
import type { CreatePipeline, LivePipeline, Segment, Vocabulary } from '../pipeline/pipeline.ts'
import type { Translations } from '../pipeline/translations.ts'
import { atMost } from '../waiting.ts'
import { createLiveClock } from './clock/live-clock.ts'
import { frameOf, recordFinals, voiceOfSpeech, type RecordFinalsOptions } from './record-finals.ts'

/** Extra wait for a pipeline or translator that exceeds its time limit. After it the session ends anyway. */
const FINISH_MARGIN_MS = 2000

/** The services that turn audio into captions. */
export interface CaptionServices {
  readonly createPipeline: CreatePipeline
  readonly translations: Pick<Translations, 'ofLive'>
}

export interface CaptionsOptions extends CaptionServices, Omit<RecordFinalsOptions, 'term' | 'earlierSeconds'> {
  readonly live: Pick<AttachedLive, 'term' | 'model' | 'language' | 'translations' | 'config'>
  readonly point: Pick<SourcePoint, 'sampleOffset' | 'nextSegment'>
  readonly settings: () => EngineSettings
  readonly failed: (failure: ModelLoadFailed | JobFailed) => void
  /** Called each time the backlog shrinks. */
  readonly drained: () => void
}

const completeVocabulary = ({ prompt = '', hotwords = [] }: GivenVocabulary): Vocabulary => ({ prompt, hotwords })

/** The captions of one session: its audio goes through a pipeline, and its text is stored, translated and published. */
export const createCaptions = (options: CaptionsOptions) => {
  const { liveId, live, point, bus, timers, memory, settings, failed } = options
  const voiceOf = voiceOfSpeech(live)
  let pipeline: LivePipeline | undefined
  let loading: Promise<boolean> = Promise.resolve(false)
  let lastFinal: Promise<void> = Promise.resolve()
  let stored = point.sampleOffset
  let hasText = point.nextSegment > 1

  const handleException = (error: unknown): boolean => {
    failed({ _tag: 'JobFailed', reason: String(error) })
    return false
  }

  /**
   * The pipeline counts only the samples that it receives. The session's clock also counts earlier and lost samples.
   */
  const clock = createLiveClock(point.sampleOffset)
  const onClock = ({ words, ...segment }: Segment): Segment => ({
    ...segment,
    start: clock.at(segment.start),
    end: clock.at(segment.end),
    ...(settings().words === true && words !== undefined && { words: publishedWords(words, clock.at) }),
  })

  const record = recordFinals({ ...options, term: live.term, earlierSeconds: point.sampleOffset / SAMPLE_RATE })

  const translations = options.translations.ofLive({
    liveId,
    targets: live.translations,
    deliver: async ({ segment, start, end }, to, translated) => {
      const { punctuation, max_chars } = settings()
      const text = punctuation ? translated : withoutPunctuation(translated)
      // Each segment has one frame for each target, even if it is long. The text is wrapped, so no word is lost.
      const final = { segment, start, end, text, caption: wrapped(text, max_chars) }
      await record(final, { kind: 'translation', language: to }, max_chars)
    },
  })

  const finishPipeline = async (limitMs: number, isContinued: boolean): Promise<void> => {
    await pipeline?.finish(limitMs, isContinued)
    await lastFinal
    await translations.settled()
  }

  const open = (config: EngineSettings, vocabulary: GivenVocabulary): LivePipeline =>
    options.createPipeline({
      liveId,
      model: live.model,
      language: live.language,
      ...(live.config.task !== undefined && { task: live.config.task }),
      vocabulary: completeVocabulary(vocabulary),
      settings: config,
      nextSegment: point.nextSegment,
      events: {
        partial: (segment) => {
          if (!options.isSettled()) bus.publish(liveId, frameOf(onClock(segment), false, voiceOf(segment)))
        },
        final: async (final) => {
          hasText = true
          const [segment, voice] = [onClock(final), voiceOf(final)]
          lastFinal = record(segment, voice, settings().max_chars)
          await lastFinal
          translations.add(segment, voice.language)
        },
        failed,
        drained: options.drained,
      },
    })

  const load = async (config: EngineSettings, vocabulary: GivenVocabulary): Promise<boolean> => {
    pipeline = open(config, vocabulary)
    const starting = pipeline.start()
    translations.prepare()
    const loaded = await starting
    if (E.isLeft(loaded)) failed(loaded.left)
    return E.isRight(loaded)
  }

  return {
    /** The first call starts the pipeline. */
    configure: (config: EngineSettings, vocabulary: GivenVocabulary): void => {
      if (pipeline === undefined) loading = load(config, vocabulary).catch(handleException)
      else pipeline.configure(config)
    },
    /** Resolves to true once the model is ready, or to false when it could not be loaded. */
    isLoaded: (): Promise<boolean> => loading,
    setVocabulary: (vocabulary: GivenVocabulary): void => pipeline?.setVocabulary(completeVocabulary(vocabulary)),
    /** `lost`: samples that are missing before `samples`. `skipped`: those that an earlier worker received. */
    push: (samples: Int16Array, lost: number, skipped: number): void => {
      if (skipped > 0) clock.skip(skipped)
      if (lost > 0) pipeline?.push(clock.lost(lost, settings().buffer_timeout))
      clock.received(samples.length)
      pipeline?.push(samples)
    },
    /** Whether any speech was found, also by an earlier worker. */
    hasText: (): boolean => hasText,
    backlogSeconds: (): number => pipeline?.backlogSeconds() ?? 0,
    /** Numbers of samples of the session before which all speech is in sent finals, or in stored finals. */
    settledSamples: (): { readonly sent: number; readonly stored: number } => {
      const sent = Math.floor(clock.at((pipeline?.settledSamples() ?? 0) / SAMPLE_RATE) * SAMPLE_RATE)
      // While a final waits for the log, `stored` does not advance.
      if (!memory.finals.isWaiting()) stored = sent
      return { sent, stored }
    },
    /** Transcribes and translates received audio. Later calls may shorten the limit. */
    finish: async (limitMs: number, isContinued: boolean): Promise<void> => {
      try {
        if (pipeline !== undefined)
          await atMost(timers, limitMs + FINISH_MARGIN_MS, finishPipeline(limitMs, isContinued))
        await lastFinal
      } catch (error) {
        handleException(error)
      }
      translations.stop()
    },
    stop: (): void => {
      pipeline?.abort()
      translations.stop()
    },
  }
}
