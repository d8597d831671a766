import { SAMPLE_RATE } from '../../../application/ports/engine.ts'
import type { Continuity, PullEnd } from '../../../application/ports/audio-source.ts'
import { type Decoder, type DecoderOptions, startDecoder } from '../decoder/decoder.ts'
import { audioFrame, messageFrame, type PullCommand } from './puller-messages.ts'
import { isStream, pullSource } from './pull-source.ts'
import { type SourceErrorCode, sourceErrorOf } from '../source-error.ts'
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

/**
 * Feeds a source to decoders, one for each stretch (a continuous part of the source). After the audio of an HLS segment
 * it reports that the segment was delivered. While a decoder runs, these reports rely on the durations in the playlist.
 * When the decoder has finished, they are exact.
 */
const createFeeder = (send: (frame: Buffer) => Promise<void>, kind: Pick<DecoderOptions, 'isolate' | 'stream'>) => {
  let decoder: Decoder | null = null
  /** A decoder that starts while the source is being contacted, to save time. */
  let spare: Decoder | null = null
  /** Includes decoders that deliver their last audio. */
  const running = new Set<Decoder>()
  let fed: Array<FedSegment> = []
  let continuity: Continuity = UNKNOWN_CONTINUITY
  let samples = 0
  let length = 0

  const reportDelivered = async (until: number): Promise<void> => {
    const delivered = fed.findLast(({ end }) => end <= until)
    if (delivered === undefined) return
    fed = fed.filter(({ end }) => end > until)
    await send(messageFrame({ kind: 'delivered', mediaSequence: delivered.mediaSequence }))
  }

  const start = (): Decoder => {
    const started = startDecoder({
      ...kind,
      onAudio: async (audio) => {
        await send(audioFrame(audio))
        samples += audio.pcm.length / SAMPLE_BYTES
        await reportDelivered(samples)
      },
    })
    running.add(started)
    void started.ended.then(() => running.delete(started))
    return started
  }

  const sink: SourceSink = {
    bytes: async (bytes) => {
      if (decoder === null) {
        decoder = spare ?? start()
        spare = null
        await send(messageFrame({ kind: 'stretch', continuity }))
      }
      await decoder.feed(bytes)
    },
    stretchEnds: async (next = UNKNOWN_CONTINUITY) => {
      continuity = next
      const finishing = decoder
      decoder = null
      await finishing?.finish()
      await reportDelivered(Infinity)
      samples = 0
      length = 0
    },
    segment: (mediaSequence, seconds) => {
      length += Math.round(seconds * SAMPLE_RATE)
      fed.push({ mediaSequence, end: length })
    },
    targetDuration: (seconds) => void send(messageFrame({ kind: 'target', seconds })),
    awaitAudio: () => void send(messageFrame({ kind: 'began' })),
  }
  return {
    sink,
    prepare: async () => {
      spare = start()
      await spare.up
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

/** Pulls a source once. `brokeOff`: the last attempt with audio ended without an announced end. */
export const startAttempt = (
  command: PullCommand,
  send: (frame: Buffer) => Promise<void>,
  brokeOff = false,
): Attempt => {
  const feeder = createFeeder(send, { isolate: command.isolate, stream: isStream(command.url) })
  const stop = new AbortController()
  let isPublic = true
  const onPrivate = (): void => { isPublic = false }

  const run = async (): Promise<PullEnd> => {
    void feeder.prepare()
    try {
      const { url, mediaSequence: after, language, rules } = command
      await pullSource({ url, after, language: language ?? null, rules, brokeOff, onPrivate }, feeder.sink, stop.signal)
      await feeder.sink.stretchEnds()
      return { kind: 'complete' }
    } catch (error) {
      await feeder.sink.stretchEnds().catch(() => undefined)
      const { code, retry } = sourceErrorOf(error)
      return INTERRUPTIONS.has(code) ? { kind: 'interrupted', code } : { kind: 'failed', code, retry, isPublic }
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
