import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import type { GetTranscript } from '../../../application/lives/queries/get-transcript.ts'
import { type CaptionShape, wrapped } from '../../../domain/transcript/captions.ts'
import type { ReadSegment } from '../../../domain/transcript/damaged-segments.ts'
import { toSubRip, toWebVtt } from '../../../domain/transcript/subtitles.ts'
import { object } from '../../../domain/shared/codecs.ts'
import { segmentWord } from '../../../domain/transcript/events.ts'
import { UNAVAILABLE } from '../errors.ts'
import { roundToMs, single } from '../codecs/presenters.ts'
import { pathId, transcriptQuery } from '../codecs/request-codecs.ts'
import { privateRoute, type Route, textFile } from '../route.ts'

export interface TranscriptCalls {
  readonly getTranscript: GetTranscript
}

const segmentView = object(
  {
    start: t.number,
    end: t.number,
    text: t.string,
    type: t.keyof({ transcription: null, translation: null }),
    language: t.string,
  },
  {
    words: t.readonlyArray(segmentWord),
    /** The segment is damaged in the store: its text is empty, and its times are those of the gap. */
    damaged: t.literal(true),
  },
  'TranscriptSegment',
)
const transcriptView = t.strict({ transcript: t.readonlyArray(segmentView) }, 'Transcript')

const presentSegment =
  (strict: boolean) =>
  ({ start, end, text, kind, language, words, damaged }: ReadSegment): t.TypeOf<typeof segmentView> => ({
    start: roundToMs(start), end: roundToMs(end), text, type: kind, language,
    ...(words !== undefined && !strict && { words }),
    ...(damaged && !strict && { damaged }),
  })

type TextFormat = Exclude<t.TypeOf<typeof transcriptQuery>['format'], 'json'>

const MEDIA_TYPES: Readonly<Record<TextFormat, string>> = {
  txt: 'text/plain; charset=utf-8',
  srt: 'application/x-subrip; charset=utf-8',
  vtt: 'text/vtt; charset=utf-8',
}

/** What a reader sees in place of a damaged segment. */
const DAMAGED_TEXT = '[damaged]'

const withMark = (segment: ReadSegment): ReadSegment => (segment.damaged ? { ...segment, text: DAMAGED_TEXT } : segment)

/** The usual line length of subtitles in broadcasting. */
const SUBTITLE_CHARS = 42

const textOf = (
  format: TextFormat, segments: ReadonlyArray<ReadSegment>, charsPerLine: number | null, lines: number,
): string => {
  const shape: CaptionShape = { maxChars: charsPerLine ?? SUBTITLE_CHARS, maxLines: lines }
  switch (format) {
    case 'txt':
      return segments.map(({ text }) => `${charsPerLine === null ? text : wrapped(text, charsPerLine)}\n`).join('')
    case 'srt':
      return toSubRip(segments, shape)
    case 'vtt':
      return toWebVtt(segments, shape)
  }
}

const getTranscript = privateRoute(
  'private',
  {
    operationId: 'getTranscript',
    summary: 'Get the saved text of a session as JSON, text or subtitles',
    method: 'GET',
    path: '/lives/:id/transcript',
    params: pathId,
    query: transcriptQuery,
    response: { codec: t.union([single(transcriptView), textFile]), textTypes: Object.values(MEDIA_TYPES) },
    refusals: ['LiveNotFound', 'TranscriptNotFound', ...UNAVAILABLE],
  },
  async ({ params, query, caller, facts }, calls: TranscriptCalls) => {
    const transcript = await calls.getTranscript(caller, params.id)
    if (E.isLeft(transcript)) return transcript
    const { format } = query
    // JSON contains all languages, because each segment names its language. Text formats contain the original only.
    const isWanted = ({ language, kind }: ReadSegment): boolean =>
      query.language === null ? format === 'json' || kind === 'transcription' : language === query.language
    const segments = transcript.right.filter(isWanted)
    if (format === 'json') return E.right({ data: { transcript: segments.map(presentSegment(facts.strict)) } })
    const text = textOf(format, segments.map(withMark), query.chars_per_line, query.lines)
    return E.right({ mediaType: MEDIA_TYPES[format], text })
  },
)

export const transcriptRoutes: ReadonlyArray<Route<TranscriptCalls>> = [getTranscript]
