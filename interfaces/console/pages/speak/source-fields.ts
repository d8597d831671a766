import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { VNode } from 'preact'
import { checkbox, choice, field, textField } from '../../components/field.ts'
import { t } from '../../messages/texts.ts'
import { changeQuery } from '../../state/address.ts'
import { div, fieldset, input, label, legend, p, view } from '../../ui/tags.ts'
import { choose, type SessionOptions, type Source, SOURCES } from './session-options.ts'

type Problems = Readonly<Record<string, string>>

interface Microphone {
  readonly id: string
  /** Empty until the user has allowed a microphone. */
  readonly name: string
}

const listMicrophones = async (): Promise<ReadonlyArray<Microphone>> => {
  const devices = await navigator.mediaDevices.enumerateDevices()
  return devices
    .filter(({ kind, deviceId }) => kind === 'audioinput' && deviceId !== '')
    .map(({ deviceId: id, label: name }) => ({ id, name }))
}

interface DeviceProps {
  readonly options: SessionOptions
}

const Device = ({ options }: DeviceProps): VNode => {
  const microphones = useSignal<ReadonlyArray<Microphone>>([])
  useEffect(() => {
    // Browsers provide mediaDevices only to pages on https and localhost.
    if (navigator.mediaDevices === undefined) return
    const refresh = (): void => void listMicrophones().then((found) => (microphones.value = found))
    refresh()
    navigator.mediaDevices.addEventListener('devicechange', refresh)
    return () => navigator.mediaDevices.removeEventListener('devicechange', refresh)
  }, [])
  const named = microphones.value.filter(({ name }) => name !== '').map(({ id, name }) => [id, name] as const)
  return div(
    null,
    named.length === 0 ? null : choice(
      { id: 'device', text: t('device') }, options.device, [['', t('device_default')], ...named], (device) =>
        choose({ device }),
    ),
    checkbox('noise', t('noise'), options.reduceNoise, (reduceNoise) => choose({ reduceNoise })),
  )
}

const device = view(Device)

const fileFields = (options: SessionOptions): VNode =>
  div(
    null,
    field({ id: 'file', text: t('file') }, (attributes) =>
      input({ ...attributes, type: 'file', accept: 'audio/*,video/*', onChange: ({ currentTarget }) =>
        choose({ file: currentTarget.files?.[0] ?? null }) })),
    choice(
      { id: 'pace', text: t('file_pace') }, options.inRealTime ? 'real' : 'fast',
      [['real', t('pace_real')], ['fast', t('pace_fast')]],
      (pace) => choose({ inRealTime: pace === 'real' }),
    ),
  )

const KINDS = ['hls', 'rtmp', 'rtsp'] as const

const urlFields = (options: SessionOptions, problems: Problems): VNode =>
  div(
    null,
    choice(
      { id: 'url-kind', text: t('url_kind') }, options.urlKind, KINDS.map((kind) => [kind, t(`url_${kind}`)]),
      (kind) => choose({ urlKind: KINDS.find((known) => known === kind) ?? 'hls' }),
    ),
    textField({ id: 'url', text: t('url'), problem: problems['audio_url'] }, options.url, (url) => choose({ url }),
      { type: 'url', required: true, spellcheck: false }),
  )

const FIELDS: Readonly<Record<Source, (options: SessionOptions, problems: Problems) => VNode | null>> = {
  microphone: (options) => device({ options }),
  sample: () => null,
  file: fileFields,
  url: urlFields,
  program: () => p({ class: 'hint' }, t('program_text')),
}

/** Shows the choice of the audio source and its fields. */
export const sourceFields = (options: SessionOptions, problems: Problems): VNode =>
  fieldset(
    null,
    legend(null, t('source')),
    ...SOURCES.map((source) =>
      div(
        { class: 'check', key: source },
        input({
          type: 'radio', name: 'source', id: `source-${source}`, checked: options.source === source,
          onChange: () => {
            choose({ source })
            changeQuery({ source })
          },
        }),
        label({ for: `source-${source}` }, t(`source_${source}`)),
      )),
    FIELDS[options.source](options, problems),
  )
