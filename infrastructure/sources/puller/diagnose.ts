import type { AddressRules } from '../network/address-guard.ts'
import type { SourceIsolation } from '../source-isolation.ts'
import { type Decoder, startDecoder } from '../decoder/decoder.ts'
import type { TimedPcm } from '../decoder/timed-pcm.ts'
import { isStream, pullSource } from './pull-source.ts'
import { SourceError, sourceErrorOf } from '../source-error.ts'
import type { SourceSink, SourceStep } from '../source-kind.ts'

/** A step of the diagnosis, or a problem. */
export interface Finding {
  readonly step: SourceStep | 'container' | 'codec' | 'audio'
  readonly ok: boolean
  /** Contains no secrets, but possibly text from the server. */
  readonly detail: string
  /** Milliseconds after the start. */
  readonly after: number
}

export interface DiagnoseOptions {
  readonly url: string
  readonly rules: AddressRules
  readonly isolation: Pick<SourceIsolation, 'isolate' | 'pulls'>
  /** Seconds of audio to receive. */
  readonly seconds: number
  readonly report: (finding: Finding) => void
}

const LIMIT_MS = 30_000
const SAMPLE_RATE = 16_000
/** Peak of 32,768 below which the audio counts as silence. */
const SILENT_PEAK = 33

/** The step of each error code, and its explanation. */
const CAUSES: Readonly<Record<string, readonly [Finding['step'], string]>> = {
  unresolved: ['resolve', 'the host name has no address'],
  address_forbidden: [
    'check',
    'the address is not public, or belongs to a network of this machine. Allow its range in '
      + 'STENOLOG_AUDIO_URL_ALLOW_CIDRS',
  ],
  scheme_forbidden: ['check', 'the server redirects to a URL with a forbidden scheme'],
  unsupported: ['request', 'Stenolog does not support this source: unknown scheme or codec'],
  unsupported_transport: [
    'request', 'the server sends only over UDP or multicast. Switch on RTSP over TCP ("interleaved") in its settings',
  ],
  unreachable: ['connect', 'nothing accepts connections at this address and port'],
  timeout: ['connect', 'the server did not answer, or sent nothing for 10 s'],
  tls: [
    'connect',
    'the certificate is not trusted, or is for another name. NODE_EXTRA_CA_CERTS adds certificate authorities',
  ],
  closed: ['request', 'the server closed the connection'],
  stream_over: ['request', 'the server reports the end of the stream'],
  closed_after_audio: ['request', 'the server closed the connection after audio'],
  refused: ['request', 'the server refuses to play the stream. Check its name, and whether somebody is publishing it'],
  too_large: ['request', 'an answer exceeds the size limit'],
  too_many_redirects: ['request', 'more than three redirects'],
  bad_playlist: ['container', 'the playlist is invalid'],
  bad_answer: ['request', 'the answer violates the protocol'],
  encrypted: ['container', 'the stream uses an encryption that Stenolog does not support'],
  not_audio: ['container', 'the server sends no audio'],
  no_audio: ['container', 'the whole source contains no audio that can be decoded'],
  not_isolated: [
    'check',
    'STENOLOG_SOURCE_ISOLATION=required is set, but this machine cannot isolate a decoder. Run stenolog doctor',
  ],
  no_index: [
    'container',
    'the index of this MP4 file is after its audio. Either the server does not support range requests '
      + '(ffmpeg -movflags +faststart writes files that need no range requests), or the recording is incomplete',
  ],
}

const causeOf = (error: unknown): Pick<Finding, 'step' | 'detail'> => {
  const { code } = sourceErrorOf(error)
  const refusal = code.endsWith('_401') ? 'the server requires another user or password' : 'the server refuses'
  const [step, text] = CAUSES[code] ?? ['request', refusal]
  return { step, detail: `${code}: ${text}` }
}

const loudness = (peak: number): string =>
  peak < SILENT_PEAK ? 'only silence' : `peak at ${(20 * Math.log10(peak / 32_768)).toFixed(0)} dB`

/** Pulls a source for some seconds, as a session would, and reports each step. Returns whether it received audio. */
export const diagnoseSource = async (
  { url, rules, isolation, seconds, report }: DiagnoseOptions,
): Promise<boolean> => {
  const startedAt = performance.now()
  const done = new AbortController()
  const reported = new Set<string>()
  let decoder: Decoder | null = null
  let samples = 0
  let peak = 0

  const reportOnce = (step: Finding['step'], detail: string, ok = true): void => {
    // Each segment of a playlist repeats the same steps.
    if (reported.has(step + detail) || done.signal.aborted) return
    reported.add(step + detail)
    report({ step, ok, detail, after: Math.round(performance.now() - startedAt) })
  }

  const onFormat = (text: string): void => {
    const [container = '', codec = '', rate = '', channels = ''] = text.split(' ')
    reportOnce('container', container)
    reportOnce('codec', `${codec}, ${rate} Hz, ${channels} channel${channels === '1' ? '' : 's'}`)
  }

  const received = (): string => `${(samples / SAMPLE_RATE).toFixed(1)} s of audio`

  const onDamaged = (at: number): void =>
    reportOnce('audio', `the audio at ${at.toFixed(1)} s could not be decoded and is left out`, false)

  const onAudio = async ({ pcm }: TimedPcm): Promise<void> => {
    if (pcm.length === 0) return
    if (samples === 0) reportOnce('audio', 'received the first audio')
    for (let at = 0; at + 1 < pcm.length; at += 2) peak = Math.max(peak, Math.abs(pcm.readInt16LE(at)))
    samples += pcm.length / 2
    if (samples < seconds * SAMPLE_RATE) return
    reportOnce('audio', `${received()}, ${loudness(peak)}`)
    done.abort()
  }

  const sink: SourceSink = {
    bytes: async (bytes) => {
      decoder ??= startDecoder({ isolate: isolation.isolate, stream: isStream(url), onFormat, onDamaged, onAudio })
      await decoder.feed(bytes)
    },
    stretchEnds: async () => {
      const finishing = decoder
      decoder = null
      await finishing?.finish()
    },
    segment: () => undefined,
    awaitAudio: () => undefined,
    targetDuration: (target) => reportOnce('request', `segments of at most ${target} s`),
  }

  const timeout = setTimeout(() => {
    reportOnce('audio', `received ${received()} in ${LIMIT_MS / 1000} s, expected ${seconds} s`, false)
    done.abort()
  }, LIMIT_MS)
  // A decoder may be waiting for more bytes.
  done.signal.addEventListener('abort', () => void decoder?.kill(), { once: true })
  try {
    if (!isolation.pulls) throw new SourceError('not_isolated')
    await pullSource({ url, after: null, rules, note: reportOnce }, sink, done.signal)
    await sink.stretchEnds()
    if (samples === 0) throw new SourceError('no_audio')
    reportOnce('audio', `${received()}, then the source ended, ${loudness(peak)}`)
  } catch (error) {
    await sink.stretchEnds().catch(() => undefined)
    if (!done.signal.aborted) {
      const { step, detail } = causeOf(error)
      reportOnce(step, detail, false)
      return false
    }
  } finally {
    clearTimeout(timeout)
    done.abort()
  }
  return samples > 0
}
