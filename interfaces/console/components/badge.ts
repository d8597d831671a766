import type { VNode } from 'preact'
import { span } from '../ui/tags.ts'

type Tone = 'good' | 'warn' | 'bad' | 'muted' | 'accent'

/** Shows a state by sign, text and colour. */
export const badge = (tone: Tone, sign: string, text: string): VNode =>
  span({ class: `badge ${tone}` }, span({ 'aria-hidden': true }, `${sign} `), text)
