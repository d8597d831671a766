import { fileAddress } from '../state/address.ts'
import { createChunks, SAMPLE_RATE, toPcm } from './pcm.ts'
import { createResampler } from './resampler.ts'
import type { AudioFeed } from './source.ts'

/**
 * Opens a microphone at its own sample rate and resamples in the page, because some browsers cannot record at 16 kHz.
 * Rejects with the browser's DOMException.
 */
export const openMicrophone = async (deviceId: string, reduceNoise: boolean): Promise<AudioFeed> => {
  // Browsers provide mediaDevices only to pages on https and localhost.
  if (navigator.mediaDevices === undefined) throw new DOMException('', 'InsecureContext')
  const context = new AudioContext()
  // Load the worklet before the microphone opens, so the first words are not lost.
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
    begin: (onSamples, onEnd) => {
      const resample = createResampler(context.sampleRate, SAMPLE_RATE)
      const chunks = createChunks(onSamples)
      const node = new AudioWorkletNode(context, 'capture', { numberOfOutputs: 0 })
      node.port.addEventListener('message', ({ data }: MessageEvent<Float32Array>) => {
        const samples = resample(data)
        chunks.add(toPcm(isMuted ? new Float32Array(samples.length) : samples))
      })
      node.port.start()
      context.createMediaStreamSource(stream).connect(node)
      void context.resume()
      stream.getAudioTracks()[0]?.addEventListener('ended', () => onEnd('lost'))
    },
    stop,
    mute: (muted) => (isMuted = muted),
  }
}
