import { computed, signal } from '@preact/signals'
import type { User } from '../../client/operations.ts'
import { ROOT, ROOT_PATH } from './address.ts'

/**
 * Key of the token in the session storage. This storage belongs to one tab and ends with it. Browsers do not send it
 * automatically, as they do with cookies.
 */
const KEY = `stenolog token ${ROOT_PATH}`

export const token = signal(sessionStorage.getItem(KEY))
/** The logged-in user; null until the service has returned it. */
export const user = signal<User | null>(null)
/** The service refused the token. Waiting calls continue after a new login. */
export const isExpired = signal(false)
export const isAdmin = computed(() => user.value?.permissions.includes('admin') === true)
export const mayKeepText = computed(() => user.value?.permissions.includes('user_retention') === true)

type TabMessage = { readonly type: 'ask' | 'out' } | { readonly type: 'token'; readonly token: string }

const channel = new BroadcastChannel(KEY)
const sendToTabs = (message: TabMessage): void => channel.postMessage(message)

let waiting: ReadonlyArray<() => void> = []

/** Resolves after the next login. */
export const loggedIn = (): Promise<void> => new Promise((resolve) => (waiting = [...waiting, resolve]))

const storeToken = (newToken: string): void => {
  sessionStorage.setItem(KEY, newToken)
  token.value = newToken
  isExpired.value = false
  const callbacks = waiting
  waiting = []
  for (const resume of callbacks) resume()
}

const forget = (): void => {
  sessionStorage.removeItem(KEY)
  token.value = null
  user.value = null
  isExpired.value = false
}

/** Stores the token of a login and sends it to tabs that need a token. */
export const takeToken = (newToken: string): void => {
  storeToken(newToken)
  sendToTabs({ type: 'token', token: newToken })
}

/** Ends the login in all tabs. */
export const dropToken = (): void => {
  forget()
  sendToTabs({ type: 'out' })
}

channel.addEventListener('message', ({ data }: MessageEvent<TabMessage>) => {
  if (data.type === 'ask' && token.value !== null && !isExpired.value)
    sendToTabs({ type: 'token', token: token.value })
  if (data.type === 'token' && (token.value === null || isExpired.value)) storeToken(data.token)
  if (data.type === 'out') forget()
})

/** How long a new tab waits for the token of another tab. */
const PATIENCE_MS = 150

/** Requests the token of the other tabs if this tab has no token. */
export const requestTokenFromTabs = async (): Promise<void> => {
  if (token.value !== null) return
  sendToTabs({ type: 'ask' })
  await Promise.race([loggedIn(), new Promise((resolve) => setTimeout(resolve, PATIENCE_MS))])
}

/** Expiry time of the token, in milliseconds since 1970; null when the token has no expiry. */
export const expiresAt = computed((): number | null => {
  try {
    const [, claims = ''] = (token.value ?? '').split('.')
    const { exp } = JSON.parse(atob(claims.replaceAll('-', '+').replaceAll('_', '/'))) as { readonly exp?: number }
    return exp === undefined ? null : exp * 1000
  } catch {
    return null
  }
})

/** Returns the URL of a session's socket, without the query. */
export const socketAddress = (path: string): string => `${ROOT.replace(/^http/, 'ws')}${path}`
