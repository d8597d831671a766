import { endLivesOf } from '../../../application/lives/commands/end-lives-of.ts'
import { removeLive } from '../../../application/lives/ending.ts'
import { originOf } from '../../../application/log/origin.ts'
import { RESTORE_ACTOR } from '../../../application/restore/record-restore.ts'
import { changeProfile } from '../../../application/profiles/commands/change-profile.ts'
import { createProfile } from '../../../application/profiles/commands/create-profile.ts'
import { removeProfile } from '../../../application/profiles/commands/remove-profile.ts'
import { openProfileWrites } from '../../../application/profiles/profile-writes.ts'
import { changeToken } from '../../../application/tokens/commands/change-token.ts'
import { issueToken } from '../../../application/tokens/commands/issue-token.ts'
import { revokeAnyToken, revokeToken } from '../../../application/tokens/commands/revoke-token.ts'
import { createTokenUses } from '../../../application/tokens/policies/token-uses.ts'
import type { TokenUses } from '../../../application/tokens/policies/token-uses.ts'
import { listAllTokens } from '../../../application/tokens/queries/list-all-tokens.ts'
import { authenticateKey } from '../../../application/tokens/queries/authenticate-key.ts'
import { openTokenWrites } from '../../../application/tokens/token-writes.ts'
import { trustedTokens } from '../../../application/tokens/trusted-tokens.ts'
import { createAdministrators } from '../../../application/users/administrators.ts'
import { changeOwnPassword } from '../../../application/users/commands/change-own-password.ts'
import { changeUser } from '../../../application/users/commands/change-user.ts'
import { deleteUser } from '../../../application/users/commands/delete-user.ts'
import { deleteUserAgain } from '../../../application/users/commands/delete-user-again.ts'
import { logIn } from '../../../application/users/commands/log-in.ts'
import { logOut } from '../../../application/users/commands/log-out.ts'
import { registerFirstAdmin } from '../../../application/users/commands/register-first-admin.ts'
import { registerUser } from '../../../application/users/commands/register-user.ts'
import { openSetupLink } from '../../../application/users/commands/set-up.ts'
import { createLoginThrottle } from '../../../application/users/login-throttle.ts'
import { completeUsers } from '../../../application/users/policies/complete-users.ts'
import { countAdministrators } from '../../../application/users/policies/count-administrators.ts'
import { createRehash } from '../../../application/users/policies/rehash.ts'
import { authenticate } from '../../../application/users/queries/authenticate.ts'
import { isSetUp } from '../../../application/users/queries/is-set-up.ts'
import { whoAmI } from '../../../application/users/queries/who-am-i.ts'
import { trustedUsers } from '../../../application/users/trusted-users.ts'
import { listTokens, pageOfTokens } from '../../../projections/api-tokens/queries.ts'
import { getProfile, listProfiles } from '../../../projections/profiles/queries.ts'
import { listUsers } from '../../../projections/users/queries.ts'
import { assemble } from '../assemble.ts'
import { repeatErasures } from '../repeat-erasures.ts'
import { adminPassword } from '../first-admin.ts'
import { runStartStep } from '../start-step.ts'
import type { Foundation } from './foundation.ts'
import type { ReadSide } from './read-side.ts'
import type { WriteSide } from './write-side.ts'

export type Accounts = Awaited<ReturnType<typeof openAccounts>>

interface Needs {
  readonly foundation: Foundation
  readonly writeSide: WriteSide
  readonly readSide: ReadSide
}

/** Use cases of profiles. */
const profileCalls = ({ foundation, writeSide, readSide }: Needs) => {
  const { keyring, environment } = foundation
  const { documents } = readSide
  const { write } = writeSide
  const send = openProfileWrites({ ...write, projector: readSide.projector })
  return {
    listProfiles: listProfiles({ documents, keyring }),
    getProfile: getProfile({ documents, keyring }),
    createProfile: createProfile({ ...write, send }),
    changeProfile: changeProfile({ environment, send }),
    removeProfile: removeProfile({ environment, send }),
  }
}

