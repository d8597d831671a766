import { signal } from '@preact/signals'
import type { VNode } from 'preact'
import { modal } from '../components/dialog.ts'
import { t } from '../messages/texts.ts'
import type { TextName } from '../messages/texts.ts'
import { goTo } from '../state/address.ts'
import { isAdmin } from '../state/login.ts'
import { preferences } from '../state/preferences.ts'
import { dd, dl, dt } from '../ui/tags.ts'

const isHelpOpen = signal(false)

const HELP: ReadonlyArray<readonly [keys: string, text: TextName]> = [
  ['?', 'keys_help'], ['g s', 'keys_speak'], ['g l', 'keys_sessions'], ['g a', 'keys_admin'], ['/', 'keys_search'],
  ['Ctrl+Enter', 'keys_start'], ['m', 'keys_mute'], ['End', 'keys_newest'], ['[ ]', 'keys_event'],
  ['Esc', 'keys_close'],
]

export const KeyHelp = (): VNode | null =>
  isHelpOpen.value
    ? modal({
        title: t('keys_title'),
        close: () => (isHelpOpen.value = false),
        children: dl({ class: 'keys' }, ...HELP.flatMap(([keys, text]) => [dt(null, keys), dd(null, t(text))])),
      })
    : null

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
