import * as E from 'fp-ts/lib/Either.js'
import type { JobFailed, ModelLoadFailed } from '../ports/engine.ts'
import type { Logger } from '../ports/environment.ts'
import type { Segment } from './pipeline.ts'
import type { TranslationEngine, TranslationFigures } from '../ports/translation-engine.ts'

/** A target language of a session, and a translator for it. */
export interface TranslationTarget {
  readonly model: string
  /** Language codes, in the form of the finals. */
  readonly from: string
  readonly to: string
}

/** The translations of one session. */
export interface LiveTranslations {
  /** Loads the translators, so the first final does not wait for them. */
  readonly prepare: () => void
  /** Queues a final for every target with a translator from its language. Does not wait. */
  readonly add: (segment: Segment, language: string) => void
  /** Resolves when all added finals are delivered, failed or dropped. */
  readonly settled: () => Promise<void>
  /** Stops immediately, without further deliveries. */
  readonly stop: () => void
}

export interface LiveTranslationsOptions {
  readonly liveId: number
  readonly targets: ReadonlyArray<TranslationTarget>
  /** Receives the translations of each target in the order of the segments. It is awaited before the next call. */
  readonly deliver: (segment: Segment, to: string, text: string) => Promise<void>
}

export interface Translations {
  readonly ofLive: (options: LiveTranslationsOptions) => LiveTranslations
  readonly figures: () => TranslationFigures
}

interface QueuedSegment {
  readonly segment: Segment
  readonly translator: TranslationTarget
  /** When the segment was queued, in milliseconds of the monotonic clock. */
  readonly since: number
}

interface Dependencies {
  readonly engine: Pick<TranslationEngine, 'load' | 'translate'>
  /** Returns monotonic milliseconds. */
  readonly monotonic: () => number
  readonly logger: Logger
}

type Failure = ModelLoadFailed | JobFailed

/** Maximum number of segments in the queue of one session and target: several minutes of speech. */
const MAX_WAITING = 60

/**
 * Translates the finals of sessions. A session has one job at a time for each target language. So sessions share the
 * translators fairly, and each target keeps its order. A failed translation is counted and left out, and the session
 * continues. A slow translator skips its oldest segments, so translations stay close to the speech.
 */
export const createTranslations = ({ engine, monotonic, logger }: Dependencies): Translations => {
  const totals = { done: 0, failed: 0, dropped: 0, skipped: 0 }
  /** All waiting segments, oldest first. */
  const waiting = new Set<QueuedSegment>()

  const openQueue = ({ liveId, targets, deliver }: LiveTranslationsOptions, to: string) => {
    const translators = targets.filter((target) => target.to === to)
    const queue: Array<QueuedSegment> = []
    let working: Promise<void> | null = null
    let isFailing = false
    let isBehind = false
    let isStopped = false

    const recordFailure = ({ model }: TranslationTarget, failure: Failure): void => {
      totals.failed += 1
      // Logged once, not for every sentence.
      const about = { liveId, model, to, failure: failure._tag, reason: failure.reason }
      if (!isFailing) logger.warn(about, 'a translator fails')
      isFailing = true
    }

    /** Drops the oldest segment that is not being translated yet, when the queue is too long. */
    const skipOldest = (): void => {
      if (queue.length <= MAX_WAITING) return
      for (const entry of queue.splice(1, 1)) waiting.delete(entry)
      totals.skipped += 1
      if (!isBehind) logger.warn({ liveId, to, waiting: queue.length }, 'a translator is behind and skips segments')
      isBehind = true
    }

    const perform = async (entry: QueuedSegment): Promise<void> => {
      const { segment, translator } = entry
      const translated = await engine.translate({ ...translator, text: segment.text })
      if (isStopped) return
      if (E.isLeft(translated)) return recordFailure(translator, translated.left)
      await deliver(segment, to, translated.right)
      if (waiting.has(entry)) totals.done += 1
      if (isFailing) logger.info({ liveId, model: translator.model, to }, 'a translator works again')
      isFailing = false
    }

    const work = async (): Promise<void> => {
      for (let next = queue[0]; next !== undefined; next = queue[0]) {
        const { translator } = next
        await perform(next).catch((error: unknown) => {
          recordFailure(translator, { _tag: 'JobFailed', reason: String(error) })
        })
        // `stop` may already have removed the segment.
        if (waiting.delete(next)) queue.shift()
      }
      working = null
      isBehind = false
    }

    return {
      prepare: async (): Promise<void> => {
        const [only, ...others] = translators
        // With several translators, the language of the first final decides which one is needed.
        if (only === undefined || others.length > 0) return
        const { model } = only
        const loaded = await engine.load(model)
        if (E.isRight(loaded)) return
        logger.warn({ liveId, model, to, reason: loaded.left.reason }, 'a translator cannot be loaded')
      },
      add: (segment: Segment, language: string): void => {
        const translator = translators.find(({ from }) => from === language)
        if (isStopped || translator === undefined) return
        const entry = { segment, translator, since: monotonic() }
        queue.push(entry)
        waiting.add(entry)
        skipOldest()
        working ??= work()
      },
      settled: async (): Promise<void> => {
        await working
      },
      stop: (): void => {
        isStopped = true
        totals.dropped += queue.length
        for (const entry of queue.splice(0)) waiting.delete(entry)
      },
    }
  }

  return {
    ofLive: (options) => {
      const queues = Array.from(new Set(options.targets.map(({ to }) => to)), (to) => openQueue(options, to))
      const stopping = Promise.withResolvers<void>()
      return {
        prepare: () => queues.forEach((queue) => void queue.prepare()),
        add: (segment, language) => queues.forEach((queue) => queue.add(segment, language)),
        settled: async () => {
          await Promise.race([stopping.promise, Promise.all(queues.map((queue) => queue.settled()))])
        },
        stop: () => {
          queues.forEach((queue) => queue.stop())
          stopping.resolve()
        },
      }
    },
    figures: () => {
      const [oldest] = waiting
      const lagSeconds = oldest === undefined ? 0 : (monotonic() - oldest.since) / 1000
      return { ...totals, waiting: waiting.size, lagSeconds }
    },
  }
}
