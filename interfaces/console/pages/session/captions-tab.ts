import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import type { LiveActivity, LiveSession } from '../../../client/operations.ts'
import { captionList } from '../../components/captions.ts'
import { codeBlock } from '../../components/code.ts'
import { choice, textField } from '../../components/field.ts'
import { problem } from '../../components/loading.ts'
import { formatMoment, languageName, t } from '../../messages/texts.ts'
import { useAction } from '../../state/loading.ts'
import { socketAddress } from '../../state/login.ts'
import { preferences, prefer } from '../../state/preferences.ts'
import { button, details, div, p, summary, view } from '../../ui/tags.ts'
import { endText } from '../speak/trouble.ts'
import { download, FORMATS } from './download.ts'
import type { Wanted } from './download.ts'
import type { Heard } from './listening.ts'

interface CaptionsTabProps {
  readonly live: LiveSession
  readonly activity: LiveActivity
  readonly heard: Heard
}

const Download = ({ live, heard }: CaptionsTabProps): VNode => {
  const wanted = useSignal<Wanted>({ format: 'txt', language: '', chars: '', lines: '' })
  const { run, error } = useAction()
  const take = (changed: Partial<Wanted>): void => {
    wanted.value = { ...wanted.value, ...changed }
  }
  const targets = live.translations.map(({ lang_to: to }) => to.iso_639_1)
  const { format, language, chars, lines } = wanted.value
  const isShaped = heard.isKept && (format === 'srt' || format === 'vtt')
  return details(
    null,
    summary(null, t('download')),
    heard.isKept ? null : p({ class: 'hint' }, t('text_not_kept')),
    div(
      { class: 'filters' },
      choice({ id: 'format', text: t('format') }, format, FORMATS.map((one) => [one, one.toUpperCase()]), (one) =>
        take({ format: FORMATS.find((known) => known === one) ?? 'txt' })),
      choice({ id: 'download-language', text: t('language') }, language,
        [['', t('as_spoken')], ...targets.map((one) => [one, languageName(one)] as const)], (one) =>
          take({ language: one })),
      isShaped ? textField({ id: 'chars', text: t('chars_per_line') }, chars, (value) => take({ chars: value }),
        { type: 'number', min: 1, max: 1000 }) : null,
      isShaped ? textField({ id: 'lines', text: t('lines') }, lines, (value) => take({ lines: value }),
        { type: 'number', min: 1, max: 100 }) : null,
      button({ type: 'button', onClick: () => run(() => download(live, heard, wanted.value)) }, t('download')),
    ),
    problem(error.value),
  )
}

const emptyText = ({ end }: Heard, live: LiveSession): string =>
  end?.reason === 'refused' && live.status !== 'pending' ? t('captions_gone') : t('no_captions')

const CaptionsTab = (props: CaptionsTabProps): VNode => {
  const { live, activity, heard } = props
  const size = preferences.value.captionSize
  const isWaiting = live.status === 'pending' && live.audio_format === 'raw'
  const hasFailed = heard.end !== null && !['finished', 'refused', 'session_finished'].includes(heard.end.reason)
  return div(
    null,
    isWaiting ? p(null, t('sender_address')) : null,
    isWaiting ? codeBlock({ text: `${socketAddress(live.relative_path)}?token=${live.sender_token}`,
      label: t('address') }) : null,
    hasFailed && heard.end !== null ? problem(new Error(endText(heard.end))) : null,
    captionList({ captions: heard.captions, empty: emptyText(heard, live) }),
    activity.text_until === null ? null
      : p({ class: 'hint' }, t('text_until', { at: formatMoment(activity.text_until) })),
    div(
      { class: 'filters' },
      textField({ id: 'caption-size', text: t('caption_size') }, String(size), (value) =>
        prefer({ captionSize: Math.min(48, Math.max(16, Number(value) || 20)) }), {
        type: 'number', min: 16, max: 48,
      }),
    ),
    view(Download)(props),
  )
}

export const captionsTab = view(CaptionsTab)
