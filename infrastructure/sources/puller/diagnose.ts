import type { AddressRules } from '../network/address-guard.ts'
import type { SourceIsolation } from '../source-isolation.ts'
import { startDecoder } from '../decoder/decoder.ts'
import type { Decoder } from '../decoder/decoder.ts'
import type { TimedPcm } from '../decoder/timed-pcm.ts'
import { isStream, pullSource } from './pull-source.ts'
import { SourceError, sourceErrorOf } from '../source-error.ts'
import type { SourceSink, SourceStep } from '../source-kind.ts'

/** One thing that was done to hear a source, or what went wrong. */
export interface Finding {
  readonly step: SourceStep | 'container' | 'codec' | 'audio'
  readonly ok: boolean
  /** Holds no secret, but text that a server may have chosen. */
  readonly detail: string
  /** Milliseconds since the beginning. */
  readonly after: number
}

export interface DiagnoseOptions {
  readonly url: string
  readonly rules: AddressRules
  readonly isolation: Pick<SourceIsolation, 'isolate' | 'pulls'>
  /** Seconds of audio to hear. */
  readonly seconds: number
  readonly tell: (finding: Finding) => void
}

/** How long a source may take until it is heard, ms. */
const LIMIT = 30_000
const RATE = 16_000
/** Of 32,768. */
const QUIET = 33

/** Where each failure happened, and what may help. */
const CAUSES: Readonly<Record<string, readonly [Finding['step'], string]>> = {
  unresolved: ['resolve', 'the name has no address'],
  address_forbidden: [
    'check',
    'the address, or one of the name’s, is not a public one outside our own networks; STENOLOG_AUDIO_URL_ALLOW_CIDRS opens ranges',
  ],
  scheme_forbidden: ['check', 'the server sends us to a URL of a scheme that is not allowed there'],
  unsupported: ['ask', 'this is not a source that Stenolog can read: another scheme, transport or RTP format'],
  unreachable: ['connect', 'nothing accepts connections there'],
  timeout: ['connect', 'the server did not answer or fell silent for 10 s'],
  tls: ['connect', 'the certificate is not trusted or not for this name; NODE_EXTRA_CA_CERTS names further authorities'],
  closed: ['ask', 'the server closed the connection'],
  stream_over: ['ask', 'the server says that the stream is over'],
  refused: ['ask', 'the server does not give out this stream; is its name right, and is somebody publishing it?'],
  too_large: ['ask', 'an answer is larger than any that Stenolog takes'],
  too_many_redirects: ['ask', 'more than three redirects'],
  bad_playlist: ['container', 'the playlist cannot be read'],
  bad_answer: ['ask', 'the answer does not follow the protocol'],
  encrypted: ['container', 'the playlist wants a decryption that Stenolog does not have'],
  not_audio: ['container', 'no audio was found in what the server sends'],
  not_isolated: [
    'check',
    'STENOLOG_SOURCE_ISOLATION is required and this machine cannot isolate a decoder; stenolog doctor says why',
  ],
  no_index: [
    'container',
    'the index of this MP4 file is not before its sound: either its server answers no range requests (ffmpeg -movflags +faststart writes files that need none), or the recording was cut off',
  ],
}

const causeOf = (error: unknown): Pick<Finding, 'step' | 'detail'> => {
  const { code } = sourceErrorOf(error)
  const [step, text] = CAUSES[code] ?? ['ask', code.endsWith('_401') ? 'the server wants a user and a password, or others' : 'the server refuses']
  return { step, detail: `${code}: ${text}` }
}

const loudness = (peak: number): string => (peak < QUIET ? 'nothing but silence in it' : `peak at ${(20 * Math.log10(peak / 32_768)).toFixed(0)} dB`)

/** Pulls a source for some seconds as a live would, telling each step; true when it was heard. */
export const diagnoseSource = async ({ url, rules, isolation, seconds, tell }: DiagnoseOptions): Promise<boolean> => {
  const began = performance.now()
  const enough = new AbortController()
  const told = new Set<string>()
  let decoder: Decoder | null = null
  let [samples, peak] = [0, 0]

  const say = (step: Finding['step'], detail: string, ok = true): void => {
    // Every segment of a playlist is asked for in the same way.
    if (told.has(step + detail) || enough.signal.aborted) return
    told.add(step + detail)
    tell({ step, ok, detail, after: Math.round(performance.now() - began) })
  }

  const onFormat = (text: string): void => {
    const [container = '', codec = '', rate = '', channels = ''] = text.split(' ')
    say('container', container)
    say('codec', `${codec}, ${rate} Hz, ${channels} channel${channels === '1' ? '' : 's'}`)
  }

  const onAudio = async ({ pcm }: TimedPcm): Promise<void> => {
    if (samples === 0) say('audio', 'the first audio is here')
    for (let at = 0; at + 1 < pcm.length; at += 2) peak = Math.max(peak, Math.abs(pcm.readInt16LE(at)))
    samples += pcm.length / 2
    if (samples < seconds * RATE) return
    say('audio', `${(samples / RATE).toFixed(1)} s of audio, ${loudness(peak)}`)
    enough.abort()
  }

  const sink: SourceSink = {
    bytes: async (bytes) => {
      decoder ??= startDecoder({ isolate: isolation.isolate, stream: isStream(url), onFormat, onAudio })
      await decoder.feed(bytes)
    },
    stretchEnds: async () => {
      const finishing = decoder
      decoder = null
      await finishing?.finish()
    },
    segment: () => undefined,
    targetDuration: (target) => say('ask', `segments of at most ${target} s`),
  }

  const tooLong = setTimeout(() => {
    say('audio', `no ${seconds} s of audio in ${LIMIT / 1000} s`, false)
    enough.abort()
  }, LIMIT)
  // Where the end of the audio was waited for, a decoder may be waiting as well.
  enough.signal.addEventListener('abort', () => decoder?.kill(), { once: true })
  try {
    if (!isolation.pulls) throw new SourceError('not_isolated')
    await pullSource({ url, after: null, rules, note: say }, sink, enough.signal)
    await sink.stretchEnds()
    if (samples === 0) throw new SourceError('not_audio')
    say('audio', `${(samples / RATE).toFixed(1)} s of audio, then the source was over, ${loudness(peak)}`)
  } catch (error) {
    await sink.stretchEnds().catch(() => undefined)
    if (!enough.signal.aborted) {
      const { step, detail } = causeOf(error)
      say(step, detail, false)
      return false
    }
  } finally {
    clearTimeout(tooLong)
    enough.abort()
  }
  return samples > 0
}
