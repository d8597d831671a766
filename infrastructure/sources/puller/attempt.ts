import { SAMPLE_RATE } from '../../../application/ports/engine.ts'
import type { Continuity, PullEnd } from '../../../application/ports/audio-source.ts'
import { type Decoder, type DecoderOptions, startDecoder } from '../decoder/decoder.ts'
import { createFileStart } from '../decoder/file-start.ts'
import { audioFrame, messageFrame, type PullCommand } from './puller-messages.ts'
import { isStream, pullSource } from './pull-source.ts'
import { SourceError, type SourceErrorCode, sourceErrorOf } from '../source-error.ts'
import type { SourceSink } from '../source-kind.ts'

const SAMPLE_BYTES = 2

/** The continuity of a stretch when the source does not say anything about it. */
const UNKNOWN_CONTINUITY: Continuity = { lost: null, newClock: false }

/** Regular ends of streams that may come back. */
const INTERRUPTIONS: ReadonlySet<string> = new Set<SourceErrorCode>(['stream_over', 'closed_after_audio'])

/** An HLS segment that the decoder has received. `end`: its end in samples of the stretch. */
interface FedSegment {
  readonly mediaSequence: number
  readonly end: number
}

/** Decoders that may fail one after the other before any audio. */
const MAX_FAILURES_WITHOUT_AUDIO = 3

/**
 * Feeds a source to decoders, one for each stretch (a continuous part of the source). After the audio of an HLS segment
 * it reports that the segment was delivered. While a decoder runs, these reports rely on the durations in the playlist.
 * When the decoder has finished, they are exact. HLS goes on behind a segment that cannot be decoded, which counts as
 * lost; every other source fails.
 */
const createFeeder = (
  send: (frame: Buffer) => Promise<void>,
  kind: Pick<DecoderOptions, 'isolate' | 'stream'>,
  hadAudio: boolean,
) => {
  let decoder: Decoder | null = null
  /** A decoder that starts while the source is being contacted, to save time. */
  let spare: Decoder | null = null
  /** Includes decoders that deliver their last audio. */
  const running = new Set<Decoder>()
  let isUp = false
  let isPlaylist = false
  let fed: Array<FedSegment> = []
  let continuity: Continuity = UNKNOWN_CONTINUITY
  let samples = 0
  let length = 0
  /** The decoder has failed: `segment` while the rest of its segment arrives, `stretch` after it. */
  let failed: 'segment' | 'stretch' | null = null
  let failures = 0
  /** Seconds that were lost before the next audio, because they could not be decoded. */
  let undecoded = 0
  let [hasBytes, hasAudio] = [false, hadAudio]

  const reportDelivered = async (until: number): Promise<void> => {
    const delivered = fed.findLast(({ end }) => end <= until)
    if (delivered === undefined) return
    fed = fed.filter(({ end }) => end > until)
    await send(messageFrame({ kind: 'delivered', mediaSequence: delivered.mediaSequence }))
  }

  const start = (): Decoder => {
    const fromStart = createFileStart()
    const isFile = (): boolean => !isPlaylist && !kind.stream
    const started = startDecoder({
      ...kind,
      onDamaged: (seconds) => void send(messageFrame({ kind: 'damaged', seconds })),
      onAudio: async (audio) => {
        for (const piece of isFile() ? fromStart(audio) : [audio]) {
          if (piece.pcm.length === 0) continue
          await send(audioFrame(piece))
          samples += piece.pcm.length / SAMPLE_BYTES
        }
        if (samples > 0) [hasAudio, undecoded, failures] = [true, 0, 0]
        await reportDelivered(samples)
      },
    })
    running.add(started)
    void started.ended.then(() => running.delete(started))
    return started
  }

  /** Counts the rest of a stretch as lost. Throws the error again where the source cannot go on. */
  const lose = async (error: unknown, rest: 'segment' | 'stretch'): Promise<void> => {
    if (!isPlaylist || sourceErrorOf(error).code !== 'not_audio') throw error
    failures += 1
    if (!hasAudio && failures >= MAX_FAILURES_WITHOUT_AUDIO) throw new SourceError('no_audio')
    await decoder?.delivered
    decoder = null
    failed = rest
    await send(messageFrame({ kind: 'damaged', seconds: samples / SAMPLE_RATE }))
  }

  const sink: SourceSink = {
    bytes: async (bytes) => {
      hasBytes = true
      if (failed === 'segment') return
      if (failed === 'stretch') await sink.stretchEnds()
      if (decoder === null) {
        decoder = spare ?? start()
        spare = null
        const lost = undecoded === 0 ? continuity.lost : (continuity.lost ?? 0) + undecoded
        await send(messageFrame({ kind: 'stretch', continuity: { ...continuity, lost } }))
      }
      await decoder.feed(bytes).catch((error: unknown) => lose(error, 'segment'))
    },
    stretchEnds: async (next = UNKNOWN_CONTINUITY) => {
      const finishing = decoder
      decoder = null
      await finishing?.finish().catch((error: unknown) => lose(error, 'stretch'))
      if (failed !== null) {
        undecoded += Math.max(0, length - samples) / SAMPLE_RATE + (samples === 0 ? (continuity.lost ?? 0) : 0)
        failed = null
      }
      await reportDelivered(Infinity)
      continuity = next
      samples = 0
      length = 0
    },
    segment: (mediaSequence, seconds) => {
      length += Math.round(seconds * SAMPLE_RATE)
      fed.push({ mediaSequence, end: length })
      if (failed === 'segment') failed = 'stretch'
    },
    targetDuration: (seconds) => {
      isPlaylist = true
      void send(messageFrame({ kind: 'target', seconds }))
    },
    // A decoder that still starts has more time, and reports when it is up.
    awaitAudio: () => { if (isUp) void send(messageFrame({ kind: 'began' })) },
  }
  return {
    sink,
    /** Ends the last stretch of a source. Throws `no_audio` when its bytes contained no audio. */
    finish: async () => {
      const problem = await sink.stretchEnds().then(() => null, sourceErrorOf)
      if (hasBytes && !hasAudio && (problem === null || problem.code === 'not_audio')) throw new SourceError('no_audio')
      if (problem !== null) throw problem
    },
    prepare: async () => {
      spare = start()
      await spare.up
      isUp = true
      await send(messageFrame({ kind: 'began' }))
    },
    /** Ends a decoder that was started but not used. */
    killSpare: () => {
      void spare?.kill()
      spare = null
    },
    kill: async () => {
      while (running.size > 0) await Promise.all([...running].map((each) => each.kill()))
    },
  }
}

