import * as E from 'fp-ts/lib/Either.js'
import type { JobFailed, ModelLoadFailed } from '../ports/engine.ts'
import type { Logger } from '../ports/environment.ts'
import type { Segment } from '../pipeline/pipeline.ts'
import type { TranslationEngine, TranslationFigures } from '../ports/translation-engine.ts'

/** One target of a live, and a translator that leads there. */
export interface TranslationTarget {
  readonly model: string
  /** Codes, as those of the finals' languages. */
  readonly from: string
  readonly to: string
}

/** The translations of one live. */
export interface LiveTranslations {
  /** Has the translators loaded, so that the first final need not wait for that. */
  readonly prepare: () => void
  /** Queues a final in this language for every target that a translator leads to from there; never waits. */
  readonly add: (segment: Segment, language: string) => void
  /** Resolves once all that was added is delivered or given up. */
  readonly settled: () => Promise<void>
  /** At once: delivers nothing more. */
  readonly stop: () => void
}

export interface LiveTranslationsOptions {
  readonly liveId: number
  readonly targets: ReadonlyArray<TranslationTarget>
  /** In the order of the segments for each target; awaited before the next one of the target. */
  readonly deliver: (segment: Segment, to: string, text: string) => Promise<void>
}

export interface Translations {
  readonly ofLive: (options: LiveTranslationsOptions) => LiveTranslations
  readonly figures: () => TranslationFigures
}

interface Waiting {
  readonly segment: Segment
  readonly translator: TranslationTarget
  readonly since: number
}

interface Dependencies {
  readonly engine: Pick<TranslationEngine, 'load' | 'translate'>
  /** Milliseconds that only ever grow. */
  readonly monotonic: () => number
  readonly logger: Logger
}

type Failure = ModelLoadFailed | JobFailed

/** Segments that wait for a translator, of one session and target: several minutes of speech. */
const MOST_WAITING = 60

/**
 * Translates the finals of lives, one job each. A live has one job at a time for each of its targets, so lives share the
 * translators fairly and each target keeps the order. What fails is counted and left out: the live goes on. A translator
 * that cannot keep up skips the oldest segments, so that what listeners read stays near what is said.
 */
export const createTranslations = ({ engine, monotonic, logger }: Dependencies): Translations => {
  const totals = { done: 0, failed: 0, dropped: 0, skipped: 0 }
  /** In the order in which they came. */
  const waiting = new Set<Waiting>()

  /** The queue of one target. */
  const openLane = ({ liveId, targets, deliver }: LiveTranslationsOptions, to: string) => {
    const translators = targets.filter((target) => target.to === to)
    const queue: Array<Waiting> = []
    let working: Promise<void> | null = null
    let failing = false
    let behind = false
    let stopped = false

    const failed = ({ model }: TranslationTarget, failure: Failure): void => {
      totals.failed += 1
      // Once, not for every sentence until somebody repairs it.
      if (!failing) logger.warn({ liveId, model, to, failure: failure._tag, reason: failure.reason }, 'a translator fails')
      failing = true
    }

    /** Makes room by the oldest that no translator has yet. */
    const skipOldest = (): void => {
      if (queue.length <= MOST_WAITING) return
      for (const entry of queue.splice(1, 1)) waiting.delete(entry)
      totals.skipped += 1
      if (!behind) logger.warn({ liveId, to, waiting: queue.length }, 'a translator is behind and skips segments')
      behind = true
    }

    const perform = async (entry: Waiting): Promise<void> => {
      const { segment, translator } = entry
      const translated = await engine.translate({ ...translator, text: segment.text })()
      if (stopped) return
      if (E.isLeft(translated)) return failed(translator, translated.left)
      await deliver(segment, to, translated.right)
      if (waiting.has(entry)) totals.done += 1
      if (failing) logger.info({ liveId, model: translator.model, to }, 'a translator works again')
      failing = false
    }

    const work = async (): Promise<void> => {
      for (let next = queue[0]; next !== undefined; next = queue[0]) {
        const { translator } = next
        await perform(next).catch((error: unknown) => failed(translator, { _tag: 'JobFailed', reason: String(error) }))
        // Unless a stop was faster.
        if (waiting.delete(next)) queue.shift()
      }
      working = null
      behind = false
    }

    return {
      prepare: async (): Promise<void> => {
        const [only, ...others] = translators
        // Which of several is needed is told by the first words.
        if (only === undefined || others.length > 0) return
        const { model } = only
        const loaded = await engine.load(model)()
        if (E.isLeft(loaded)) logger.warn({ liveId, model, to, reason: loaded.left.reason }, 'a translator cannot be loaded')
      },
      add: (segment: Segment, language: string): void => {
        const translator = translators.find(({ from }) => from === language)
        if (stopped || translator === undefined) return
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
        stopped = true
        totals.dropped += queue.length
        for (const entry of queue.splice(0)) waiting.delete(entry)
      },
    }
  }

  return {
    ofLive: (options) => {
      const lanes = Array.from(new Set(options.targets.map(({ to }) => to)), (to) => openLane(options, to))
      const stopping = Promise.withResolvers<void>()
      return {
        prepare: () => lanes.forEach((lane) => void lane.prepare()),
        add: (segment, language) => lanes.forEach((lane) => lane.add(segment, language)),
        settled: async () => {
          await Promise.race([stopping.promise, Promise.all(lanes.map((lane) => lane.settled()))])
        },
        stop: () => {
          lanes.forEach((lane) => lane.stop())
          stopping.resolve()
        },
      }
    },
    figures: () => {
      const [oldest] = waiting
      return { ...totals, waiting: waiting.size, lagSeconds: oldest === undefined ? 0 : (monotonic() - oldest.since) / 1000 }
    },
  }
}