const tokenCalls = ({ foundation, writeSide, readSide }: Needs, uses: TokenUses) => {
  const { keyring, credentials, environment } = foundation
  const { write } = writeSide
  const { documents, tokens, tokenIdsOf, projector, directory } = readSide
  const writes = openTokenWrites({ ...write, tokens, tokenIdsOf, projector })
  return {
    listTokens: listTokens({ documents, keyring }),
    issueToken: issueToken({ ...write, ...writes, credentials }),
    changeToken: changeToken({ environment, tokens, uses, send: writes.send }),
    revokeToken: revokeToken({ environment, tokens, send: writes.send }),
    listAllTokens: listAllTokens({ pageOfTokens: pageOfTokens({ documents, keyring }), directory }),
    revokeAnyToken: revokeAnyToken({ environment, tokens, send: writes.send }),
  }
}

/** Opens users, profiles and API tokens, and creates the first administrator if the settings name one. */
export const openAccounts = (needs: Needs) =>
  assemble(async (opened) => {
    const { settings, log, leases, dutyDocuments, keyring, credentials, environment, logger } = needs.foundation
    const { write, admission } = needs.writeSide
    const { projector, directory, logins, tokens, lives, tokenIdsOf } = needs.readSide
    const administrators = createAdministrators(write)

    await runStartStep('count the administrators', () => countAdministrators(write))
    const registering = {
      isSetUp: isSetUp({ store: write.store, log }),
      registerUser: registerUser({ ...write, credentials, administrators, directory, projector }),
    }
    if (settings.adminUsername !== null) {
      const { adminUsername } = settings
      const password = await adminPassword(settings)
      await runStartStep('create the first administrator', () =>
        registerFirstAdmin(registering)(adminUsername, password))
    }
    const setup = openSetupLink({ environment, credentials, ...registering })

    const deleting = { ...write, ...lives, tokenIdsOf, admission, directory, projector }
    await repeatErasures(settings.dataDir, {
      whenReadModelsAreComplete: projector.caughtUp,
      deleteUserAgain: (userId) => deleteUserAgain(deleting)(userId),
      deleteLiveAgain: (liveId) => removeLive({ ...write, admission }, liveId, originOf(write, RESTORE_ACTOR)),
    })

    const throttle = createLoginThrottle({ ...write, credentials, logger, enabled: settings.rateLimit > 0 })
    const uses = createTokenUses({ ...write, logger })
    opened({ stop: uses.settled })
    opened(completeUsers({ ...write, leases, documents: dutyDocuments, logger, administrators }))
    const rehash = createRehash({ ...write, credentials, logger })
    opened({ stop: rehash.settled })
    const trusted = trustedUsers(directory, log)
    const changing = { ...write, credentials, directory, projector }
    const calls = {
      ...registering,
      setUp: setup.setUp,
      logIn: logIn({ directory: trusted, credentials, throttle, rehash }),
      logOut: logOut({ ...write, directory, logins, jwtTtlSeconds: settings.jwtTtl / 1000 }),
      authenticate: authenticate({ directory: trusted, logins, credentials }),
      authenticateKey: authenticateKey({
        tokens: trustedTokens(tokens, log), users: trusted, credentials, environment, uses,
      }),
      whoAmI: whoAmI({ directory }),
      listUsers: listUsers({ documents: needs.readSide.documents, keyring }),
      changeUser: changeUser({ ...changing, administrators, endLivesOf: endLivesOf({ ...write, admission }) }),
      changeOwnPassword: changeOwnPassword({ ...changing, throttle }),
      deleteUser: deleteUser({ ...deleting, administrators }),
      ...profileCalls(needs),
      ...tokenCalls(needs, uses),
    }
    return { calls, setup }
  })
