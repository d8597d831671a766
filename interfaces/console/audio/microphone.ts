import { fileAddress } from '../state/address.ts'
import { createChunks, RATE, toPcm } from './pcm.ts'
import { createResampler } from './resampler.ts'
import type { AudioFeed } from './source.ts'

/**
 * Asks for a microphone and listens at its own rate: not every browser has it at 16 kHz. Rejects with the browser's
 * DOMException.
 */
export const openMicrophone = async (deviceId: string, reduceNoise: boolean): Promise<AudioFeed> => {
  // Browsers have microphones for pages of https and localhost alone.
  if (navigator.mediaDevices === undefined) throw new DOMException('', 'InsecureContext')
  const context = new AudioContext()
  // First of all, so that no word is lost once the microphone is there.
  await context.audioWorklet.addModule(fileAddress('console/audio/capture-worklet.ts'))
  const stream = await navigator.mediaDevices.getUserMedia({
    audio: { ...(deviceId !== '' && { deviceId: { exact: deviceId } }), noiseSuppression: reduceNoise,
      echoCancellation: reduceNoise, autoGainControl: true },
  }).catch(async (error: unknown) => {
    await context.close()
    throw error
  })
  let isMuted = false
  const stop = (): void => {
    for (const track of stream.getTracks()) track.stop()
    if (context.state !== 'closed') void context.close()
  }
  return {
    begin: (take, ended) => {
      const resample = createResampler(context.sampleRate, RATE)
      const chunks = createChunks(take)
      const node = new AudioWorkletNode(context, 'capture', { numberOfOutputs: 0 })
      node.port.addEventListener('message', ({ data }: MessageEvent<Float32Array>) => {
        const samples = resample(data)
        chunks.add(toPcm(isMuted ? new Float32Array(samples.length) : samples))
      })
      node.port.start()
      context.createMediaStreamSource(stream).connect(node)
      void context.resume()
      stream.getAudioTracks()[0]?.addEventListener('ended', () => ended('lost'))
    },
    stop,
    mute: (muted) => (isMuted = muted),
  }
}
