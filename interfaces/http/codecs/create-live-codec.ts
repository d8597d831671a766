import * as t from 'io-ts'
import type { CreateLiveRequest } from '../../../application/lives/commands/requested-live.ts'
import { type AudioFormat, audioFormat } from '../../../domain/live/events.ts'
import { boundedInteger, boundedString } from '../../../domain/shared/codecs.ts'
import { bufferComplaint, type GivenSettings, settingsBody, settingsOf, vocabularyOf } from './settings-codec.ts'
import { type Complaint, listOf, members, optional, refined } from './validation.ts'

/** An audio URL before its scheme is checked. */
export const audioUrl = boundedString(0, 2048)
/** There are fewer languages. */
const MAX_TRANSLATIONS = 100
/** Bounds of `size_text`, in pixels. */
export const [SMALLEST_TEXT, LARGEST_TEXT] = [8, 200] as const
const SCHEMES: Readonly<Record<Exclude<AudioFormat, 'raw'>, ReadonlyArray<string>>> = {
  hls: ['http:', 'https:'],
  rtmp: ['rtmp:', 'rtmps:'],
  rtsp: ['rtsp:', 'rtsps:'],
}

/** Three, four, six or eight hexadecimal digits, without `#`. */
export const colour = boundedString(3, 8, /^(?:[0-9A-Fa-f]{3,4}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})$/)
const listenerToken = boundedString(4, 128, /^[A-Za-z0-9._~-]+$/)
/** Any short text is valid here. An unknown name is reported as not found. */
const name = boundedString(0, 200)

const fields = members({
  model: name,
  language: name,
  audio_format: optional(audioFormat, 'raw' as const),
  audio_url: optional(audioUrl, null),
  translations: optional(listOf(name, MAX_TRANSLATIONS), []),
  auto_start: optional(t.boolean, false),
  live_retention: optional(t.boolean, false),
  config: optional(refined(settingsBody, bufferComplaint), undefined),
  background_color: optional(colour, null),
  color_text: optional(colour, null),
  size_text: optional(boundedInteger(SMALLEST_TEXT, LARGEST_TEXT), null),
  listener_token: optional(listenerToken, null),
  custom_listener_token: optional(listenerToken, null),
})
type Fields = t.TypeOf<typeof fields>

const urlProblem = (format: Exclude<AudioFormat, 'raw'>, text: string): string | null => {
  // The URL parser drops white space and control characters, so the stored URL would differ from the opened URL.
  const url = /[\p{Cc}\p{Cs}\s]/u.test(text) || !/^[a-z]+:\/\//i.test(text) ? null : URL.parse(text)
  if (url === null || url.hostname === '') return 'URL should be absolute and valid'
  const schemes = SCHEMES[format]
  if (schemes.includes(url.protocol)) return null
  return `URL scheme should be ${schemes.map((scheme) => scheme.slice(0, -1)).join(' or ')}`
}

const audioUrlComplaint = ({ audio_format, audio_url }: Fields): Complaint | null => {
  if (audio_format === 'raw') return null
  if (audio_url === null || audio_url === '') return { at: 'audio_url' }
  const message = urlProblem(audio_format, audio_url)
  return message === null ? null : { at: 'audio_url', message }
}

const listenerTokenComplaint = ({ listener_token, custom_listener_token }: Fields): Complaint | null =>
  listener_token !== null && custom_listener_token !== null && listener_token !== custom_listener_token
    ? { at: 'listener_token', message: 'listener_token and custom_listener_token should be the same' }
    : null

/** An Idempotency-Key is printable ASCII with at most 255 characters. */
export const createLiveHeaders = members({ 'idempotency-key': optional(boundedString(1, 255, /^[\x20-\x7e]+$/), null) })

/** Body of POST /lives. */
export const createLiveBody = refined(refined(fields, audioUrlComplaint), listenerTokenComplaint)

/** Converts a decoded body for the application. The application checks the permission for retention. */
export const createLiveRequest = (body: Fields): CreateLiveRequest => {
  const isRaw = body.audio_format === 'raw'
  const { background_color, color_text, size_text } = body
  const config = body.config ?? ({} as GivenSettings)
  const isDisplayed = background_color !== null || color_text !== null || size_text !== null
  return {
    model: body.model,
    language: body.language,
    audioFormat: body.audio_format,
    audioUrl: isRaw ? null : body.audio_url,
    translations: Array.from(new Set(body.translations)),
    autoStart: !isRaw && body.auto_start,
    retention: body.live_retention,
    config: settingsOf(config),
    ...vocabularyOf(config),
    display: isDisplayed ? { background_color, color_text, size_text } : null,
    listenerToken: body.listener_token ?? body.custom_listener_token,
  }
}
