import { signal } from '@preact/signals'
import { goTo } from '../state/address.ts'
import { isAdmin } from '../state/login.ts'
import { preferences } from '../state/preferences.ts'

/** Is the list of keys shown? */
export const isHelpOpen = signal(false)

const isTyped = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName) || target.isContentEditable)

/** Presses the button of the page that says it is for this key. */
const press = (key: string): void => {
  const found = Array.from(document.querySelectorAll<HTMLElement>('[data-key]')).find(({ dataset }) =>
    dataset['key'] === key)
  if (found instanceof HTMLInputElement) found.focus()
  else found?.click()
}

const PAGES: Readonly<Record<string, string>> = { s: 'speak', l: 'sessions', a: 'administration' }
let hasGone = false

const single = (key: string): boolean => {
  const page = hasGone ? PAGES[key] : undefined
  hasGone = key === 'g'
  if (page !== undefined) {
    if (page !== 'administration' || isAdmin.value) goTo(page)
    return true
  }
  if (key === '?') isHelpOpen.value = true
  else press(key)
  return key === '/' || key === '?'
}

addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && event.ctrlKey) return press('start')
  if (event.ctrlKey || event.metaKey || event.altKey || isTyped(event.target)) return
  if (document.querySelector('dialog[open]') !== null || !preferences.value.singleKeys) return
  if (single(event.key)) event.preventDefault()
})
