import { signal } from '@preact/signals'
import type { VNode } from 'preact'
import { div } from '../ui/tags.ts'

const said = signal('')
let timer: ReturnType<typeof setTimeout> | undefined

/** Says that something is done. */
export const toast = (text: string): void => {
  said.value = text
  clearTimeout(timer)
  timer = setTimeout(() => (said.value = ''), 5000)
}

export const Toasts = (): VNode =>
  div({ class: said.value === '' ? 'toast none' : 'toast', role: 'status' }, said.value)
