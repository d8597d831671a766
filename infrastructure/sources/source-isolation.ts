import { startDecoder } from './decoder/decoder.ts'

/** How the decoders of URL sources run here. */
export interface SourceIsolation {
  /** Each is isolated, or does not run. */
  readonly isolate: boolean
  /** May URLs be pulled at all? */
  readonly pulls: boolean
  /** What an operator should know of it; null: nothing. */
  readonly problem: string | null
}

/** SOURCE_ISOLATION; null: not set. */
export type IsolationSetting = 'required' | 'off' | null

const UNCONFINED = 'a decoder that its source takes over can read the files of the service and reach its network'

/** By the setting and why this machine cannot isolate a decoder; null: it can. */
export const decideIsolation = (setting: IsolationSetting, refusal: string | null): SourceIsolation => {
  if (setting === 'off')
    return { isolate: false, pulls: true, problem: `STENOLOG_SOURCE_ISOLATION is off: ${UNCONFINED}` }
  if (refusal === null) return { isolate: true, pulls: true, problem: null }
  const cannot = `this machine cannot isolate decoders (${refusal})`
  return setting === 'required'
    ? { isolate: true, pulls: false, problem: `${cannot}, and STENOLOG_SOURCE_ISOLATION is required: no URL is pulled` }
    : { isolate: false, pulls: true, problem: `${cannot}: ${UNCONFINED}` }
}

const SILENT_SAMPLES = 160

/** 10 ms of silence, as a WAV file. */
const silence = (): Buffer => {
  const format = '\x10\0\0\0\x01\0\x01\0\x80\x3e\0\0\0\x7d\0\0\x02\0\x10\0'
  const head = Buffer.from(`RIFF\0\0\0\0WAVEfmt ${format}data\0\0\0\0`, 'latin1')
  const sound = Buffer.alloc(SILENT_SAMPLES * 2)
  head.writeUInt32LE(head.length - 8 + sound.length, 4)
  head.writeUInt32LE(sound.length, head.length - 4)
  return Buffer.concat([head, sound])
}

/** Two starts of Node on a machine that has much else to do. */
const LONGEST_TRY_MS = 60_000

/** Null where an isolated decoder decodes within so many milliseconds, else why it does not. */
export const tryDecoder = async (longestMs = LONGEST_TRY_MS): Promise<string | null> => {
  let reason = 'an isolated decoder does not decode here'
  const decoder = startDecoder({
    isolate: true, stream: true, onRefused: (text) => { reason = text }, onAudio: async () => undefined,
  })
  // On a system whose refusals it does not get over it may hang, and the start of the service with it.
  const tooLong = setTimeout(() => {
    reason = `an isolated decoder did not decode within ${longestMs} ms`
    decoder.kill()
  }, longestMs)
  try {
    await decoder.feed(silence())
    await decoder.finish()
    return null
  } catch {
    return reason
  } finally {
    clearTimeout(tooLong)
  }
}

let tried: Promise<string | null> | undefined

/** Tries on this machine, once in a process, and never where the setting is off. */
export const examineIsolation = async (setting: IsolationSetting): Promise<SourceIsolation> =>
  decideIsolation(setting, setting === 'off' ? null : await (tried ??= tryDecoder()))
