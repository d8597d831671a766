import { signal } from '@preact/signals'
import type { VNode } from 'preact'
import { t } from '../messages/texts.ts'
import { goTo, ROOT } from '../state/address.ts'
import { h1, main, p, view } from '../ui/tags.ts'
import { logInForm, setUpForm } from './credentials.ts'

/** Reads the secret of the set-up link and removes it from the address bar. The secret is not stored. */
const takeSecret = (): string | null => {
  const secret = new URLSearchParams(location.hash.slice(1)).get('token')
  if (secret !== null) history.replaceState(null, '', location.pathname)
  return secret
}

const secret = signal(takeSecret())
const isSetUp = signal(document.querySelector('meta[name=stenolog]')?.getAttribute('content') !== 'setup')
const isSetupAddress = secret.value !== null || /\/setup\/?$/.test(location.pathname)

const Content = (): ReadonlyArray<VNode> => {
  if (isSetUp.value) {
    return [h1({ tabIndex: -1 }, t('log_in')), ...(isSetupAddress ? [p({ role: 'status' }, t('set_up_done'))] : []),
      logInForm({})]
  }
  if (secret.value === null) return [h1({ tabIndex: -1 }, t('no_administrator_title')),
    p(null, t('no_administrator_text'))]
  const done = (): void => {
    isSetUp.value = true
    history.replaceState(null, '', new URL(`${ROOT}/`).pathname)
    goTo('speak')
  }
  return [h1({ tabIndex: -1 }, t('set_up_title')), p(null, t('set_up_text')), setUpForm({ secret: secret.value, done })]
}

const Entrance = (): VNode => main({ class: 'entrance', id: 'main' }, ...Content())

/** Shows the login or the set-up form. */
export const entrance = view(Entrance)
