import { quantiles, type Quantiles } from '../../interfaces/cli/streaming/live-report.ts'
import { borderFaults, wordsByCause, wordsByKind, type BorderFault, type BorderWords, type Cause } from './borders.ts'
import type { Frame, LiveRun } from './live.ts'
import type { Recording } from './recordings.ts'
import { compareTexts, rateOf, recallOf, sumOf, type Errors } from './score.ts'
import { finalLags, type FinalLag, type SegmentEnd } from './final-lag.ts'
import type { Quiet } from './quiet.ts'
import { screensOf, spokenWords, takenBack, wordDelays } from './screen.ts'

/** A text of a recording and its errors. */
export interface ScoredText {
  readonly text: string
  /** Word error rate in percent. */
  readonly wer: number | null
  readonly errors: Errors
}

/**
 * Delays of the words of a recording, in seconds: from the end of a word until it is first shown, until it stays
 * unchanged (settled), and until its segment is final. Empty when the manifest has no word times.
 */
export interface Delays {
  readonly shown: ReadonlyArray<number>
  readonly settled: ReadonlyArray<number>
  /** Like `settled`, for a screen that shows the whole open segment. */
  readonly settled_text: ReadonlyArray<number>
  readonly finals: ReadonlyArray<FinalLag>
}

export interface ScoredLive extends ScoredText {
  readonly segments: ReadonlyArray<Pick<Frame, 'at' | 'start' | 'end' | 'text'>>
  readonly borders: ReadonlyArray<BorderFault>
  /** Number of shown words, right or wrong, and of removed words, by the view of the open segment. */
  readonly taken_back: Readonly<Record<'caption' | 'text', { readonly shown: number; readonly taken: number }>>
  readonly delays: Delays
  readonly passes: number
  readonly engine_cpu_s: number | null
  readonly own_cpu_s: number
}

/** The results of a recording. `said` is the reference text. The other texts have the names of their makers. */
export interface ScoredRecording {
  readonly name: string
  readonly language: string
  readonly unit: 'words' | 'characters'
  readonly seconds: number
  readonly said: string
  readonly texts: Readonly<Record<string, ScoredText>>
  readonly live: ScoredLive | null
}

const rounded = (value: number | null, digits = 2): number | null =>
  (value === null ? null : Number(value.toFixed(digits)))

type SpokenText = Pick<Recording, 'text' | 'language'>

export const scoredText = ({ text: said, language }: SpokenText, text: string): ScoredText => {
  const { errors } = compareTexts(said, text, language)
  return { text, wer: rounded(rateOf(errors)), errors }
}

/** A recording and its live run. */
interface LiveRecording extends Pick<Recording, 'text' | 'language' | 'words'> {
  readonly run: LiveRun
  readonly quiets: ReadonlyArray<Quiet>
  /** The offline text of the same model, if it was made. */
  readonly offline?: string | undefined
}

export const scoredLive = (recording: LiveRecording, pauseSeconds: number): ScoredLive => {
  const { text: said, language, words, run, quiets, offline } = recording
  const finals = run.frames.filter(({ final }) => final)
  const texts = finals.map(({ text }) => text)
  const text = texts.join(' ')
  const [caption, whole] = [screensOf(run.frames, language, 'caption'), screensOf(run.frames, language, 'text')]
  const spoken = spokenWords(words, language)
  const reference = offline === undefined ? null : compareTexts(said, offline, language)
  const { shown, settled } = wordDelays(spoken, caption)
  return {
    ...scoredText(recording, text),
    segments: finals.map(({ at, start, end, text }) => ({ at: rounded(at, 3) ?? 0, start, end, text })),
    borders: borderFaults(compareTexts(said, text, language), texts, language, reference),
    taken_back: { caption: takenBack(caption), text: takenBack(whole) },
    delays: {
      shown,
      settled,
      settled_text: wordDelays(spoken, whole).settled,
      finals: finalLags(finals, { spoken, quiets, language }, pauseSeconds),
    },
    passes: run.passes,
    engine_cpu_s: rounded(run.engineCpu),
    own_cpu_s: rounded(run.ownCpu) ?? 0,
  }
}

/** Groups of recordings. Rates are pooled over all words of a group. */
const GROUPS: ReadonlyArray<readonly [name: string, has: (language: string) => boolean]> = [
  ['english', (language) => language === 'en'],
  ['others', (language) => language !== 'en'],
]

export interface PooledText {
  readonly wer: number | null
  /** Percentage of spoken words that were transcribed. */
  readonly recall: number | null
  readonly errors: Errors
}

const pooled = (texts: ReadonlyArray<ScoredText>): PooledText => {
  const errors = sumOf(texts.map(({ errors }) => errors))
  return { wer: rounded(rateOf(errors)), recall: rounded(recallOf(errors)), errors }
}

