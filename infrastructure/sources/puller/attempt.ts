import { SAMPLE_RATE } from '../../../application/ports/engine.ts'
import type { Continuity, PullEnd } from '../../../application/ports/audio-source.ts'
import { startDecoder } from '../decoder/decoder.ts'
import type { Decoder, DecoderOptions } from '../decoder/decoder.ts'
import { audioFrame, messageFrame } from './puller-messages.ts'
import type { PullCommand } from './puller-messages.ts'
import { isStream, pullSource } from './pull-source.ts'
import { sourceErrorOf } from '../source-error.ts'
import type { SourceSink } from '../source-kind.ts'

/** Bytes of one sample. */
const SAMPLE = 2

/** Of a stretch that nobody says anything of: perhaps its clock is the one before. */
const UNTOLD: Continuity = { lost: null, newClock: false }

/** A segment in the decoder; `end` in samples of the stretch. */
interface Fed {
  readonly mediaSequence: number
  readonly end: number
}

/**
 * Feeds a source to one decoder after another and tells, behind its audio, which HLS segment was heard: while a decoder
 * runs, by the lengths that the playlist gives; exactly when it has finished.
 */
const createFeeder = (send: (frame: Buffer) => Promise<void>, kind: Pick<DecoderOptions, 'isolate' | 'stream'>) => {
  let decoder: Decoder | null = null
  /** Started ahead, while the source is being reached. */
  let spare: Decoder | null = null
  let fed: Array<Fed> = []
  let continuity: Continuity = UNTOLD
  let [samples, length] = [0, 0]

  const tellHeard = async (until: number): Promise<void> => {
    const heard = fed.findLast(({ end }) => end <= until)
    if (heard === undefined) return
    fed = fed.filter(({ end }) => end > until)
    await send(messageFrame({ kind: 'heard', mediaSequence: heard.mediaSequence }))
  }

  const begin = (): Decoder =>
    startDecoder({
      ...kind,
      onAudio: async (audio) => {
        await send(audioFrame(audio))
        samples += audio.pcm.length / SAMPLE
        await tellHeard(samples)
      },
    })

  const sink: SourceSink = {
    bytes: async (bytes) => {
      if (decoder === null) {
        decoder = spare ?? begin()
        spare = null
        await send(messageFrame({ kind: 'stretch', continuity }))
      }
      await decoder.feed(bytes)
    },
    stretchEnds: async (next = UNTOLD) => {
      continuity = next
      const finishing = decoder
      decoder = null
      await finishing?.finish()
      await tellHeard(Infinity)
      samples = 0
      length = 0
    },
    segment: (mediaSequence, seconds) => {
      length += Math.round(seconds * SAMPLE_RATE)
      fed.push({ mediaSequence, end: length })
    },
    targetDuration: (seconds) => void send(messageFrame({ kind: 'target', seconds })),
  }
  return {
    sink,
    prepare: async () => {
      spare = begin()
      await spare.up
      await send(messageFrame({ kind: 'began' }))
    },
    /** What is no longer needed. */
    dismiss: () => {
      spare?.kill()
      spare = null
    },
    kill: () => {
      spare?.kill()
      decoder?.kill()
    },
  }
}

export interface Attempt {
  /** Never rejects; what came to the decoder before a failure has been delivered. */
  readonly done: Promise<PullEnd>
  readonly kill: () => void
}

/** Pulls a source once; `brokeOff`: the last attempt that was heard ended without a word. */
export const startAttempt = (command: PullCommand, send: (frame: Buffer) => Promise<void>, brokeOff = false): Attempt => {
  const feeder = createFeeder(send, { isolate: command.isolate, stream: isStream(command.url) })
  const stop = new AbortController()

  const run = async (): Promise<PullEnd> => {
    void feeder.prepare()
    try {
      await pullSource({ url: command.url, after: command.mediaSequence, rules: command.rules, brokeOff }, feeder.sink, stop.signal)
      await feeder.sink.stretchEnds()
      return { kind: 'complete' }
    } catch (error) {
      await feeder.sink.stretchEnds().catch(() => undefined)
      const { code, retry } = sourceErrorOf(error)
      return code === 'stream_over' ? { kind: 'interrupted' } : { kind: 'failed', code, retry }
    } finally {
      feeder.dismiss()
    }
  }

  return {
    done: run(),
    kill: () => {
      stop.abort()
      feeder.kill()
    },
  }
}
