import { computed, signal } from '@preact/signals'
import type { User } from '../../client/operations.ts'
import { ROOT, ROOT_PATH } from './address.ts'

/** Of this tab alone: it dies with it, and nothing sends it by itself. */
const KEY = `stenolog token ${ROOT_PATH}`

export const token = signal(sessionStorage.getItem(KEY))
/** Who is logged in, once the service has told. */
export const user = signal<User | null>(null)
/** The service has refused the token; what waits goes on once somebody has logged in again. */
export const isExpired = signal(false)
export const isAdmin = computed(() => user.value?.permissions.includes('admin') === true)
export const mayKeepText = computed(() => user.value?.permissions.includes('user_retention') === true)

type Told = { readonly type: 'ask' | 'out' } | { readonly type: 'token'; readonly token: string }

const channel = new BroadcastChannel(KEY)
const tell = (message: Told): void => channel.postMessage(message)

let waiting: ReadonlyArray<() => void> = []

/** Settles once somebody has logged in (again). */
export const loggedIn = (): Promise<void> => new Promise((resolve) => (waiting = [...waiting, resolve]))

const keep = (given: string): void => {
  sessionStorage.setItem(KEY, given)
  token.value = given
  isExpired.value = false
  const ready = waiting
  waiting = []
  for (const go of ready) go()
}

const forget = (): void => {
  sessionStorage.removeItem(KEY)
  token.value = null
  user.value = null
  isExpired.value = false
}

/** Takes a token that a login gave, and gives it to tabs that wait for one. */
export const takeToken = (given: string): void => {
  keep(given)
  tell({ type: 'token', token: given })
}

/** Ends the login in all tabs. */
export const dropToken = (): void => {
  forget()
  tell({ type: 'out' })
}

channel.addEventListener('message', ({ data }: MessageEvent<Told>) => {
  if (data.type === 'ask' && token.value !== null && !isExpired.value) tell({ type: 'token', token: token.value })
  if (data.type === 'token' && (token.value === null || isExpired.value)) keep(data.token)
  if (data.type === 'out') forget()
})

const PATIENCE_MS = 150

/** Asks the other tabs for their login, where this one has none. */
export const askTabs = async (): Promise<void> => {
  if (token.value !== null) return
  tell({ type: 'ask' })
  await Promise.race([loggedIn(), new Promise((resolve) => setTimeout(resolve, PATIENCE_MS))])
}

/** When the token ends, in milliseconds of the clock; null where it does not say. */
export const expiresAt = computed((): number | null => {
  try {
    const [, claims = ''] = (token.value ?? '').split('.')
    const { exp } = JSON.parse(atob(claims.replaceAll('-', '+').replaceAll('_', '/'))) as { readonly exp?: number }
    return exp === undefined ? null : exp * 1000
  } catch {
    return null
  }
})

/** Address of a live's socket without its query. */
export const socketAddress = (path: string): string => `${ROOT.replace(/^http/, 'ws')}${path}`
