import { failureCode, finishReason } from '../../domain/live/events.ts'
import { createSchemas } from '../../interfaces/description/json-schema.ts'
import { endingFor, errorEnding, type Ending } from '../../interfaces/ws/ends.ts'
import { errorFrame, type ErrorCode } from '../../interfaces/ws/frames.ts'
import { CLIENT_MESSAGES, SERVICE_MESSAGES } from '../../interfaces/ws/messages.ts'
import { END_TEXTS, ERROR_ADVICE } from '../../interfaces/ws/texts.ts'
import { code, page, table } from './markdown.ts'
import { membersOf } from './schemas.ts'

type Messages = typeof CLIENT_MESSAGES | typeof SERVICE_MESSAGES

const memberText = ({ name, type, required }: ReturnType<typeof membersOf>[number]): string =>
  `${code(name)}: ${type}${required ? '' : ' (optional)'}`

const rowsOf = (messages: Messages): ReadonlyArray<ReadonlyArray<string>> => {
  const schemas = createSchemas()
  return Object.entries(messages).map(([name, { codec, summary }]) => {
    const members = membersOf(schemas.of(codec), schemas.components())
    const shown = name === 'config'
      ? '`type`: `"config"`; any [session setting](session-settings.md)'
      : members.map(memberText).join('; ')
    return [name, shown, summary]
  })
}

const OPEN_AFTER_ERROR = ['config_required', 'config_too_late', 'audio_not_expected'] as const
const keepsOpen = (name: ErrorCode): name is (typeof OPEN_AFTER_ERROR)[number] =>
  OPEN_AFTER_ERROR.some((errorCode) => errorCode === name)

const INVALID_FRAMES: ReadonlySet<ErrorCode> = new Set(['invalid_message', 'invalid_config', 'invalid_audio'])

const shownClose = (name: ErrorCode): string => {
  if (keepsOpen(name)) return '–'
  const { close } = errorEnding(name)
  if (INVALID_FRAMES.has(name)) return `${close} at the 11th`
  return name === 'forbidden' ? `${close} at the 4th` : String(close)
}

const detailOf = (name: ErrorCode): string => (JSON.parse(errorFrame(name)) as { readonly detail: string }).detail

const closeOf = (ending: Ending | null): string =>
  ending === null ? '(already closed)' : `${ending.close}${ending.reason === '' ? '' : ` ${code(ending.reason)}`}`

const reasons = Object.keys(finishReason.keys) as ReadonlyArray<keyof typeof finishReason.keys>
const failures = Object.keys(failureCode.keys) as ReadonlyArray<keyof typeof failureCode.keys>

const endRows = [
  ...reasons.map((reason) => {
    const cause = { status: 'finished', reason } as const
    return [code(reason), END_TEXTS[reason], closeOf(endingFor(cause, 'sender')), closeOf(endingFor(cause, 'listener'))]
  }),
  ...failures.map((failure) => {
    const cause = { status: 'error', code: failure, detail: '' } as const
    return [
      code(failure), END_TEXTS[failure], closeOf(endingFor(cause, 'sender')), closeOf(endingFor(cause, 'listener')),
    ]
  }),
]

const codes = Object.keys(ERROR_ADVICE) as ReadonlyArray<ErrorCode>

const CLOSE_MEANINGS: Readonly<Record<number, string>> = {
  1000: 'The session is finished.',
  1006: 'The connection broke. Your WebSocket library reports this code; the service never sends it. Connect again.',
  1008: 'The service refused the sent data.',
  1011: 'The engine, the model or the audio source failed.',
  1012: 'The service restarts.',
  1013: 'The connection had more than 1 MiB unread.',
  4401: 'The session was deleted, or its user was deactivated or deleted.',
  4403: 'A listener tried to send.',
  4408: 'The sender sent nothing for IDLE_TIMEOUT.',
  4409: 'Another sender is connected to the session.',
  4410: 'The session has ended.',
}

const closingErrors = codes.flatMap((name) => (keepsOpen(name) ? [] : [{ name, close: errorEnding(name).close }]))

const closeCodes = [...new Set([1000, 1006, ...closingErrors.map(({ close }) => close)])].toSorted((a, b) => a - b)

