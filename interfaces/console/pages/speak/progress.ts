import type { VNode } from 'preact'
import { badge } from '../../components/badge.ts'
import { captionList } from '../../components/captions.ts'
import { formatSpan, t } from '../../messages/texts.ts'
import { linkTo } from '../../state/address.ts'
import {
  captions, isMuted, isRunning, lagSeconds, leave, level, live, mute, type Phase, phase, quietSeconds, sentSeconds,
} from '../../speaking/run.ts'
import { a, button, div, label, meter, section, span, view } from '../../ui/tags.ts'

type Badge = readonly [tone: 'good' | 'warn' | 'bad' | 'accent' | 'muted', sign: string]

const BADGES: Readonly<Partial<Record<Phase, Badge>>> = {
  listening: ['bad', '●'], reconnecting: ['warn', '!'], done: ['good', '✓'], failed: ['bad', '!'], idle: ['muted', '○'],
}

const QUIET_WARNING_SECONDS = 5
const LOUD_DB = -3

const Level = (): VNode =>
  div(
    { class: 'status-line' },
    label({ for: 'level' }, t('level')),
    meter({ id: 'level', min: -60, max: 0, high: LOUD_DB, value: level.value }),
    span({ class: 'hint' }, t('level_db', { db: Math.round(level.value) })),
    level.value > LOUD_DB ? badge('warn', '!', t('too_loud')) : null,
    quietSeconds.value >= QUIET_WARNING_SECONDS ? badge('warn', '!', t('too_quiet')) : null,
    button({ type: 'button', onClick: mute, 'aria-pressed': isMuted.value, 'data-key': 'm' }, isMuted.value
      ? t('unmute') : t('mute')),
  )

const Status = (): VNode => {
  const [tone, sign] = BADGES[phase.value] ?? ['accent', '…']
  const lag = lagSeconds.value
  const isLate = lag !== null && lag >= (live.value?.config.max_delay ?? 5)
  return div(
    { class: 'status-line' },
    span({ role: 'status' }, badge(tone, sign, t(`phase_${phase.value}`))),
    sentSeconds.value > 0 ? span(null, formatSpan(sentSeconds.value)) : null,
    isRunning.value && lag !== null
      ? span({ class: isLate ? 'warn' : 'muted' }, t('behind', { seconds: lag.toFixed(1) })) : null,
  )
}

const Progress = (): VNode => {
  const session = live.value
  return section(
    { 'aria-label': t('captions') },
    view(Status)({}),
    captionList({ captions: captions.value, empty: t('captions_empty') }),
    phase.value === 'listening' && sentSeconds.value > 0 ? view(Level)({}) : null,
    session === null ? null : div(
      { class: 'actions' },
      a({ href: linkTo(`sessions/${session.id}`) }, t('session_link', { id: session.id })),
      isRunning.value ? null : button({ type: 'button', onClick: leave }, t('new_session')),
    ),
  )
}

/** Shows the progress of the session that this tab started. */
export const progressView = view(Progress)