const perHundred = (counts: ReadonlyArray<{ readonly shown: number; readonly taken: number }>): number | null => {
  const shown = counts.reduce((sum, { shown }) => sum + shown, 0)
  const taken = counts.reduce((sum, { taken }) => sum + taken, 0)
  return shown === 0 ? null : rounded((100 * taken) / shown, 1)
}

export interface LiveFigures {
  readonly border_words: BorderWords
  /** The words of `border_words` that are right in the offline text. Without an offline text, all words. */
  readonly border_words_live: BorderWords
  readonly border_causes: Readonly<Record<Cause, number>>
  readonly first_display_s: Quantiles
  readonly settled_s: Quantiles
  readonly settled_text_s: Quantiles
  readonly final_lag_s: Readonly<Record<SegmentEnd, Quantiles & { readonly segments: number }>>
  /** Percentage of shown words that were removed again. */
  readonly taken_back: { readonly caption: number | null; readonly text: number | null }
  readonly segments: number
  readonly passes_a_second: number
  readonly engine_cpu_s_a_second: number | null
  /** CPU time of the pipeline's process. Too high when several recordings run at the same time. */
  readonly own_cpu_s_a_second: number
}

const liveFigures = (recordings: ReadonlyArray<ScoredRecording>): LiveFigures | null => {
  const lives = recordings.flatMap(({ live }) => (live === null ? [] : [live]))
  if (lives.length === 0) return null
  const seconds = recordings.reduce((sum, { seconds }) => sum + seconds, 0)
  const cpu = lives.reduce((sum, { engine_cpu_s: own }) => sum + (own ?? Number.NaN), 0)
  const lags = lives.flatMap(({ delays }) => delays.finals)
  const faults = lives.flatMap(({ borders }) => borders)
  const lagsOf = (wanted: SegmentEnd) => {
    const own = lags.filter(({ end }) => end === wanted)
    return { segments: own.length, ...quantiles(own.map(({ lag }) => lag)) }
  }
  return {
    border_words: wordsByKind(faults),
    border_words_live: wordsByKind(faults.filter(({ cause }) => cause === 'live' || cause === 'unknown')),
    border_causes: wordsByCause(faults),
    first_display_s: quantiles(lives.flatMap(({ delays }) => delays.shown)),
    settled_s: quantiles(lives.flatMap(({ delays }) => delays.settled)),
    settled_text_s: quantiles(lives.flatMap(({ delays }) => delays.settled_text)),
    final_lag_s: { pause: lagsOf('pause'), running: lagsOf('running'), audio: lagsOf('audio') },
    taken_back: {
      caption: perHundred(lives.map(({ taken_back: back }) => back.caption)),
      text: perHundred(lives.map(({ taken_back: back }) => back.text)),
    },
    segments: lives.reduce((sum, { segments }) => sum + segments.length, 0),
    passes_a_second: rounded(lives.reduce((sum, { passes }) => sum + passes, 0) / seconds, 3) ?? 0,
    engine_cpu_s_a_second: Number.isNaN(cpu) ? null : rounded(cpu / seconds, 3),
    own_cpu_s_a_second: rounded(lives.reduce((sum, { own_cpu_s: own }) => sum + own, 0) / seconds, 3) ?? 0,
  }
}

export interface GroupFigures {
  readonly group: string
  readonly recordings: number
  readonly seconds: number
  /** Texts by their maker, including `live`. */
  readonly texts: Readonly<Record<string, PooledText>>
  readonly live: LiveFigures | null
}

/** Returns the results of each group, of each language and of all recordings. */
export const figuresOf = (recordings: ReadonlyArray<ScoredRecording>): ReadonlyArray<GroupFigures> => {
  const languages = [...new Set(recordings.map(({ language }) => language))].toSorted()
  const single = languages.map((wanted) => [wanted, (language: string) => language === wanted] as const)
  return [...GROUPS, ...single, ['all', () => true] as const].flatMap(([group, has]) => {
    const own = recordings.filter(({ language }) => has(language))
    if (own.length === 0) return []
    const all = own.map(({ texts, live }): ScoredRecording['texts'] => (live === null ? texts : { ...texts, live }))
    const names = [...new Set(all.flatMap((texts) => Object.keys(texts)))]
    const texts = names.map((name) => [name, pooled(all.flatMap((textsOf) => textsOf[name] ?? []))] as const)
    return [
      {
        group,
        recordings: own.length,
        seconds: rounded(own.reduce((sum, { seconds }) => sum + seconds, 0)) ?? 0,
        texts: Object.fromEntries(texts),
        live: liveFigures(own),
      },
    ]
  })
}

