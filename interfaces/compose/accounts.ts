import * as E from 'fp-ts/lib/Either.js'
import { endLivesOf } from '../../application/lives/commands/end-lives-of.ts'
import { removeLive } from '../../application/lives/ending.ts'
import { originOf } from '../../application/log/origin.ts'
import { RESTORE_ACTOR } from '../../application/restore/record-restore.ts'
import { changeProfile } from '../../application/profiles/commands/change-profile.ts'
import { createProfile } from '../../application/profiles/commands/create-profile.ts'
import { removeProfile } from '../../application/profiles/commands/remove-profile.ts'
import { openProfileWrites } from '../../application/profiles/profile-writes.ts'
import { changeToken } from '../../application/tokens/commands/change-token.ts'
import { issueToken } from '../../application/tokens/commands/issue-token.ts'
import { revokeAnyToken, revokeToken } from '../../application/tokens/commands/revoke-token.ts'
import { createTokenUses, type TokenUses } from '../../application/tokens/policies/token-uses.ts'
import { listAllTokens } from '../../application/tokens/queries/list-all-tokens.ts'
import { authenticateKey } from '../../application/tokens/queries/authenticate-key.ts'
import { openTokenWrites } from '../../application/tokens/token-writes.ts'
import { trustedTokens } from '../../application/tokens/trusted-tokens.ts'
import { createAdministrators } from '../../application/users/administrators.ts'
import { changeOwnPassword } from '../../application/users/commands/change-own-password.ts'
import { changeUser } from '../../application/users/commands/change-user.ts'
import { deleteUser } from '../../application/users/commands/delete-user.ts'
import { deleteUserAgain } from '../../application/users/commands/delete-user-again.ts'
import { logIn } from '../../application/users/commands/log-in.ts'
import { logOut } from '../../application/users/commands/log-out.ts'
import { registerFirstAdmin } from '../../application/users/commands/register-first-admin.ts'
import { registerUser } from '../../application/users/commands/register-user.ts'
import { openSetupLink, type SetupLink } from '../../application/users/commands/set-up.ts'
import { createLoginThrottle } from '../../application/users/login-throttle.ts'
import { completeUsers } from '../../application/users/policies/complete-users.ts'
import { countAdministrators } from '../../application/users/policies/count-administrators.ts'
import { createRehash } from '../../application/users/policies/rehash.ts'
import { authenticate } from '../../application/users/queries/authenticate.ts'
import { isSetUp } from '../../application/users/queries/is-set-up.ts'
import { whoAmI } from '../../application/users/queries/who-am-i.ts'
import { trustedUsers } from '../../application/users/trusted-users.ts'
import { listTokens, pageOfTokens } from '../../projections/api-tokens/queries.ts'
import { getProfile, listProfiles } from '../../projections/profiles/queries.ts'
import { listUsers } from '../../projections/users/queries.ts'
import { passwordProblem } from '../../domain/user/credential-rules.ts'
import { readPasswordFile } from '../../infrastructure/keys/secret-file.ts'
import type { Settings } from '../../infrastructure/settings/settings.ts'
import type { AccessCalls } from '../http/access.ts'
import type { AdminTokenCalls } from '../http/routes/admin/tokens.ts'
import type { ConsoleCalls } from '../http/routes/console.ts'
import type { ProfileCalls } from '../http/routes/profiles.ts'
import type { SetupCalls } from '../http/routes/setup.ts'
import type { TokenCalls } from '../http/routes/tokens.ts'
import type { UserCalls } from '../http/routes/users.ts'
import { assemble, type Part } from './assemble.ts'
import { repeatErasures } from './restoring/deletions.ts'
import { runStartStep } from './start-step.ts'
import type { Core } from './service.ts'

const readPassword = async (file: string): Promise<string> => {
  const password = await readPasswordFile(file)
  if (E.isLeft(password)) throw new Error(`STENOLOG_ADMIN_PASSWORD_FILE: ${password.left}`)
  return password.right
}

/** Returns the password of the first administrator. Throws if it is too weak, for example if the file is empty. */
export const adminPassword = async ({ adminPassword: given, adminPasswordFile }: Settings): Promise<string> => {
  const password = given ?? (adminPasswordFile === null ? '' : await readPassword(adminPasswordFile))
  const problem = passwordProblem(password)
  if (problem !== null) throw new Error(`the password of the first administrator ${problem}`)
  return password
}

/** Users, profiles and API tokens. */
export interface Accounts {
  readonly calls:
    AccessCalls & UserCalls & SetupCalls & Pick<ConsoleCalls, 'isSetUp'> & ProfileCalls & TokenCalls & AdminTokenCalls
  readonly setup: SetupLink
}

/** Use cases of profiles. */
const profileCalls = ({ foundation, writeSide, readSide }: Core): ProfileCalls => {
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

const tokenCalls = (
  { foundation, writeSide, readSide }: Core, uses: TokenUses,
): TokenCalls & AdminTokenCalls => {
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
export const openAccounts = (core: Core): Promise<Accounts & Part> =>
  assemble(async (opened) => {
    const { settings, log, leases, dutyDocuments, keyring, credentials, environment, logger } = core.foundation
    const { write, admission } = core.writeSide
    const { documents, projector, directory, logins, tokens, lives, tokenIdsOf } = core.readSide
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
      listUsers: listUsers({ documents, keyring }),
      changeUser: changeUser({ ...changing, administrators, endLivesOf: endLivesOf({ ...write, admission }) }),
      changeOwnPassword: changeOwnPassword({ ...changing, throttle }),
      deleteUser: deleteUser({ ...deleting, administrators }),
      ...profileCalls(core),
      ...tokenCalls(core, uses),
    }
    return { calls, setup }
  })
