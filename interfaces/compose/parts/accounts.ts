import { ownOrigin } from '../../../application/log/origin.ts'
import { removeLive } from '../../../application/lives/commands/delete-live.ts'
import { createEndLivesOf } from '../../../application/lives/commands/end-lives-of.ts'
import { createKeyAuthentication } from '../../../application/tokens/queries/authenticate-key.ts'
import { createTokenUses } from '../../../application/tokens/policies/token-uses.ts'
import { createTokens } from '../../../application/tokens/commands/tokens.ts'
import { createAdministrators } from '../../../application/users/administrators.ts'
import { createUserChanges } from '../../../application/users/commands/change-user.ts'
import { createDeleteUser } from '../../../application/users/commands/delete-user.ts'
import { createUsers } from '../../../application/users/commands/register-user.ts'
import { adminFromSettings, createSetup } from '../../../application/users/commands/set-up.ts'
import { createLoginThrottle } from '../../../application/users/login-throttle.ts'
import { createRehash } from '../../../application/users/policies/rehash.ts'
import { createAuthentication } from '../../../application/users/queries/authenticate.ts'
import { trustedTokens, trustedUsers } from '../../../application/users/trusted.ts'
import { createProfiles } from '../../../application/profiles/commands/profiles.ts'
import { assemble } from '../assemble.ts'
import { eraseAgain } from '../erase-again.ts'
import { adminPassword } from '../first-admin.ts'
import { succeed } from '../succeed.ts'
import type { Foundation } from './foundation.ts'
import type { ReadSide } from './read-side.ts'
import type { WriteSide } from './write-side.ts'

export type Accounts = Awaited<ReturnType<typeof openAccounts>>

interface Needs {
  readonly foundation: Foundation
  readonly writeSide: WriteSide
  readonly readSide: ReadSide
}

/** Who may ask: users, what belongs to them, and their tokens. */
export const openAccounts = ({ foundation, writeSide, readSide }: Needs) =>
  assemble(async (opened) => {
    const { settings, log, documents, credentials, environment, logger } = foundation
    const { write, admission } = writeSide
    const { projector, directory, tokens, lives } = readSide

    const users = createUsers({ ...write, credentials, directory, projector })
    const { registerUser } = users
    // Who cannot be read is one all the same: a service with users must not ask for its first.
    const hasUsers = (): boolean => directory.count() > 0 || log.isHurt('user')
    await succeed('complete the users', users.ensureFirstProfiles())
    if (settings.adminUsername !== null) {
      const register = adminFromSettings({ hasUsers, registerUser })(settings.adminUsername, await adminPassword(settings))
      await succeed('create the first admin', register)
    }
    const setup = createSetup({ environment, credentials, hasUsers, registerUser })

    const throttle = createLoginThrottle({ ...write, credentials, logger, enabled: settings.rateLimit > 0 })
    const endLivesOf = createEndLivesOf({ ...write, admission })
    const administrators = createAdministrators({ ...write, directory })
    const deletion = createDeleteUser({ ...write, ...lives, admission, documents, directory, projector, administrators })
    await eraseAgain(settings.dataDir, {
      deleteUserAgain: deletion.deleteUserAgain,
      deleteLiveAgain: (liveId) => removeLive({ ...write, admission }, liveId, ownOrigin(write))(),
    })

    const uses = createTokenUses({ ...write, logger })
    opened({ stop: uses.settled })
    const rehash = createRehash({ ...write, credentials, logger })
    opened({ stop: rehash.settled })
    const trusted = trustedUsers(directory, log)
    const calls = {
      ...createAuthentication({ directory: trusted, credentials, throttle, rehash }),
      ...createKeyAuthentication({ tokens: trustedTokens(tokens, log), users: trusted, credentials, environment, uses }),
      ...createUserChanges({ ...write, credentials, directory, projector, throttle, administrators, endLivesOf }),
      ...createTokens({ ...write, credentials, documents, tokens, projector }),
      ...createProfiles({ ...write, documents, projector }),
      deleteUser: deletion.deleteUser,
      registerUser,
      hasUsers,
      setup,
    }
    return { calls, setup }
  })
