/**
 * Runs beside the page, in the browser's thread for audio: hands on what the microphone hears, mixed down to one
 * channel.
 */

declare class AudioWorkletProcessor {
  readonly port: MessagePort
}
declare const registerProcessor: (name: string, processor: unknown) => void

/** Samples that are handed on together, some 40 ms: a message for each 128 would be hundreds a second. */
const BATCH = 2048

class Capture extends AudioWorkletProcessor {
  private readonly batch = new Float32Array(BATCH)
  private filled = 0

  process([channels = []]: ReadonlyArray<ReadonlyArray<Float32Array>>): boolean {
    const [first] = channels
    if (first === undefined) return true
    for (let i = 0; i < first.length; i += 1) {
      let sum = 0
      for (const channel of channels) sum += channel[i] ?? 0
      this.batch[this.filled] = sum / channels.length
      this.filled += 1
      if (this.filled === BATCH) this.hand()
    }
    return true
  }

  private hand(): void {
    this.port.postMessage(this.batch.slice())
    this.filled = 0
  }
}

registerProcessor('capture', Capture)
