import { signal } from '@preact/signals'
import type { VNode } from 'preact'
import { div } from '../ui/tags.ts'

const message = signal('')
let timer: ReturnType<typeof setTimeout> | undefined

/** Shows a short message for five seconds. */
export const toast = (text: string): void => {
  message.value = text
  clearTimeout(timer)
  timer = setTimeout(() => (message.value = ''), 5000)
}

export const Toasts = (): VNode =>
  div({ class: message.value === '' ? 'toast none' : 'toast', role: 'status' }, message.value)
