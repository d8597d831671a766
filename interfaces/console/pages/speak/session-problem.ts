import type { ComponentChildren, VNode } from 'preact'
import { ApiError } from '../../../client/client.ts'
import type { SocketEnd } from '../../../client/live-socket.ts'
import { FileTooLong } from '../../audio/source.ts'
import { problem } from '../../components/loading.ts'
import { t, type TextName } from '../../messages/texts.ts'
import { linkTo } from '../../state/address.ts'
import { a, div, p, span } from '../../ui/tags.ts'

const notice = (text: string, ...more: ReadonlyArray<ComponentChildren>): VNode =>
  div({ class: 'notice bad', role: 'alert' }, p(null, span({ class: 'sign', 'aria-hidden': true }, '!'), text), ...more)

/** Texts for the browser's audio errors by name: the problem and its remedy. */
const AUDIO_ERRORS: Readonly<Record<string, readonly [problem: TextName, remedy: TextName]>> = {
  InsecureContext: ['mic_insecure', 'mic_insecure_help'],
  NotAllowedError: ['mic_blocked', 'mic_blocked_help'],
  NotFoundError: ['mic_missing', 'mic_choose'],
  OverconstrainedError: ['mic_missing', 'mic_choose'],
  NotReadableError: ['mic_busy', 'mic_choose'],
  AbortError: ['mic_busy', 'mic_choose'],
}

const ENDS: Readonly<Record<string, TextName>> = {
  token_revoked: 'end_token_revoked', session_idle: 'end_session_idle',
  sender_already_connected: 'end_sender_already_connected',
  session_finished: 'end_session_finished', refused: 'end_refused', engine_failed: 'end_engine',
  model_load_failed: 'end_engine',
  source_failed: 'end_engine', audio_too_fast: 'end_audio', rate_limited: 'end_audio', invalid_audio: 'end_audio',
  invalid_message: 'end_audio', invalid_config: 'end_audio', audio_not_expected: 'end_audio',
}

export const endText = ({ reason, code, detail }: SocketEnd): string => t(ENDS[reason] ?? 'end_other', { code, detail })

const audioNotice = (error: DOMException): VNode => {
  if (error.name === 'EncodingError') return notice(t('file_unreadable'))
  const [text, remedy] = AUDIO_ERRORS[error.name] ?? ['mic_busy', 'mic_choose']
  return notice(t(text), p(null, t(remedy)))
}

/** Shows why a session could not begin or failed, and the next step. */
export const sessionProblem = (failure: unknown, end: SocketEnd | null, retry: () => void): VNode => {
  if (failure instanceof DOMException) return audioNotice(failure)
  if (failure instanceof FileTooLong) return notice(t('file_too_long'))
  if (failure instanceof ApiError && (failure.status === 403 || failure.status === 503))
    return div(null, problem(failure, retry),
      p(null, a({ href: linkTo('sessions', { status: 'active' }) }, t('sessions'))))
  return end === null || failure !== null ? div(null, problem(failure, retry)) : notice(endText(end))
}
