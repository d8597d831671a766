import { signal } from '@preact/signals'
import { goTo } from '../state/address.ts'
import { isAdmin } from '../state/login.ts'
import { preferences } from '../state/preferences.ts'

export const isHelpOpen = signal(false)

const isTextInput = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName) || target.isContentEditable)

/** Clicks the button, or focuses the field, whose attribute data-key names this key. */
const activate = (key: string): void => {
  const found = Array.from(document.querySelectorAll<HTMLElement>('[data-key]')).find(({ dataset }) =>
    dataset['key'] === key)
  if (found instanceof HTMLInputElement) found.focus()
  else found?.click()
}

const PAGES: Readonly<Record<string, string>> = { s: 'speak', l: 'sessions', a: 'administration' }
/** The last key was `g`: the next key chooses a page. */
let isAfterG = false

/** Returns whether the browser's own action for the key must be prevented. */
const handleKey = (key: string): boolean => {
  const page = isAfterG ? PAGES[key] : undefined
  isAfterG = key === 'g'
  if (page !== undefined) {
    if (page !== 'administration' || isAdmin.value) goTo(page)
    return true
  }
  if (key === '?') isHelpOpen.value = true
  else activate(key)
  return key === '/' || key === '?'
}

addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && event.ctrlKey) return activate('start')
  if (event.ctrlKey || event.metaKey || event.altKey || isTextInput(event.target)) return
  if (document.querySelector('dialog[open]') !== null || !preferences.value.singleKeys) return
  if (handleKey(event.key)) event.preventDefault()
})
