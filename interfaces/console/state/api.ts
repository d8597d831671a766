import { ApiError, createApiClient } from '../../client/client.ts'
import type { ApiClient } from '../../client/client.ts'
import { dropToken, isExpired, loggedIn, token } from './login.ts'
import { ROOT } from './address.ts'

/**
 * Asks the service as whoever is logged in. A token that is refused is asked for over the page, then the call goes on.
 */
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

/** The same for what anybody may ask, and for logins: no token goes out, none is asked for. */
export const callOpenly: ApiClient['call'] = (operation, ...request) =>
  createApiClient({ url: ROOT }).call(operation, ...request)

/** Ends the login here and in all tabs, or all of the user's; whatever the service says, this browser forgets it. */
export const logOut = async (everywhere: boolean): Promise<void> => {
  try {
    await createApiClient({ url: ROOT, token: token.value ?? undefined }).call('logout', { body: { everywhere } })
  } finally {
    dropToken()
  }
}
