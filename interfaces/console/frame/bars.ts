import { signal } from '@preact/signals'
import type { VNode } from 'preact'
import { modal } from '../components/dialog.ts'
import { t } from '../messages/texts.ts'
import { expiresAt, isExpired, user } from '../state/login.ts'
import { button, div, p } from '../ui/tags.ts'
import { logInForm } from './credentials.ts'

const isOffline = signal(!navigator.onLine)
addEventListener('offline', () => (isOffline.value = true))
addEventListener('online', () => (isOffline.value = false))

const now = signal(Date.now())
setInterval(() => (now.value = Date.now()), 10_000)

const SOON_MS = 5 * 60_000

const bar = (text: string, ...more: ReadonlyArray<VNode>): VNode =>
  div({ class: 'bar', role: 'status' }, p(null, text), ...more)

/** Bars over the page: what concerns all of it. */
export const Bars = (): VNode => {
  const left = (expiresAt.value ?? Number.POSITIVE_INFINITY) - now.value
  const again = button({ type: 'button', onClick: () => (isExpired.value = true) }, t('log_in_again'))
  return div(
    { class: 'bars' },
    window.isSecureContext ? null : bar(t('plain_http')),
    isOffline.value ? bar(t('offline')) : null,
    left < SOON_MS ? bar(t('expires_soon', { minutes: Math.max(0, Math.ceil(left / 60_000)) }), again) : null,
  )
}

/** Over the page, which stays as it is. */
export const Expired = (): VNode | null =>
  isExpired.value
    ? modal({ title: t('expired_title'),
      children: [p(null, t('expired_text')), logInForm({ known: user.value?.username ?? '' })] })
    : null