const closeRows = closeCodes.map((close) => {
  const meaning = CLOSE_MEANINGS[close]
  if (meaning === undefined) throw new Error(`the close code ${close} has no text`)
  const names = closingErrors.filter((error) => error.close === close).map(({ name }) => `[${code(name)}](#errors)`)
  return [String(close), meaning, names.join(', ') || '–']
})

export const websocketPage = (): string =>
  page(
    'WebSocket',
    'Open `ws://HOST/ws/live/{id}?token=…` with the sender token or the listener token of a session. A session has '
      + 'one sender at a time and any number of listeners. Use `wss://` with TLS. `/asyncapi.json` is the '
      + 'machine-readable description.',
    '## Course of a session',
    [
      '1. The sender connects, reads the frame `connection`, sends `{"type":"config"}` and waits for '
        + '`{"status":"started"}`.',
      '2. The sender sends audio as 16-bit little-endian PCM, 16 kHz, mono. It uses binary frames of about 100 ms '
        + '(3,200 bytes) or `audio` frames. A frame may hold at most ten seconds.',
      '3. The sender and the listeners read `transcription` frames. A *segment* is one piece of the text, with a '
        + 'number. Its text may change: each frame replaces the earlier frames of the same `segment`. The last frame '
        + 'of a segment has `"final":true`.',
      '4. The sender sends `{"type":"FINISH"}` and reads until `{"status":"finished"}`. The service then closes the '
        + 'connection with 1000.',
    ].join('\n'),
    '## Frames to the service',
    table(
      ['Frame', 'Members', 'Meaning'],
      [
        ...rowsOf(CLIENT_MESSAGES),
        ['(binary)', '', '16-bit little-endian mono PCM at 16 kHz, at most ten seconds. The header of a WAVE file with '
          + 'such samples is skipped.'],
      ],
    ),
    '## Frames from the service',
    table(['Frame', 'Members', 'Meaning'], rowsOf(SERVICE_MESSAGES)),
    'With the setting COMPAT_STRICT=1, the service leaves out `segment` and `final`.',
    '## Query parameters',
    table(['Name', 'Meaning'], [
      ['`token`', 'sender token or listener token; `token_sender` is another name for it'],
      [
        '`after=N`',
        'only for listeners. N is the `segment` of the last final text that the listener has, from 0. The '
          + 'listener first gets the translations of segment N, then every later final segment with its translations, '
          + 'then all new frames. This works until one minute after the end of the session',
      ],
      [
        '`replay=N`',
        'only for listeners. N is a number of final segments, from 0 to 100. The listener gets the last N final '
          + 'segments, and then all new frames',
      ],
    ]),
    '## Refused handshakes',
    table(['Status', 'Meaning'], [
      ['400', 'the request is not a valid handshake'],
      ['401', 'missing or wrong token, or deleted session. The token of a session that exists never gets 401'],
      ['403', 'the origin of the page is not in WS_ORIGINS'],
      ['404', 'this path is not a WebSocket'],
      ['422', '`after` or `replay` is out of range; `detail` is a list, as in other responses'],
      ['426', 'the request is a plain GET: connect with a WebSocket client'],
      [
        '429',
        'too many wrong tokens or connections from this address, or all connections are in use; wait for `Retry-After`',
      ],
      ['503', 'the service is stopping, or a store is unavailable; wait for `Retry-After`'],
    ]),
    '## Close codes',
    table(['Code', 'Meaning', 'Errors'], closeRows),
    '## How sessions end',
    'Before close code 1000 the service sends `{"status":"finished"}`; before every other code it sends an `error` '
      + 'frame.',
    table(['Reason in the history', 'What happened', 'Sender gets', 'Listeners get'], endRows),
    '## Errors',
    'An `error` frame has `code` and `detail`. The service then closes the connection with the code in the column '
      + 'Close. A dash means that the connection stays open. “1008 at the 11th” means that only the 11th invalid frame '
      + 'closes the connection. “4403 at the 4th” means that the fourth forbidden frame closes it.',
    table(
      ['Code', 'Detail', 'Close', 'What to do'],
      codes.map(
        (name) => [code(name), detailOf(name), shownClose(name), ERROR_ADVICE[name]],
      ),
    ),
  )
