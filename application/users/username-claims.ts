import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { userDecider } from '../../domain/user/decider.ts'
import { usernameStream, userStream } from '../../domain/user/events.ts'
import { usernameClaimDecider } from '../../domain/user/username-claim.ts'
import type { Unavailable, UsernameTaken } from '../refusals.ts'
import type { WriteDeps } from '../log/handle-command.ts'
import { mapRefusal } from '../log/map-refusal.ts'
import { loadState } from '../log/states/load-state.ts'
import { nextId } from '../log/next-id.ts'
import type { Origin } from '../log/origin.ts'
import { sendToUsername } from '../log/send-to.ts'
import type { Credentials } from '../ports/credentials.ts'

/** The longest name has 100 code points. A text of this length has more in any form, so it is no name. */
const MAX_UNITS = 500

/**
 * Returns the hash of a username. The case of letters counts. The name is normalised to Unicode NFC, so equal names
 * from different keyboards have equal hashes.
 */
export const usernameHash = (credentials: Pick<Credentials, 'keyedHash'>, username: string): string =>
  // A long text is cut, because normalising takes more time than a text with many marks is long.
  credentials.keyedHash('username', username.slice(0, MAX_UNITS).normalize('NFC'))

const usernameTaken: UsernameTaken = { _tag: 'UsernameTaken' }

/** Claims a username and returns its user id. Continues a claim whose registration was interrupted. */
export const claimUsername =
  (deps: WriteDeps) =>
  async (hash: string, origin: Origin): Promise<Either<UsernameTaken | Unavailable, number>> => {
    const claimed = await loadState(deps)(usernameStream(hash), usernameClaimDecider)
    if (E.isLeft(claimed)) return claimed
    if (claimed.right.state !== null) {
      const owner = await loadState(deps)(userStream(claimed.right.state), userDecider)
      if (E.isLeft(owner)) return owner
      return owner.right.state.status === 'none' ? E.right(claimed.right.state) : E.left(usernameTaken)
    }
    const { commandId, actor } = origin
    const userId = await nextId(deps)('user', { correlationId: commandId, causationId: commandId, actor })
    if (E.isLeft(userId)) return userId
    const won = await sendToUsername(deps)(hash, { type: 'Claim', userId: userId.right }, origin)
    return E.isRight(won) ? userId : E.left(mapRefusal(won.left, { UsernameClaimedAlready: usernameTaken }))
  }
