import { mixChannels, startMix, weightsOf } from '../../../domain/audio/mix-channels.ts'
import { CHUNK_SAMPLES, SAMPLE_RATE, toPcm } from './pcm.ts'
import { type AudioFeed, FileTooLong } from './source.ts'

/** Longer files are refused, because the page holds the whole decoded file in memory. */
export const MAX_FILE_SECONDS = 30 * 60

/** Decodes a file to samples at 16 kHz. Rejects when the browser cannot read the format. */
const decode = async (bytes: ArrayBuffer): Promise<AudioBuffer> =>
  new OfflineAudioContext(1, 1, SAMPLE_RATE).decodeAudioData(bytes)

/** Samples that are mixed at once: 20 ms. */
const BLOCK_SAMPLES = SAMPLE_RATE / 50

const mixToMono = (buffer: AudioBuffer): Float32Array => {
  const channels = Array.from({ length: buffer.numberOfChannels }, (_, channel) => buffer.getChannelData(channel))
  const out = new Float32Array(buffer.length)
  let mix = startMix(weightsOf(channels.length, 0n), SAMPLE_RATE)
  for (let at = 0; at < out.length; at += BLOCK_SAMPLES) {
    const mixed = mixChannels(mix, channels.map((samples) => samples.subarray(at, at + BLOCK_SAMPLES)))
    mix = mixed.mix
    out.set(mixed.samples, at)
  }
  return out
}

interface Playback {
  /** True: plays aloud in real time. False: sends without sound, as fast as possible. */
  readonly inRealTime: boolean
  /** False while too much sent audio waits in the socket. */
  readonly canSend: () => boolean
}

/**
 * Opens a recording that is sent like live audio. Rejects with FileTooLong, or when the browser cannot read the file.
 */
export const openRecording = async (bytes: ArrayBuffer, { inRealTime, canSend }: Playback): Promise<AudioFeed> => {
  const buffer = await decode(bytes)
  if (buffer.duration > MAX_FILE_SECONDS) throw new FileTooLong()
  const samples = toPcm(mixToMono(buffer))
  const context = inRealTime ? new AudioContext() : null
  const volume = context?.createGain()
  const playing = context?.createBufferSource()
  let timer: ReturnType<typeof setTimeout> | undefined
  let position = 0
  return {
    begin: (onSamples, onEnd) => {
      if (context && volume && playing) {
        playing.buffer = buffer
        playing.connect(volume).connect(context.destination)
        playing.start()
      }
      const startedAt = performance.now()
      const step = (): void => {
        const dueSamples = inRealTime
          ? ((performance.now() - startedAt) / 1000) * SAMPLE_RATE
          : Number.POSITIVE_INFINITY
        while (position < samples.length && position + CHUNK_SAMPLES <= dueSamples && canSend()) {
          onSamples(samples.slice(position, position + CHUNK_SAMPLES))
          position += CHUNK_SAMPLES
        }
        const hasFullChunk = position + CHUNK_SAMPLES <= samples.length
        if (position < samples.length && (hasFullChunk || dueSamples < samples.length)) {
          timer = setTimeout(step, 50)
          return
        }
        if (position < samples.length) onSamples(samples.slice(position))
        onEnd('over')
      }
      step()
    },
    stop: () => {
      clearTimeout(timer)
      if (context !== null && context.state !== 'closed') void context.close()
    },
    mute: (isMuted) => {
      if (volume) volume.gain.value = isMuted ? 0 : 1
    },
  }
}
