import type { VNode } from 'preact'
import { t } from '../messages/texts.ts'
import { div } from '../ui/tags.ts'
import { checkbox, choice, textField } from './field.ts'

/** The nine engine settings as form values. Numbers stay text until they are sent. */
export interface TypedSettings {
  readonly vad: boolean
  readonly mode: 'partial' | 'final'
  readonly min_buffer: string
  readonly max_buffer: string
  readonly buffer_timeout: string
  readonly max_delay: string
  readonly max_chars: string
  readonly max_lines: string
  readonly punctuation: boolean
}

/** The defaults of the service. */
export const DEFAULT_SETTINGS: TypedSettings = {
  vad: true, mode: 'partial', min_buffer: '1', max_buffer: '10', buffer_timeout: '1', max_delay: '5', max_chars: '80',
  max_lines: '2', punctuation: true,
}

const NUMBERS = ['min_buffer', 'max_buffer', 'buffer_timeout', 'max_delay', 'max_chars', 'max_lines'] as const
type NumberName = (typeof NUMBERS)[number]

interface Settings extends Record<NumberName, number> {
  readonly vad: boolean
  readonly mode: 'partial' | 'final'
  readonly punctuation: boolean
}

export const typedOf = (settings: Readonly<Settings>): TypedSettings => {
  const { vad, mode, punctuation } = settings
  const numbers = Object.fromEntries(NUMBERS.map((name) => [name, String(settings[name])])) as Record<NumberName,
    string>
  return { vad, mode, punctuation, ...numbers }
}

export const settingsOf = (typed: TypedSettings): Settings => {
  const { vad, mode, punctuation } = typed
  const numbers = Object.fromEntries(NUMBERS.map((name) => [name, Number(typed[name])])) as Record<NumberName, number>
  return { vad, mode, punctuation, ...numbers }
}

const RANGES: Readonly<Record<NumberName, readonly [min: number, max: number, step: number]>> = {
  min_buffer: [0.1, 30, 0.1], max_buffer: [0.5, 30, 0.1], buffer_timeout: [0.1, 30, 0.1], max_delay: [0.5, 60, 0.1],
  max_chars: [1, 1000, 1], max_lines: [1, 100, 1],
}

/** Shows a field for each setting, with its range and a hint. */
export const settingsFields = (
  typed: TypedSettings,
  problems: Readonly<Record<string, string>>,
  onChange: (changed: Partial<TypedSettings>) => void,
): VNode =>
  div(
    { class: 'settings' },
    checkbox('vad', t('vad'), typed.vad, (vad) => onChange({ vad })),
    checkbox('punctuation', t('punctuation'), typed.punctuation, (punctuation) => onChange({ punctuation })),
    choice(
      { id: 'mode', text: t('mode'), hint: t('mode_hint') }, typed.mode,
      [['partial', t('mode_partial')], ['final', t('mode_final')]], (mode) =>
        onChange({ mode: mode === 'final' ? 'final' : 'partial' }),
    ),
    ...NUMBERS.map((name) => {
      const [min, max, step] = RANGES[name]
      return textField(
        { id: name, text: t(name), hint: t(`${name}_hint`), problem: problems[name] }, typed[name],
        (value) => onChange({ [name]: value }), { type: 'number', min, max, step, required: true },
      )
    }),
  )
