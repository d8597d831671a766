import { AV_CHANNEL_ORDER_NATIVE, AV_SAMPLE_FMT_FLT } from 'node-av/constants'
import { type Frame, SoftwareResampleContext } from 'node-av/lib'
import { SAMPLE_RATE } from '../../../application/ports/engine.ts'
import { mixChannels, startMix, weightsOf } from '../../../domain/audio/mix-channels.ts'
import { checked } from './input.ts'

/** Separates the channels of samples that take turns. */
const channelsOf = (samples: Float32Array, channels: number): ReadonlyArray<Float32Array> =>
  Array.from({ length: channels }, (_, channel) => {
    const separate = new Float32Array(samples.length / channels)
    for (let at = 0; at < separate.length; at += 1) separate[at] = samples[at * channels + channel] ?? 0
    return separate
  })

/** Rounds samples from -1 to 1 to 16 bits. */
const pcmOf = (samples: Float32Array): Buffer => {
  const pcm = new Int16Array(samples.length)
  for (const [index, sample] of samples.entries())
    pcm[index] = Math.max(-32_768, Math.min(32_767, Math.round(sample * 32_768)))
  return Buffer.from(pcm.buffer)
}

/** Converts the channels of one kind of frames, each for itself, and mixes them to one. */
const createConverter = ({ channelLayout: { nbChannels, order, mask }, sampleRate, format }: Frame) => {
  const context = new SoftwareResampleContext()
  // The same layout on both sides, so FFmpeg mixes nothing. Any layout with enough channels will do.
  const channels = { nbChannels, order: AV_CHANNEL_ORDER_NATIVE, mask: (1n << BigInt(nbChannels)) - 1n }
  // The format of an audio frame is always a sample format.
  const sampleFormat = format as Parameters<typeof context.allocSetOpts2>[4]
  checked(context.allocSetOpts2(channels, AV_SAMPLE_FMT_FLT, SAMPLE_RATE, channels, sampleFormat, sampleRate))
  checked(context.init())
  let mix = startMix(weightsOf(nbChannels, order === AV_CHANNEL_ORDER_NATIVE ? mask : 0n), SAMPLE_RATE)

  return {
    convert: async (input: Array<Buffer> | null, samples: number): Promise<Buffer> => {
      const room = Math.max(1, context.getOutSamples(samples))
      const output = new Float32Array(room * nbChannels)
      const converted = checked(await context.convert([Buffer.from(output.buffer)], room, input, samples))
      const mixed = mixChannels(mix, channelsOf(output.subarray(0, converted * nbChannels), nbChannels))
      mix = mixed.mix
      return pcmOf(mixed.samples)
    },
    free: (): void => context.free(),
  }
}

/** Creates a converter from any rate, format and number of channels to s16le 16 kHz mono. */
export const createResampler = () => {
  let converter: ReturnType<typeof createConverter> | null = null
  let shape = ''

  return {
    convert: async (frame: Frame): Promise<Buffer> => {
      const { channelLayout: { nbChannels, mask }, sampleRate, format, nbSamples } = frame
      const frameShape = `${sampleRate}/${format}/${nbChannels}/${mask}`
      if (converter === null || frameShape !== shape) {
        converter?.free()
        converter = createConverter(frame)
        shape = frameShape
      }
      return converter.convert(frame.extendedData ?? frame.data, nbSamples)
    },
    rest: async (): Promise<Buffer> => (converter === null ? Buffer.alloc(0) : converter.convert(null, 0)),
  }
}
