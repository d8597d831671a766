import { signal, useSignalEffect } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { VNode } from 'preact'
import { memoryGauge } from '../components/gauge.ts'
import { lazyPart } from '../components/loading.ts'
import { Toasts } from '../components/toast.ts'
import { formatSpan, t, type TextName } from '../messages/texts.ts'
import { pageAt } from '../pages/all.ts'
import { address, linkTo } from '../state/address.ts'
import { call, logOut } from '../state/api.ts'
import { useLoaded } from '../state/loading.ts'
import { expiresAt, isAdmin, isExpired, token, user } from '../state/login.ts'
import { onAir } from '../speaking/run.ts'
import { a, bdi, button, div, header, li, main, nav, p, span, ul, view } from '../ui/tags.ts'
import { isHelpOpen } from './keys.ts'

const PAGES: ReadonlyArray<readonly [path: string, text: TextName]> = [
  ['speak', 'speak'], ['sessions', 'sessions'], ['profiles', 'profiles'], ['tokens', 'api_tokens'],
]
const OTHER_PAGES: ReadonlyArray<readonly [path: string, text: TextName]> = [['account', 'account'], ['about', 'about']]

const entry = ([path, text]: readonly [string, TextName]): VNode => {
  const isHere = (address.value.path[0] ?? 'speak') === path
  return li(null, a({ href: linkTo(path), 'aria-current': isHere ? 'page' : undefined }, t(text)))
}

const isOffline = signal(!navigator.onLine)
addEventListener('offline', () => (isOffline.value = true))
addEventListener('online', () => (isOffline.value = false))

const now = signal(Date.now())
setInterval(() => (now.value = Date.now()), 10_000)

const EXPIRY_WARNING_MS = 5 * 60_000

const bar = (text: string, ...more: ReadonlyArray<VNode>): VNode =>
  div({ class: 'bar', role: 'status' }, p(null, text), ...more)

/** Shows notices that concern the whole console. */
const Bars = (): VNode => {
  const leftMs = (expiresAt.value ?? Number.POSITIVE_INFINITY) - now.value
  const logInAgain = button({ type: 'button', onClick: () => (isExpired.value = true) }, t('log_in_again'))
  return div(
    { class: 'bars' },
    window.isSecureContext ? null : bar(t('plain_http')),
    isOffline.value ? bar(t('offline')) : null,
    leftMs < EXPIRY_WARNING_MS
      ? bar(t('expires_soon', { minutes: Math.max(0, Math.ceil(leftMs / 60_000)) }), logInAgain)
      : null,
  )
}

const OnAirIndicator = (): VNode | null => {
  if (onAir.value === null) return null
  const { seconds, stop } = onAir.value
  return div(
    { class: 'air' },
    span({ class: 'badge bad' }, span({ 'aria-hidden': true }, '● '), t('on_air', { time: formatSpan(seconds) })),
    button({ type: 'button', onClick: stop }, t('stop')),
  )
}

const MEMORY_REFRESH_MS = 15_000

/** Shows the reserved memory. An error is not shown here, because the pages show it. */
const Memory = (): VNode | null => {
  const { state } = useLoaded(() => call('getCapacity'), String(onAir.value !== null), MEMORY_REFRESH_MS)
  return state.value.data === null ? null : memoryGauge('memory', state.value.data.data)
}

const stopAndLogOut = (): void => {
  onAir.value?.stop()
  void logOut(false).catch(() => undefined)
}

const Header = (): VNode =>
  header(
    null,
    a({ class: 'skip', href: '#main', onClick: (event) => {
      event.preventDefault()
      document.getElementById('main')?.focus()
    } }, t('skip')),
    button({ type: 'button', class: 'menu', popovertarget: 'navigation' }, t('menu')),
    nav(
      { id: 'navigation', popover: 'auto', 'aria-label': t('navigation') },
      ul(null, ...[...PAGES, ...(isAdmin.value ? [['administration', 'administration'] as const] : []),
        ...OTHER_PAGES].map(entry)),
    ),
    view(OnAirIndicator)({}),
    view(Memory)({}),
    div(
      { class: 'who' },
      bdi(null, user.value?.username ?? ''),
      button({ type: 'button', onClick: stopAndLogOut }, t('log_out')),
    ),
  )

const Page = (): VNode => {
  const { title, show } = pageAt(address.value)
  const place = address.value.path.join('/')
  const region = useRef<HTMLElement>(null)
  const isFirst = useRef(true)
  useEffect(() => {
    document.title = t('page_title', { page: title })
    document.getElementById('navigation')?.hidePopover?.()
    if (!isFirst.current) (region.current?.querySelector('h1') ?? region.current)?.focus()
    isFirst.current = false
  }, [place])
  return main({ id: 'main', tabIndex: -1, ref: region, key: place }, show)
}

const Dialogs = (): VNode | null =>
  isExpired.value || isHelpOpen.value ? lazyPart(() => import('./dialogs.ts'), ({ dialogs }) => dialogs({})) : null

const Frame = (): VNode => {
  useSignalEffect(() => {
    if (user.value === null && token.value !== null) void call('getMe').then(({ data }) => (user.value = data))
  })
  return div(
    { class: 'frame' },
    view(Header)({}), view(Bars)({}), view(Page)({}), view(Toasts)({}), view(Dialogs)({}),
  )
}

/** Shows the console of a logged-in user. */
export const frame = view(Frame)
