import test from 'ava'
import type { Client, Json, TestSocket } from '../../../support/service/client.ts'
import { finals, speak, transcriptions, words } from '../../../support/service/captions.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { runTestService } from '../../../support/service/service.ts'
import { sampleSentences, silence } from '../../../support/audio/speech.ts'

const sentences = (await sampleSentences()).slice(0, 2)
const service = await runTestService()
test.after.always(() => service.dispose())
const [first, second] = sentences
if (first === undefined) throw new Error('the sample has sentences')

test.serial('lines respect max_chars and frames max_lines, without losing a word', async (t) => {
  const client = await service.user('narrow')
  const speech = sentences.flatMap(({ samples }) => [samples, silence(2)])
  const wide = await speak(client, await client.createLive({ config: { max_chars: 1000 } }), {}, speech)
  const narrow = await speak(client, await client.createLive(), { max_chars: 14, max_lines: 3 }, speech)
  const captions = transcriptions(narrow).map(({ text }) => String(text).split('\n'))
  t.deepEqual(captions.flat().filter((line) => line.length > 14), [])
  t.is(Math.max(...captions.map((lines) => lines.length)), 3)
  t.is(words(finals(narrow)), words(finals(wide)))
  t.true(finals(narrow).length > finals(wide).length)
})

/** Opens a configured sender of a new session. */
const open = async (client: Client, config: Json): Promise<TestSocket> => {
  const sender = await client.socket(await client.createLive({ config }), 'sender')
  sender.send({ type: 'config' })
  return sender
}

/** Limits so high that only the tested setting ends a phrase. */
const HIGH_LIMITS = { max_chars: 1000, max_delay: 60, min_buffer: 1, max_buffer: 30, buffer_timeout: 30 }

test.serial('a phrase becomes final after buffer_timeout of silence, not half a second earlier', async (t) => {
  const sender = await open(await service.user('pausing'), { ...HIGH_LIMITS, buffer_timeout: 3 })
  for (const samples of [first.samples, silence(2.1), second?.samples]) sender.sendAudio(samples ?? silence(1))
  const laterWord = String(second?.text.split(' ').at(2)).toLowerCase()
  await sender.frame(({ type, text }) => type === 'transcription' && String(text).toLowerCase().includes(laterWord))
  t.deepEqual(
    finals(sender),
    [],
    'a pause of 2.5 s, including the quiet ends of the sentences, does not end the phrase',
  )
  sender.sendAudio(silence(3.1))
  const { text, segment } = await sender.frame(({ final }) => final === true)
  t.is(segment, 1)
  t.true(String(text).toLowerCase().includes(laterWord), 'both sentences are one phrase')
  sender.terminate()
})

test.serial('max_buffer and max_delay force finals in speech without a pause', async (t) => {
  t.timeout(180_000)
  const client = await service.user('hasty')
  // The sentences have quiet ends. Without them the speech has no pause.
  const speech = (await sampleSentences()).slice(0, 4).map(({ samples }) => samples.slice(4000, -4000))
  const seconds = speech.reduce((sum, { length }) => sum + length, 0) / 16000
  const maxBufferSender = await open(client, { ...HIGH_LIMITS, max_buffer: 3 })
  const maxDelaySender = await open(client, { ...HIGH_LIMITS, mode: 'final', max_delay: 2 })
  for (const samples of speech) maxBufferSender.sendAudio(samples)
  // This part is shorter than the window of the model (10 s), because a full window forces finals too.
  const part = speech.slice(0, 3)
  const partSeconds = part.reduce((sum, { length }) => sum + length, 0) / 16000
  t.true(partSeconds < 9)
  for (const samples of part) maxDelaySender.sendAudio(samples)
  await maxBufferSender.frame(({ final, end }) => final === true && Number(end) > seconds - 3.5)
  for (const { start, end } of finals(maxBufferSender))
    t.true(Number(end) - Number(start) <= 3.5, `${String(start)} to ${String(end)}`)
  await maxDelaySender.frame(({ final, end }) => final === true && Number(end) > partSeconds - 3)
  for (const sender of [maxBufferSender, maxDelaySender]) sender.terminate()
})

test.serial('a pass waits for min_buffer seconds of audio', async (t) => {
  const client = await service.user('buffering')
  const speech = Int16Array.from(sentences.flatMap(({ samples }) => Array.from(samples.subarray(4000, -4000))))
  const [patient, eager] = [
    await open(client, { ...HIGH_LIMITS, min_buffer: 5 }),
    await open(client, { ...HIGH_LIMITS, min_buffer: 0.3 }),
  ]
  for (const sender of [patient, eager]) await sender.frame(({ status }) => status === 'started')
  const piece = 1.1 * 16_000
  for (const n of [0, 1, 2, 3]) {
    const passes = transcriptions(eager).length
    // The waiting sender comes first, so a premature pass would be visible before the other sender's text.
    for (const sender of [patient, eager]) sender.sendAudio(speech.slice(n * piece, (n + 1) * piece))
    await eventually(
      () => {
        if (transcriptions(eager).length === passes) throw new Error(`no new text after ${n + 1} pieces of speech`)
      },
      { timeoutMs: 60_000 },
    )
  }
  t.deepEqual(transcriptions(patient), [])
  patient.sendAudio(speech.slice(4 * piece))
  t.true(Number((await patient.frame(({ type }) => type === 'transcription'))['end']) > 2)
  for (const sender of [patient, eager]) sender.terminate()
})

test.serial('with vad only detected speech is transcribed, and without it all audio', async (t) => {
  const client = await service.user('faint')
  const faint = first.samples.map((sample) => Math.round(sample / 400))
  const transcribe = async (config: Json): Promise<TestSocket> =>
    speak(client, await client.createLive({ config }), {}, [faint, silence(1.5)])
  const [detected, all] = [await transcribe({}), await transcribe({ vad: false })]
  t.deepEqual(transcriptions(detected), [])
  t.regex(words(finals(all)), /welcome to the meeting/i)
})

test.serial('punctuation=false removes all punctuation', async (t) => {
  const client = await service.user('plain')
  const speech = [first.samples, silence(2)]
  const withMarks = await speak(client, await client.createLive(), {}, speech)
  const without = await speak(client, await client.createLive({ config: { punctuation: false } }), {}, speech)
  t.regex(words(finals(withMarks)), /[.,?!;:]/, 'the text has punctuation')
  t.notRegex(words(transcriptions(without)), /[.,?!;:]/)
  t.is(words(finals(without)), words(finals(withMarks)).replaceAll(/[.,?!;:]/g, ''))
})
