import { signal } from '@preact/signals'
import type { CreateLiveRequest } from '../../../client/operations.ts'
import { settingsOf, USUAL_SETTINGS } from '../../components/settings-fields.ts'
import type { TypedSettings } from '../../components/settings-fields.ts'
import { address } from '../../state/address.ts'

export const SOURCES = ['microphone', 'sample', 'file', 'url', 'program'] as const
export type Source = (typeof SOURCES)[number]

/** What is chosen for the next session. */
export interface Order {
  readonly source: Source
  readonly device: string
  readonly reduceNoise: boolean
  readonly file: File | null
  readonly inRealTime: boolean
  readonly urlKind: 'hls' | 'rtmp' | 'rtsp'
  readonly url: string
  readonly model: string
  readonly language: string
  readonly into: ReadonlyArray<string>
  readonly settings: TypedSettings
  /** False leaves them to the service. */
  readonly hasSettings: boolean
  readonly keepText: boolean
  readonly listenerToken: string
  readonly hasLook: boolean
  readonly background: string
  readonly textColor: string
  readonly textSize: string
}

const sourceIn = (query: URLSearchParams): Source | null => SOURCES.find((source) => source === query.get('source'))
  ?? null

/** Chosen before there was an address that says something else; `source` is null until somebody chose one. */
const first = (): Omit<Order, 'source'> & { readonly source: Source | null } => {
  const { query } = address.peek()
  return {
    source: sourceIn(query), device: '', reduceNoise: true, file: null, inRealTime: true, urlKind: 'hls', url: '',
    model: query.get('model') ?? '', language: query.get('language') ?? '',
    into: query.get('into')?.split(',').filter((one) => one !== '') ?? [],
    settings: USUAL_SETTINGS, hasSettings: false, keepText: false, listenerToken: '',
    hasLook: false, background: '#000000', textColor: '#ffffff', textSize: '28',
  }
}

export const chosen = signal(first())

export const choose = (changed: Partial<Order>): void => {
  chosen.value = { ...chosen.value, ...changed }
}

/** The request that creates the session. */
export const requestOf = (order: Order): CreateLiveRequest => ({
  model: order.model,
  language: order.language,
  ...(order.source === 'url' && { audio_format: order.urlKind, audio_url: order.url, auto_start: true }),
  ...(order.into.length > 0 && { translations: order.into }),
  ...(order.hasSettings && { config: settingsOf(order.settings) }),
  ...(order.keepText && { live_retention: true }),
  ...(order.listenerToken !== '' && { listener_token: order.listenerToken }),
  ...(order.hasLook && {
    background_color: order.background.slice(1), color_text: order.textColor.slice(1),
    size_text: Number(order.textSize),
  }),
})
