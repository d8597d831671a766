import type { ExecutionContext } from 'ava'
import { soundsWithoutSpeech } from '../audio/noise.ts'
import { startTestService } from './service.ts'
import { sampleSentences, silence } from '../audio/speech.ts'

/**
 * Checks that silence, noise and tones of this length produce no text, and that a sentence after them is transcribed.
 * Without `vad` all of the audio reaches the model.
 */
export const assertNoText = async (t: ExecutionContext, seconds: number, vad = true): Promise<void> => {
  const service = await startTestService(t)
  const client = await service.user('quiet')
  const live = await client.createLive({ config: { vad } })
  t.like(live['config'], { vad })
  const sender = await client.socket(live, 'sender')
  sender.send({ type: 'config' })
  const [sentence] = await sampleSentences()
  for (const sounds of [soundsWithoutSpeech(seconds), silence(2), sentence?.samples ?? silence(0), silence(2)])
    for (let start = 0; start < sounds.length; start += 16_000) sender.sendAudio(sounds.slice(start, start + 16_000))
  sender.send({ type: 'FINISH' })
  t.is((await sender.closed).code, 1000)
  const frames = sender.frames.filter((frame) => frame['type'] !== 'connection' && frame['status'] === undefined)
  t.deepEqual(frames.filter(({ start }) => Number(start) < seconds), [])
  t.regex(String(frames.at(-1)?.['text']), /meeting/, 'the sentence is transcribed')
}
