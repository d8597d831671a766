import * as E from 'fp-ts/lib/Either.js'
import { decodeConfig, type SentConfig } from '../protocol.ts'

export interface PassedConfig {
  /** Number of the frame. */
  readonly number: number
  readonly body: object
  /** True when audio was passed before it. */
  readonly isAfterAudio: boolean
}

/** The accepted config of a sender, so it can be repeated to another worker. */
export interface AcceptedConfig {
  readonly passed: (config: PassedConfig) => void
  /** The worker accepted the config frame with this number. */
  readonly accepted: (number: number) => void
  /** The worker has handled all frames before this number. Returns the config frames that it refused. */
  readonly done: (number: number) => ReadonlyArray<number>
  /** Replaces the unanswered config frames, which have new numbers after a repeat. */
  readonly repeated: (configs: ReadonlyArray<PassedConfig>) => void
  /** Returns one frame with the effect of all accepted config frames. Null without any. */
  readonly text: () => string | null
}

const NO_CONFIG: SentConfig = { settings: {}, vocabulary: {} }

/** Settings replace earlier settings, but are fixed after the first audio. Prompt and hotwords may always change. */
const merged = (before: SentConfig | null, { body, isAfterAudio }: PassedConfig): SentConfig | null => {
  const sent = decodeConfig(body)
  if (E.isLeft(sent)) return before
  const { settings, vocabulary } = before ?? NO_CONFIG
  const isFixed = isAfterAudio && before !== null
  return { settings: isFixed ? settings : sent.right.settings, vocabulary: { ...vocabulary, ...sent.right.vocabulary } }
}

export const createAcceptedConfig = (): AcceptedConfig => {
  let current: SentConfig | null = null
  let unanswered: ReadonlyArray<PassedConfig> = []
  return {
    passed: (config) => {
      unanswered = [...unanswered, config]
    },
    accepted: (number) => {
      const accepted = unanswered.find((config) => config.number === number)
      if (accepted !== undefined) current = merged(current, accepted)
      unanswered = unanswered.filter((config) => config !== accepted)
    },
    done: (number) => {
      const refused = unanswered.filter((config) => config.number < number)
      if (refused.length > 0) unanswered = unanswered.filter((config) => config.number >= number)
      return refused.map((config) => config.number)
    },
    repeated: (configs) => {
      unanswered = configs
    },
    text: () =>
      current === null ? null : JSON.stringify({ type: 'config', ...current.settings, ...current.vocabulary }),
  }
}
