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
import { endText } from '../speak/session-problem.ts'
import { download, type DownloadOptions, FORMATS } from './download.ts'
import type { ReceivedText } from './received-text.ts'

interface CaptionsTabProps {
  readonly live: LiveSession
  readonly activity: LiveActivity
  readonly received: ReceivedText
}

const Download = ({ live, received }: CaptionsTabProps): VNode => {
  const options = useSignal<DownloadOptions>({ format: 'txt', language: '', chars: '', lines: '' })
  const { run, error } = useAction()
  const update = (changed: Partial<DownloadOptions>): void => {
    options.value = { ...options.value, ...changed }
  }
  const targets = live.translations.map(({ lang_to: to }) => to.iso_639_1)
  const { format, language, chars, lines } = options.value
  const hasLineOptions = received.isKept && (format === 'srt' || format === 'vtt')
  return details(
    null,
    summary(null, t('download')),
    received.isKept ? null : p({ class: 'hint' }, t('text_not_kept')),
    div(
      { class: 'filters' },
      choice({ id: 'format', text: t('format') }, format, FORMATS.map((name) => [name, name.toUpperCase()]), (chosen) =>
        update({ format: FORMATS.find((name) => name === chosen) ?? 'txt' })),
      choice({ id: 'download-language', text: t('language') }, language,
        [['', t('as_spoken')], ...targets.map((target) => [target, languageName(target)] as const)], (chosen) =>
          update({ language: chosen })),
      hasLineOptions ? textField({ id: 'chars', text: t('chars_per_line') }, chars, (value) => update({ chars: value }),
        { type: 'number', min: 1, max: 1000 }) : null,
      hasLineOptions ? textField({ id: 'lines', text: t('lines') }, lines, (value) => update({ lines: value }),
        { type: 'number', min: 1, max: 100 }) : null,
      button({ type: 'button', onClick: () => run(() => download(live, received, options.value)) }, t('download')),
    ),
    problem(error.value),
  )
}

const emptyText = ({ end }: ReceivedText, live: LiveSession): string =>
  end?.reason === 'refused' && live.status !== 'pending' ? t('captions_gone') : t('no_captions')

const CaptionsTab = (props: CaptionsTabProps): VNode => {
  const { live, activity, received } = props
  const size = preferences.value.captionSize
  const isWaiting = live.status === 'pending' && live.audio_format === 'raw'
  const hasFailed = received.end !== null && !['finished', 'refused', 'session_finished'].includes(received.end.reason)
  return div(
    null,
    isWaiting ? p(null, t('sender_address')) : null,
    isWaiting ? codeBlock({ text: `${socketAddress(live.relative_path)}?token=${live.sender_token}`,
      label: t('address') }) : null,
    hasFailed && received.end !== null ? problem(new Error(endText(received.end))) : null,
    activity.wrong_samples === null ? null
      : p({ class: 'notice bad', role: 'alert' },
        t('wrong_samples', { format: t(`samples_${activity.wrong_samples}`) })),
    captionList({ captions: received.captions, empty: emptyText(received, live) }),
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
