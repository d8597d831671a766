import type { ScriptedWord } from '../../../../support/doubles/scripted/script.ts'

export const CONFIG = '{"type":"config"}'
export const FINISH = '{"type":"FINISH"}'

/** The words `w1 w2 …`. After each `phraseLength` words a longer pause ends the phrase. */
export const numberedWords = (count: number, phraseLength = 7): ReadonlyArray<ScriptedWord> =>
  Array.from({ length: count }, (_, i) => ({
    text: `w${i + 1}`, pause: i === 0 ? 0.5 : i % phraseLength === 0 ? 1.5 : 0.1, seconds: 0.3,
  }))

export const textOf = (words: ReadonlyArray<{ readonly text: string }>): string =>
  words.map(({ text }) => text).join(' ')

export const framesOf = (audio: Int16Array, samples = 1600): ReadonlyArray<Uint8Array> =>
  Array.from({ length: Math.ceil(audio.length / samples) }, (_, i) => {
    const part = audio.slice(i * samples, (i + 1) * samples)
    return new Uint8Array(part.buffer)
  })

/** Converts a binary audio frame to a text frame. */
export const asText = (frame: Uint8Array): string =>
  JSON.stringify({
    type: 'audio',
    data: Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength).toString('base64'),
  })