export interface Attempt {
  /** Resolves at the end of the attempt, when all received audio is delivered. Never rejects. */
  readonly done: Promise<PullEnd>
  /** Resolves when no decoder is left. */
  readonly kill: () => Promise<void>
}

/** What earlier attempts of the same source found. */
export interface Past {
  readonly hadAudio: boolean
  /** The last attempt with audio ended without an announced end. */
  readonly brokeOff: boolean
}

/** Pulls a source once. */
export const startAttempt = (
  command: PullCommand,
  send: (frame: Buffer) => Promise<void>,
  { hadAudio, brokeOff }: Past = { hadAudio: false, brokeOff: false },
): Attempt => {
  const feeder = createFeeder(send, { isolate: command.isolate, stream: isStream(command.url) }, hadAudio)
  const stop = new AbortController()
  let isPublic = true
  const onPrivate = (): void => { isPublic = false }

  const run = async (): Promise<PullEnd> => {
    void feeder.prepare()
    try {
      const { url, mediaSequence: after, language, rules } = command
      await pullSource({ url, after, language: language ?? null, rules, brokeOff, onPrivate }, feeder.sink, stop.signal)
      await feeder.finish()
      return { kind: 'complete' }
    } catch (error) {
      const problem = await feeder.finish().then(() => null, sourceErrorOf)
      const { code, retry } = sourceErrorOf(error)
      if (!INTERRUPTIONS.has(code)) return { kind: 'failed', code, retry, isPublic }
      // A stream of which nothing could be decoded has not ended regularly. What comes back may be better.
      if (problem?.code === 'no_audio') return { kind: 'failed', code: problem.code, retry: true, isPublic }
      return { kind: 'interrupted', code }
    } finally {
      feeder.killSpare()
    }
  }

  return {
    done: run(),
    kill: () => {
      stop.abort()
      return feeder.kill()
    },
  }
}
