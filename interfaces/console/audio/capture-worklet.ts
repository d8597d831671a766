/** Runs in the browser's audio thread. Sends the microphone's audio to the page, mixed to one channel. */

declare class AudioWorkletProcessor {
  readonly port: MessagePort
}
declare const registerProcessor: (name: string, processor: unknown) => void

/** Samples in one message, about 40 ms. A message for each block of 128 samples would mean hundreds per second. */
const BATCH_SAMPLES = 2048

class Capture extends AudioWorkletProcessor {
  private readonly batch = new Float32Array(BATCH_SAMPLES)
  private filled = 0

  process([channels = []]: ReadonlyArray<ReadonlyArray<Float32Array>>): boolean {
    const [first] = channels
    if (first === undefined) return true
    for (let i = 0; i < first.length; i += 1) {
      let sum = 0
      for (const channel of channels) sum += channel[i] ?? 0
      this.batch[this.filled] = sum / channels.length
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
