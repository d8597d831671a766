import * as E from 'fp-ts/lib/Either.js'
import { decodeConfig } from '../protocol.ts'
import type { SentConfig } from '../protocol.ts'

/** A config frame that was passed on. */
export interface PassedConfig {
  /** Of its frame. */
  readonly number: number
  readonly body: object
  /** Audio was passed on before it. */
  readonly isBehindAudio: boolean
}

/** What a sender has set, so that another worker can be told. */
export interface ConfigSoFar {
  readonly passed: (config: PassedConfig) => void
  /** The worker took it. */
  readonly accepted: (number: number) => void
  /** The worker is done with all frames before this one: answers which of them it has refused. */
  readonly done: (number: number) => ReadonlyArray<number>
  /** Frames are numbered anew: those that nobody has answered. */
  readonly repeated: (configs: ReadonlyArray<PassedConfig>) => void
  /** One frame that has the effect of all that were taken; null where there are none. */
  readonly text: () => string | null
}

const NOTHING: SentConfig = { settings: {}, vocabulary: {} }

/** The last settings hold, but for those that cannot change any more; of what is likely to be said each tells a part. */
const over = (before: SentConfig | null, { body, isBehindAudio }: PassedConfig): SentConfig | null => {
  const sent = decodeConfig(body)
  if (E.isLeft(sent)) return before
  const { settings, vocabulary } = before ?? NOTHING
  const isFixed = isBehindAudio && before !== null
  return { settings: isFixed ? settings : sent.right.settings, vocabulary: { ...vocabulary, ...sent.right.vocabulary } }
}

export const createConfigSoFar = (): ConfigSoFar => {
  let taken: SentConfig | null = null
  let unanswered: ReadonlyArray<PassedConfig> = []
  return {
    passed: (config) => {
      unanswered = [...unanswered, config]
    },
    accepted: (number) => {
      const config = unanswered.find((one) => one.number === number)
      if (config !== undefined) taken = over(taken, config)
      unanswered = unanswered.filter((one) => one !== config)
    },
    done: (number) => {
      const refused = unanswered.filter((one) => one.number < number)
      if (refused.length > 0) unanswered = unanswered.filter((one) => one.number >= number)
      return refused.map((one) => one.number)
    },
    repeated: (configs) => {
      unanswered = configs
    },
    text: () => (taken === null ? null : JSON.stringify({ type: 'config', ...taken.settings, ...taken.vocabulary })),
  }
}
