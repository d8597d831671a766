import { type ApiClient, ApiError, createApiClient } from '../../client/client.ts'
import { dropToken, isExpired, loggedIn, token } from './login.ts'
import { ROOT } from './address.ts'

/** Calls the service as the logged-in user. If the token is refused, it waits for a new login and repeats the call. */
export const call: ApiClient['call'] = async (operation, ...request) => {
  const sent = token.value
  try {
    return await createApiClient({ url: ROOT, token: sent ?? undefined }).call(operation, ...request)
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401 || sent === null) throw error
    if (token.value === sent) {
      isExpired.value = true
      await loggedIn()
    }
    return call(operation, ...request)
  }
}

/** Calls the service without a token, for public operations and for the login itself. */
export const callAnonymously: ApiClient['call'] = (operation, ...request) =>
  createApiClient({ url: ROOT }).call(operation, ...request)

/**
 * Logs out in all tabs of this browser, or everywhere. The browser forgets the token even when the request fails.
 */
export const logOut = async (everywhere: boolean): Promise<void> => {
  try {
    await createApiClient({ url: ROOT, token: token.value ?? undefined }).call('logout', { body: { everywhere } })
  } finally {
    dropToken()
  }
}
