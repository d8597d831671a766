import { startDecoder } from './decoder/decoder.ts'

/** How the decoders of URL sources run in this process. */
export interface SourceIsolation {
  /** Whether decoders run only in isolation. */
  readonly isolate: boolean
  /** Whether URL sources are pulled at all. */
  readonly pulls: boolean
  /** A warning for operators, or null. */
  readonly problem: string | null
}

/** SOURCE_ISOLATION; null: not set. */
export type IsolationSetting = 'required' | 'off' | null

const RISK = 'a malicious source could read the files of the service and use its network'

/** Decides by the setting. `refusal`: why this machine cannot isolate a decoder; null: it can. */
export const decideIsolation = (setting: IsolationSetting, refusal: string | null): SourceIsolation => {
  if (setting === 'off')
    return { isolate: false, pulls: true, problem: `STENOLOG_SOURCE_ISOLATION is off: ${RISK}` }
  if (refusal === null) return { isolate: true, pulls: true, problem: null }
  const cannot = `this machine cannot isolate decoders (${refusal})`
  return setting === 'required'
    ? { isolate: true, pulls: false, problem: `${cannot}; STENOLOG_SOURCE_ISOLATION=required is set: audio URLs fail` }
    : { isolate: false, pulls: true, problem: `${cannot}: ${RISK}` }
}

const SILENT_SAMPLES = 160

/** A WAV file with 10 ms of silence. */
const silence = (): Buffer => {
  const format = '\x10\0\0\0\x01\0\x01\0\x80\x3e\0\0\0\x7d\0\0\x02\0\x10\0'
  const head = Buffer.from(`RIFF\0\0\0\0WAVEfmt ${format}data\0\0\0\0`, 'latin1')
  const sound = Buffer.alloc(SILENT_SAMPLES * 2)
  head.writeUInt32LE(head.length - 8 + sound.length, 4)
  head.writeUInt32LE(sound.length, head.length - 4)
  return Buffer.concat([head, sound])
}

/** Enough for two starts of Node on a busy machine. */
const MAX_TRY_MS = 60_000

/** Runs an isolated decoder on a short file. Returns null if it works within `maxMs` milliseconds, else the reason. */
export const tryDecoder = async (maxMs = MAX_TRY_MS): Promise<string | null> => {
  let reason = 'an isolated decoder does not work on this machine'
  const decoder = startDecoder({
    isolate: true, stream: true, onRefused: (text) => { reason = text }, onAudio: async () => undefined,
  })
  // A refused system call may make the decoder hang, which must not block the start of the service.
  const timeout = setTimeout(() => {
    reason = `an isolated decoder did not decode within ${maxMs} ms`
    void decoder.kill()
  }, maxMs)
  try {
    await decoder.feed(silence())
    await decoder.finish()
    return null
  } catch {
    return reason
  } finally {
    clearTimeout(timeout)
  }
}

let trial: Promise<string | null> | undefined

/** Tries isolation on this machine, once in each process, and decides. With the setting `off` it does not try. */
export const examineIsolation = async (setting: IsolationSetting): Promise<SourceIsolation> =>
  decideIsolation(setting, setting === 'off' ? null : await (trial ??= tryDecoder()))
