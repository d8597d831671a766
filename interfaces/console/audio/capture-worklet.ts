/** Runs in the browser's audio thread. Sends the microphone's audio to the page, mixed to one channel. */

import { type Mix, mixChannels, startMix, weightsOf } from '../../../domain/audio/mix-channels.ts'

declare class AudioWorkletProcessor {
  readonly port: MessagePort
}
declare const sampleRate: number
declare const registerProcessor: (name: string, processor: unknown) => void

/** Samples in one message, about 40 ms. A message for each block of 128 samples would mean hundreds per second. */
const BATCH_SAMPLES = 2048

class Capture extends AudioWorkletProcessor {
  private readonly batch = new Float32Array(BATCH_SAMPLES)
  private filled = 0
  private mix: Mix | null = null

  process([channels = []]: ReadonlyArray<ReadonlyArray<Float32Array>>): boolean {
    if (channels.length === 0) return true
    // A microphone may change its number of channels.
    const known = this.mix?.weights.length === channels.length ? this.mix : null
    const { mix, samples } = mixChannels(known ?? startMix(weightsOf(channels.length, 0n), sampleRate), channels)
    this.mix = mix
    for (const sample of samples) {
      this.batch[this.filled] = sample
      this.filled += 1
      if (this.filled === BATCH_SAMPLES) this.sendBatch()
    }
    return true
  }

  private sendBatch(): void {
    this.port.postMessage(this.batch.slice())
    this.filled = 0
  }
}

registerProcessor('capture', Capture)
