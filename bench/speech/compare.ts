import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { tableOf } from '../../interfaces/cli/table.ts'
import { figuresOf, type LiveFigures, type ScoredRecording, type ScoredText } from './figures.ts'
import { compareTexts, type Compared } from './score.ts'

/** The content of a file that `npm run bench -- speech --json FILE` wrote. */
export interface SpeechRun {
  readonly recordings: ReadonlyArray<ScoredRecording>
}

const textOf = ({ texts, live }: ScoredRecording, name: string): ScoredText | undefined =>
  (name === 'live' ? (live ?? undefined) : texts[name])

const wrongIn = ({ errors: { substituted, inserted, deleted } }: ScoredText): number => substituted + inserted + deleted

/** Returns the reference words at the place of the words [from, to) of a text. */
const referenceAt = ({ reference, matches }: Compared, from: number, to: number): string => {
  const before = matches.findLast(([, heard]) => heard < from)?.[0] ?? -1
  const after = matches.find(([, heard]) => heard >= to)?.[0] ?? reference.length
  return reference.slice(before + 1, after).map(({ word }) => word).join(' ')
}

/** Lists the differences between two texts of a recording, each with a verdict and the reference text (`said`). */
export const differences = (said: string, before: string, after: string, language: string): ReadonlyArray<string> => {
  const [old, own] = [compareTexts(said, before, language), compareTexts(said, after, language)]
  const words = ({ hypothesis }: Compared, [from, to]: readonly [number, number]): string =>
    hypothesis.slice(from, to).map(({ word }) => word).join(' ')
  return compareTexts(before, after, language).gaps.map(({ spoken, heard }) => {
    const [was, is, right] = [words(old, spoken), words(own, heard), referenceAt(own, ...heard)]
    const verdict = is === right ? 'better' : referenceAt(old, ...spoken) === was ? 'worse' : 'other'
    return `${verdict}: "${was}" is now "${is}" (said: "${right}")`
  })
}

/** Compares two runs: the differences of each recording that both runs contain, and the pooled rates side by side. */
export const compareRuns = (before: SpeechRun, after: SpeechRun, name: string): string => {
  const recordings = after.recordings.flatMap((recording): ReadonlyArray<string> => {
    const [old, own] = [before.recordings.find((other) => other.name === recording.name), textOf(recording, name)]
    const was = old === undefined ? undefined : textOf(old, name)
    if (own === undefined || was === undefined || own.text === was.text) return []
    const { errors } = own
    const head =
      `${recording.name}: ${wrongIn(was)} → ${wrongIn(own)} errors, ` +
      `${was.errors.false_ends} → ${errors.false_ends} false ends, ` +
      `${was.errors.false_capitals} → ${errors.false_capitals} false capitals`
    return [head, ...differences(recording.said, was.text, own.text, recording.language).map((line) => `  ${line}`)]
  })
  const figures = figuresOf(after.recordings.filter((own) => before.recordings.some((old) => old.name === own.name)))
  const oldFigures = figuresOf(before.recordings.filter((old) => after.recordings.some((own) => old.name === own.name)))
  const rows = figures.flatMap(({ group, texts, live }) => {
    const old = oldFigures.find((other) => other.group === group)
    const [was, is] = [old?.texts[name], texts[name]]
    if (old === undefined || was === undefined || is === undefined) return []
    const both = (value: (run: LiveFigures) => number | null): string =>
      [old.live, live].map((run) => (run === null ? '-' : (value(run) ?? '-'))).join(' → ')
    return [
      [
        group,
        `${was.wer} → ${is.wer}`,
        `${was.errors.false_ends} → ${is.errors.false_ends}`,
        both(({ first_display_s: shown }) => shown.median),
        both(({ settled_s: settled }) => settled.p95),
        both(({ taken_back: back }) => back.caption),
        both(({ engine_cpu_s_a_second: cpu }) => cpu),
      ],
    ]
  })
  const headings = ['group', 'WER %', 'false ends', 'shown median', 'settled p95', 'taken back', 'engine CPU']
  return [...recordings, '', tableOf(headings, rows)].join('\n')
}

/** `npm run bench -- speech-compare BEFORE.json AFTER.json [--text NAME]`. */
export const speechCompare = async (args: ReadonlyArray<string>): Promise<void> => {
  const options = { text: { type: 'string', default: 'live' } } as const
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options })
  const read = async (path: string): Promise<SpeechRun> => JSON.parse(await readFile(path, 'utf8')) as SpeechRun
  const [before, after] = await Promise.all(positionals.map(read))
  if (before === undefined || after === undefined)
    throw new Error('usage: npm run bench -- speech-compare BEFORE.json AFTER.json [--text NAME]')
  console.log(compareRuns(before, after, values.text))
}
