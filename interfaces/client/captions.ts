/** A frame with text, as the service sends it; `segment` and `final` are left out with COMPAT_STRICT. */
export interface TextFrame {
  readonly type: 'transcription' | 'translation'
  /** Seconds since the audio began. */
  readonly start: number
  readonly end: number
  readonly text: string
  readonly language: string
  readonly segment?: number
  readonly final?: boolean
}

export interface Caption {
  /** Unique among the lines, and stays: the segment, or where it starts. */
  readonly key: number
  readonly start: number
  readonly end: number
  readonly text: string
  readonly language: string
  /** By language, as they come. */
  readonly translations: Readonly<Record<string, string>>
}

/** What has been said so far. */
export interface Captions {
  readonly lines: ReadonlyArray<Caption>
  /** What is being said: later frames replace it. */
  readonly running: TextFrame | null
  /** The last segment that was heard to its end: what to ask for after a reconnect. */
  readonly cursor: number | null
}

export const NO_CAPTIONS: Captions = { lines: [], running: null, cursor: null }

const lineOf = (frame: TextFrame): Caption => ({
  key: frame.segment ?? frame.start,
  start: frame.start,
  end: frame.end,
  text: frame.text,
  language: frame.language,
  translations: {},
})

/** Adds a line; one that is there already stays as it is, for a reconnect may bring it again. */
const withLine = (captions: Captions, frame: TextFrame): Captions => {
  const line = lineOf(frame)
  const cursor = frame.segment === undefined ? null : Math.max(captions.cursor ?? 0, frame.segment)
  const at = captions.lines.findLastIndex(({ key }) => key <= line.key)
  const lines = captions.lines[at]?.key === line.key ? captions.lines : captions.lines.toSpliced(at + 1, 0, line)
  return { lines, running: null, cursor }
}

/** Nothing says whether it is final: what begins behind the text before it follows that text, else it replaces it. */
const withUnnumbered = (captions: Captions, frame: TextFrame): Captions => {
  const { running } = captions
  const before = running !== null && frame.start >= running.end ? withLine(captions, running) : captions
  return { ...before, running: frame }
}

/** A translation tells that its text is final, even where that does not say so itself. */
const withTranslation = (captions: Captions, frame: TextFrame): Captions => {
  const { running } = captions
  const isOfRunning = frame.segment === undefined && running?.start === frame.start && running.end === frame.end
  const settled = isOfRunning ? withLine(captions, running) : captions
  const key = frame.segment ?? frame.start
  const at = settled.lines.findLastIndex((line) => line.key === key)
  const line = settled.lines[at]
  if (line === undefined) return settled
  const translated = { ...line, translations: { ...line.translations, [frame.language]: frame.text } }
  return { ...settled, lines: settled.lines.with(at, translated) }
}

/** What has been said, with one more frame of the service. */
export const withFrame = (captions: Captions, frame: TextFrame): Captions => {
  if (frame.type === 'translation') return frame.final === false ? captions : withTranslation(captions, frame)
  if (frame.segment === undefined) return withUnnumbered(captions, frame)
  return frame.final === false ? { ...captions, running: frame } : withLine(captions, frame)
}

/** What has been said when no more will be: a last text without number counts as heard. */
export const ended = (captions: Captions): Captions => {
  const { running } = captions
  return running !== null && running.segment === undefined ? withLine(captions, running)
    : { ...captions, running: null }
}
