import { CHUNK, RATE, toPcm } from './pcm.ts'
import { TooLong } from './source.ts'
import type { AudioFeed } from './source.ts'

/** Seconds of the longest file that the console takes: it is held in memory as a whole. */
export const LONGEST_FILE = 30 * 60

/** A file of any format that the browser reads, as samples at 16 kHz. Rejects where it reads none. */
const decoded = async (bytes: ArrayBuffer): Promise<AudioBuffer> =>
  new OfflineAudioContext(1, 1, RATE).decodeAudioData(bytes)

const mixed = (buffer: AudioBuffer): Float32Array => {
  const out = new Float32Array(buffer.length)
  for (let channel = 0; channel < buffer.numberOfChannels; channel += 1)
    buffer.getChannelData(channel).forEach((sample, i) => (out[i] = (out[i] ?? 0) + sample / buffer.numberOfChannels))
  return out
}

interface Playing {
  /** Aloud and as fast as it was spoken; otherwise without a sound and as fast as it is taken. */
  readonly inRealTime: boolean
  /** False while what was sent has not left yet. */
  readonly mayGoOn: () => boolean
}

/** A recording that is sent as if it were spoken now. */
export const openRecording = async (bytes: ArrayBuffer, { inRealTime, mayGoOn }: Playing): Promise<AudioFeed> => {
  const buffer = await decoded(bytes)
  if (buffer.duration > LONGEST_FILE) throw new TooLong()
  const samples = toPcm(mixed(buffer))
  const context = inRealTime ? new AudioContext() : null
  const volume = context?.createGain()
  const playing = context?.createBufferSource()
  let timer: ReturnType<typeof setTimeout> | undefined
  let at = 0
  return {
    begin: (take, ended) => {
      if (context && volume && playing) {
        playing.buffer = buffer
        playing.connect(volume).connect(context.destination)
        playing.start()
      }
      const since = performance.now()
      const step = (): void => {
        const due = inRealTime ? ((performance.now() - since) / 1000) * RATE : Number.POSITIVE_INFINITY
        for (; at < samples.length && at + CHUNK <= due && mayGoOn(); at += CHUNK) take(samples.slice(at, at + CHUNK))
        if (at < samples.length && (at + CHUNK <= samples.length || due < samples.length)) {
          timer = setTimeout(step, 50)
          return
        }
        if (at < samples.length) take(samples.slice(at))
        ended('over')
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
