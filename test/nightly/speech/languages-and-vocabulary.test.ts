import { join } from 'node:path'
import { Tokenizer } from '@huggingface/tokenizers'
import { judge } from '../../../application/pipeline/policy/hypothesis-filters.ts'
import type { TranscribeJob } from '../../../application/ports/engine.ts'
import { readTokenizer } from '../../../infrastructure/onnx/model-json.ts'
import { createSpeechEngine } from '../../../infrastructure/onnx/process/engine-client.ts'
import { readAudioFile } from '../../../interfaces/cli/streaming/audio-file.ts'
import { orThrow } from '../../../domain/shared/or-throw.ts'
import { collectEvents, pipelineOf } from '../../support/pipeline/pipeline-driver.ts'
import { createRecordingLogger } from '../../support/doubles/loggers.ts'
import { silence } from '../../support/audio/speech.ts'
import { loadBase, WHISPER_BASE, NO_BEGINNING, SPEECH_RECORDINGS, withBase } from '../../support/models/whisper-base.ts'

const recording = (file: string): Promise<Int16Array> => readAudioFile(join(SPEECH_RECORDINGS, file))
const textOf = async (job: Omit<TranscribeJob, 'model'>): Promise<string> => {
  const { transcribe } = await loadBase()
  return (await transcribe({ beginning: NO_BEGINNING, ...job })).segments.map(({ text }) => text).join('').trim()
}

withBase('the language of each recording is detected, alone and in a batch', async (t) => {
  const { transcribe, transcribeTogether } = await loadBase()
  for (const [file, code] of [
    ['jfk', 'en'],
    ['de', 'de'],
    ['es', 'es'],
    ['fr', 'fr'],
    ['it', 'it'],
    ['ja', 'ja'],
    ['ko', 'ko'],
    ['pt', 'pt'],
  ] as const) {
    const { language, segments } = await transcribe({ samples: await recording(`${file}.wav`), language: null })
    t.is(language?.code, code, file)
    t.true((language?.probability ?? 0) > 0.8 && (language?.probability ?? 2) <= 1, `${file}: ${language?.probability}`)
    t.deepEqual(segments, [])
  }
  const samples = await recording('pt.wav')
  const jobs = [{ samples, language: null }, { samples, language: 'pt' }, { samples, language: 'es' }]
  const together: Array<string | undefined> = []
  await transcribeTogether(
    jobs,
    (index, { language, segments }) =>
      void (together[index] = language?.code ?? segments.map(({ text }) => text).join('')),
  )
  const alone = await Promise.all(
    jobs.slice(1).map(async (job) => (await transcribe(job)).segments.map(({ text }) => text).join('')),
  )
  t.deepEqual(together, ['pt', ...alone], 'languages of a batch do not mix')
})

withBase('a session in two languages is transcribed in both, and each segment names its language', async (t) => {
  const engine = createSpeechEngine({
    models: new Map([['base', WHISPER_BASE]]),
    workers: 1,
    logger: createRecordingLogger(),
  })
  t.teardown(engine.close)
  const { finals, failures, events } = collectEvents()
  const pipeline = pipelineOf(engine, events, { model: 'base', language: 'auto' })
  orThrow(await pipeline.start())
  for (const samples of [await recording('quilter.wav'), silence(1.5), await recording('de.wav'), silence(1.5)])
    pipeline.push(samples)
  await pipeline.finish(90_000)
  t.deepEqual(failures, [])
  t.deepEqual(finals.map(({ language }) => language), ['en', 'de'])
  t.regex(finals[0]?.text ?? '', /glad to welcome his gospel/)
  t.regex(finals[1]?.text ?? '', /hinter diesem Portal/)
  t.true(finals.every(({ text, words = [] }) => words.map((word) => word.text).join('') === text))
})

withBase('the task translate turns German speech into English text', async (t) => {
  const samples = await recording('guide-de-1.wav')
  const english = await textOf({ samples, language: 'de', task: 'translate' })
  t.log(english)
  t.regex(english, /\b(the|and|you)\b/)
  t.notRegex(english, /\b(der|die|und|Sie)\b/)
})

withBase('a hotword wins over a word that sounds alike', async (t) => {
  const samples = await recording('de.wav')
  const job = { samples, language: 'de' }
  const vocabulary = { prompt: '', hotwords: ['Leichenhalle'] }
  t.notRegex(await textOf(job), /Leichenhalle\b/)
  t.regex(await textOf({ ...job, vocabulary }), /Leichenhalle\b/)
  const { transcribe } = await loadBase()
  const { segments } = await transcribe({ ...job, vocabulary: { ...vocabulary, prompt: 'Ein Friedhof.' } })
  t.regex(segments.map(({ text }) => text).join(''), /Leichenhalle\b/, 'it also wins with a prompt, without word times')
})

withBase('a prompt is kept however long the context is', async (t) => {
  const { transcribe } = await loadBase()
  const samples = (await recording('jfk.wav')).subarray(0, 40_000)
  const { tokenizer, tokenizerConfig } = orThrow(await readTokenizer(WHISPER_BASE))
  const prompt = 'The address of the President.'
  const tokens = new Tokenizer(tokenizer, tokenizerConfig).encode(` ${prompt}`, { add_special_tokens: false }).ids
  const context = Array.from({ length: 2000 }, (_, i) => 400 + (i % 900))
  const room = 448 / 2 - 1 - 4 - tokens.length
  const job = { samples, language: 'en' }
  t.deepEqual(
    await transcribe({ ...job, vocabulary: { prompt, hotwords: [] }, beginning: { ...NO_BEGINNING, context } }),
    await transcribe({ ...job, beginning: { ...NO_BEGINNING, context: [...tokens, ...context.slice(-room)] } }),
  )
})

withBase('a vocabulary produces no words for silence, noise and tones', async (t) => {
  const { transcribe } = await loadBase()
  const prompt = 'Minutes of the board of Northwind Traders. Present: Anna Kowalski, Peter Lindqvist, Quentin Dubois.'
  const vocabulary = {
    prompt,
    hotwords: ['Kowalski', 'Lindqvist', 'Thank you', 'The Boston Consulting Group', 'Kubernetes'],
  }
  const sounds: ReadonlyArray<(i: number) => number> = [
    () => 0,
    (i) => ((i * 7919) % 201) - 100,
    (i) => 300 * Math.sin(i * 0.17),
  ]
  for (const isDraft of [true, false])
    for (const [kind, sound] of sounds.entries()) {
      const job = {
        samples: Int16Array.from({ length: 48_000 }, (_, i) => sound(i)),
        language: 'en',
        beginning: NO_BEGINNING,
        isDraft,
      }
      const [plain, biased] = [await transcribe(job), await transcribe({ ...job, vocabulary })]
      t.log(kind, isDraft, judge(plain, false), judge(biased, false), biased.segments.map(({ text }) => text).join(''))
      t.is(judge(biased, false) === 'words', false, `sound ${kind}, draft ${isDraft}`)
    }
})
