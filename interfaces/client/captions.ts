/** A text frame of the service. COMPAT_STRICT leaves out `segment` and `final`. */
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
  /** Unique and stable: the segment number, or the start time if the frame has no segment. */
  readonly key: number
  readonly start: number
  readonly end: number
  readonly text: string
  readonly language: string
  /** Translated texts by language code. They come later than their line. */
  readonly translations: Readonly<Record<string, string>>
}

/** The text of a session so far. */
export interface Captions {
  /** The lines of final text, oldest first. */
  readonly lines: ReadonlyArray<Caption>
  /** The current draft. Later frames replace it. */
  readonly running: TextFrame | null
  /** Number of the last final segment, for `after` in a reconnect. Null before the first one. */
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

/** Adds a final line. A known line stays as it is, because a reconnect may send it again. */
const withLine = (captions: Captions, frame: TextFrame): Captions => {
  const line = lineOf(frame)
  const cursor = frame.segment === undefined ? null : Math.max(captions.cursor ?? 0, frame.segment)
  const index = captions.lines.findLastIndex(({ key }) => key <= line.key)
  const isKnown = captions.lines[index]?.key === line.key
  const lines = isKnown ? captions.lines : captions.lines.toSpliced(index + 1, 0, line)
  return { lines, running: null, cursor }
}

/** Adds a frame without a segment. Running text that ends before the frame becomes final. Other text is replaced. */
const withUnnumbered = (captions: Captions, frame: TextFrame): Captions => {
  const { running } = captions
  const finalised = running !== null && frame.start >= running.end ? withLine(captions, running) : captions
  return { ...finalised, running: frame }
}

/** Adds a translation to its line. Without segments, a translation also shows that the running text is final. */
const withTranslation = (captions: Captions, frame: TextFrame): Captions => {
  const { running } = captions
  const isOfRunning = frame.segment === undefined && running?.start === frame.start && running.end === frame.end
  const finalised = isOfRunning ? withLine(captions, running) : captions
  const key = frame.segment ?? frame.start
  const index = finalised.lines.findLastIndex((candidate) => candidate.key === key)
  const line = finalised.lines[index]
  if (line === undefined) return finalised
  const translated = { ...line, translations: { ...line.translations, [frame.language]: frame.text } }
  return { ...finalised, lines: finalised.lines.with(index, translated) }
}

/** Adds a text frame of the service. */
export const withFrame = (captions: Captions, frame: TextFrame): Captions => {
  if (frame.type === 'translation') return frame.final === false ? captions : withTranslation(captions, frame)
  if (frame.segment === undefined) return withUnnumbered(captions, frame)
  return frame.final === false ? { ...captions, running: frame } : withLine(captions, frame)
}

/** Returns the captions after the end of a session. The last text without a segment becomes final. */
export const ended = (captions: Captions): Captions => {
  const { running } = captions
  return running !== null && running.segment === undefined ? withLine(captions, running)
    : { ...captions, running: null }
}
