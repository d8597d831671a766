import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { VNode } from 'preact'
import { checkbox, choice, field, textField } from '../../components/field.ts'
import { t } from '../../messages/texts.ts'
import { changeQuery } from '../../state/address.ts'
import { div, fieldset, input, label, legend, p, view } from '../../ui/tags.ts'
import { choose, SOURCES } from './order.ts'
import type { Order, Source } from './order.ts'

type Problems = Readonly<Record<string, string>>

/** Microphones by id; their names are known once one was allowed. */
const microphones = async (): Promise<ReadonlyArray<{ readonly id: string; readonly name: string }>> => {
  const devices = await navigator.mediaDevices.enumerateDevices()
  return devices.filter(({ kind, deviceId }) => kind === 'audioinput'
    && deviceId !== '').map(({ deviceId: id, label: name }) => ({ id, name }))
}

interface DeviceProps {
  readonly order: Order
}

const Device = ({ order }: DeviceProps): VNode => {
  const known = useSignal<ReadonlyArray<{ readonly id: string; readonly name: string }>>([])
  useEffect(() => {
    // Browsers have microphones for pages of https and localhost alone.
    if (navigator.mediaDevices === undefined) return
    const look = (): void => void microphones().then((found) => (known.value = found))
    look()
    navigator.mediaDevices.addEventListener('devicechange', look)
    return () => navigator.mediaDevices.removeEventListener('devicechange', look)
  }, [])
  const named = known.value.filter(({ name }) => name !== '').map(({ id, name }) => [id, name] as const)
  return div(
    null,
    named.length === 0 ? null : choice(
      { id: 'device', text: t('device') }, order.device, [['', t('device_default')], ...named], (device) =>
        choose({ device }),
    ),
    checkbox('noise', t('noise'), order.reduceNoise, (reduceNoise) => choose({ reduceNoise })),
  )
}

const device = view(Device)

const fileFields = (order: Order): VNode =>
  div(
    null,
    field({ id: 'file', text: t('file') }, (attributes) =>
      input({ ...attributes, type: 'file', accept: 'audio/*,video/*', onChange: ({ currentTarget }) =>
        choose({ file: currentTarget.files?.[0] ?? null }) })),
    choice(
      { id: 'pace', text: t('file_pace') }, order.inRealTime ? 'real' : 'fast',
      [['real', t('pace_real')], ['fast', t('pace_fast')]],
      (pace) => choose({ inRealTime: pace === 'real' }),
    ),
  )

const KINDS = ['hls', 'rtmp', 'rtsp'] as const

const urlFields = (order: Order, problems: Problems): VNode =>
  div(
    null,
    choice(
      { id: 'url-kind', text: t('url_kind') }, order.urlKind, KINDS.map((kind) => [kind, t(`url_${kind}`)]),
      (kind) => choose({ urlKind: KINDS.find((one) => one === kind) ?? 'hls' }),
    ),
    textField({ id: 'url', text: t('url'), problem: problems['audio_url'] }, order.url, (url) => choose({ url }),
      { type: 'url', required: true, spellcheck: false }),
  )

const FIELDS: Readonly<Record<Source, (order: Order, problems: Problems) => VNode | null>> = {
  microphone: (order) => device({ order }),
  sample: () => null,
  file: fileFields,
  url: urlFields,
  program: () => p({ class: 'hint' }, t('program_text')),
}

/** Where the audio comes from. */
export const sourceFields = (order: Order, problems: Problems): VNode =>
  fieldset(
    null,
    legend(null, t('source')),
    ...SOURCES.map((source) =>
      div(
        { class: 'check', key: source },
        input({
          type: 'radio', name: 'source', id: `source-${source}`, checked: order.source === source,
          onChange: () => {
            choose({ source })
            changeQuery({ source })
          },
        }),
        label({ for: `source-${source}` }, t(`source_${source}`)),
      )),
    FIELDS[order.source](order, problems),
  )
