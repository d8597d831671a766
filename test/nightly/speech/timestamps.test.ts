import { readFileSync } from 'node:fs'
import test from 'ava'
import { readAudioFile } from '../../../interfaces/cli/streaming/audio-file.ts'
import { alignWords, comparableWords } from '../../../domain/transcript/word-alignment.ts'
import { transcribeAtFullSpeed } from '../../support/load/full-speed.ts'
import { runTestService } from '../../support/service/service.ts'
import { silence } from '../../support/audio/speech.ts'

const STEM = 'interfaces/cli/streaming/demo/sample'
const MINUTES = 30
/** Seconds between repetitions of the sample. It is not a multiple of a detector frame or an audio chunk. */
const PERIOD = 149.871
const TOLERANCE_SECONDS = 0.5

interface Spoken {
  readonly word: string
  readonly start: number
  readonly end: number
}

const { sentences } = JSON.parse(readFileSync(`${STEM}.json`, 'utf8')) as {
  readonly sentences: ReadonlyArray<{
    readonly words: ReadonlyArray<readonly [word: string, start: number, end: number]>
  }>
}
/** The speech synthesizer lists pauses as empty words. */
const timed = (words: ReadonlyArray<readonly [word: string, start: number, end: number]>) =>
  words.filter(([word]) => word !== '')

const audio = await readAudioFile(`${STEM}.flac`)
const service = await runTestService()
test.after.always(() => service.dispose())

// The first case has long segments. The second case has short segments that end inside sentences.
for (const [name, config] of [
  ['whole sentences', {}],
  ['captions of one short line', { max_chars: 24, max_lines: 1 }],
] as const)
  test.serial(`over ${MINUTES} minutes segments contain the true times of their words: ${name}`, async (t) => {
    t.timeout(1_800_000)
    const rounds = Math.floor((MINUTES * 60) / PERIOD) + 1
    const length = Math.round(PERIOD * 16_000)
    const spoken: ReadonlyArray<Spoken> = Array.from({ length: rounds }, (_, round) =>
      sentences.flatMap(({ words }) =>
        timed(words).map(([word, start, end]) => ({
          word,
          start: start + (round * length) / 16_000,
          end: end + (round * length) / 16_000,
        })),
      ),
    ).flat()
    const pieces = Array.from({ length: rounds }, () => [audio, silence((length - audio.length) / 16_000)]).flat()
    const begin = performance.now()
    const finals = await transcribeAtFullSpeed(await service.user(name.replaceAll(' ', '-')), config, pieces)
    const wall = (performance.now() - begin) / 1000

    const transcribed = finals.flatMap((segment) => comparableWords(segment.text).map((word) => ({ word, segment })))
    const { matches } = alignWords(spoken.map(({ word }) => word.toLowerCase()), transcribed.map(({ word }) => word))
    t.true(matches.length >= 0.95 * spoken.length, `${matches.length} of ${spoken.length} words were transcribed`)
    const outside = matches.map(([truth, index]) => {
      const [word, found] = [spoken[truth], transcribed[index]]
      if (word === undefined || found === undefined) throw new Error('the alignment has an unknown index')
      return {
        word,
        segment: found.segment,
        by: Math.max(0, found.segment.start - word.start, word.end - found.segment.end),
      }
    })
    const late = outside.filter(({ word }) => word.start > (rounds - 1) * PERIOD)
    t.true(late.length > 0.9 * (spoken.length / rounds))
    const largest = (words: typeof outside): string => Math.max(...words.map(({ by }) => by)).toFixed(3)
    t.log(
      `${rounds} × ${sentences.length} sentences over ${((rounds * PERIOD) / 60).toFixed(1)} minutes, ` +
        `transcribed in ${wall.toFixed(0)} s: words are outside their segment ` +
        `by at most ${largest(outside)} s, ${largest(late)} s in the last round; ${finals.length} segments, ` +
        `the longest ${Math.max(...finals.map(({ start, end }) => end - start)).toFixed(1)} s`,
    )
    t.true(finals.every(({ start, end }) => end - start <= 11), 'a segment is no longer than the buffer')
    t.deepEqual(outside.filter(({ by }) => by > TOLERANCE_SECONDS), [])
  })
