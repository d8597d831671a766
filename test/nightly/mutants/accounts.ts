import type { Mutant } from './mutant.ts'

const ACCESS = 'test/e2e/service/accounts/access.test.ts'
const KEYS = 'test/e2e/service/accounts/api-keys.test.ts'
const TOKENS = 'test/e2e/service/accounts/tokens.test.ts'
const PROFILES = 'test/e2e/service/accounts/profiles.test.ts'
const LAST_ADMINISTRATOR = 'test/e2e/service/accounts/last-administrator.test.ts'
const USER = 'test/unit/domain/user.test.ts'
const DOMAIN_PROFILES = 'test/unit/domain/profiles.test.ts'
const TOKEN_LIMIT = 'test/unit/application/users/token-limit.test.ts'
const APPLICATION_PROFILES = 'test/unit/application/users/profiles.test.ts'
const LOGIN_THROTTLE = 'test/unit/application/users/login-throttle.test.ts'
const LIMITS = 'test/e2e/service/operation/limits.test.ts'
const LOGIN = 'test/unit/domain/login.test.ts'
const PROFILE_DELETION = 'test/e2e/service/accounts/profile-deletion.test.ts'

/** Rules of users, profiles, API tokens and logins. */
export const accountMutants: ReadonlyArray<Mutant> = [
  {
    file: 'domain/profiles/decider.ts',
    before: 'if (state.length === 1) return',
    after: 'if (state.length === 0) return',
    rows: [113], test: PROFILE_DELETION,
  },
  {
    file: 'domain/profiles/decider.ts',
    before: "if (!buffersAreOrdered(settings)) return E.left({ _tag: 'BuffersNotOrdered' })\n  const isSame",
    after: 'const isSame',
    rows: [110], test: PROFILES,
  },
  {
    file: 'domain/profiles/decider.ts',
    before: 'name === profile.name &&',
    after: 'command.name === profile.name &&',
    rows: [109], test: PROFILES,
  },
  {
    file: 'domain/profiles/first-profile.ts',
    before: "export const FIRST_PROFILE_NAME = 'Default'",
    after: "export const FIRST_PROFILE_NAME = 'default'",
    rows: [106], test: PROFILES,
  },
  {
    file: 'domain/shared/names.ts',
    before: "if (name === '') return 'should have at least 1 character'",
    after: "if (name === ' ') return 'should have at least 1 character'",
    rows: [108], test: PROFILES,
  },
  {
    file: 'projections/api-tokens/queries.ts',
    before: 'const filter = userId === null ? {} : { userId }',
    after: 'const filter = {}',
    rows: [36], test: TOKENS,
  },
  {
    file: 'projections/api-tokens/queries.ts',
    before: 'newestFirst(apiTokensIn(documents), filter, { skip, limit }, total)',
    after: "apiTokensIn(documents).page({ filter, sort: { by: 'id', direction: 'ascending' }, skip, limit })",
    rows: [23], test: TOKENS,
  },
  {
    file: 'application/tokens/queries/authenticate-key.ts',
    before: 'if (!isTokenActive || hasExpired(expiresAt, environment.now())) return',
    after: 'if (hasExpired(expiresAt, environment.now())) return',
    rows: [32, 120], test: KEYS,
  },
  {
    file: 'application/tokens/queries/authenticate-key.ts',
    before: 'if (!isTokenActive || hasExpired(expiresAt, environment.now())) return',
    after: 'if (!isTokenActive) return',
    rows: [32], test: KEYS,
  },
  {
    file: 'application/tokens/queries/authenticate-key.ts',
    before: 'if (O.isNone(token) || !isRight) return',
    after: 'if (O.isNone(token)) return',
    rows: [32], test: KEYS,
  },
  {
    file: 'domain/api-token/decider.ts',
    before: "state.status === 'issued' && state.userId === userId",
    after: "state.status === 'issued' && userId > 0",
    rows: [36, 119], test: TOKENS,
  },
  {
    file: 'domain/api-token/decider.ts',
    before: "if (hasExpired(data.expiresAt, at)) return E.left({ _tag: 'ExpiryNotInFuture' })",
    after: '',
    rows: [118], test: TOKENS,
  },
  {
    file: 'application/users/queries/authenticate.ts',
    before: 'isActive(user) && user.generation === generation',
    after: 'isActive(user)',
    rows: [34, 35], test: 'test/e2e/service/accounts/users.test.ts',
  },
  {
    file: 'infrastructure/keys/credentials.ts',
    before: '          issuer: ISSUER,',
    after: '',
    rows: [34], test: ACCESS,
  },
  {
    file: 'application/tokens/queries/authenticate-key.ts',
    before: 'if (O.isSome(caller)) uses.record(token.value)',
    after: '',
    rows: [33], test: KEYS,
  },
  {
    file: 'application/users/commands/change-user.ts',
    before: "isActive === false || permissions?.includes('admin') === false",
    after: "permissions?.includes('admin') === false",
    rows: ['nobody can demote, deactivate or delete the last active administrator'], test: LAST_ADMINISTRATOR,
  },
  {
    file: 'domain/user/decider.ts',
    before: "state.status === 'active' && state.permissions.includes('admin')",
    after: "state.status !== 'none' && state.status !== 'deleted' && state.permissions.includes('admin')",
    rows: ['the only administrator cannot be demoted, disabled or deleted; any other user can'], test: USER,
  },
  {
    file: 'domain/profiles/decider.ts',
    before: 'state.length >= MAX_PROFILES',
    after: 'state.length > MAX_PROFILES',
    rows: ['a user has at most 100 profiles; a larger stored set can be changed and reduced'],
    test: DOMAIN_PROFILES,
  },
  {
    file: 'application/tokens/token-writes.ts',
    before: 'else if (isIssued) ids.add(tokenId)',
    after: '',
    rows: ['still empty'], test: TOKEN_LIMIT,
  },
  {
    file: 'application/tokens/commands/issue-token.ts',
    before: 'inTurn(`user-${caller.userId}`, () => issue(deps)(caller, token))',
    after: 'issue(deps)(caller, token)',
    rows: ['while the read models are current'], test: TOKEN_LIMIT,
  },
  {
    file: 'application/log/states/load-state.ts',
    before: '  states.known.keep(stream, kept, format.keyOf(state))\n',
    after: '',
    rows: ['a change reads only the events since the last change'],
    test: APPLICATION_PROFILES,
  },
  {
    file: 'application/log/handle-command.ts',
    before: '        deps.states?.known.forget(stream)\n',
    after: '',
    rows: ['the cached history is dropped when the log has fewer events'], test: APPLICATION_PROFILES,
  },
  {
    file: 'application/users/login-throttle.ts',
    before: '    if (isTrusted(agedPlace)) return await runAttempt()\n',
    after: '',
    rows: ['a network with an earlier login is judged by its own failures, also after a restart'], test: LOGIN_THROTTLE,
  },
  {
    file: 'application/users/login-throttle.ts',
    before: ' && untrusted.waitMs(name) === 0',
    after: '',
    rows: ['guesses at one name from many networks are bounded'], test: LOGIN_THROTTLE,
  },
  {
    file: 'application/users/login-throttle.ts',
    before: '`${name.hash} ${networkOf(address)}`',
    after: '`${name.hash} ${address}`',
    rows: ['all networks of a /48 count as one'], test: LOGIN_THROTTLE,
  },
  {
    file: 'application/users/login-throttle.ts',
    before: 'waitForAll > 0 ? tooMany(waitForAll) : await runAttempt()',
    after: 'await runAttempt()',
    rows: ['guesses at one name from many networks are bounded'], test: LOGIN_THROTTLE,
  },
  {
    file: 'application/users/login-throttle.ts',
    before: 'generation === null || generation === 0 ? usernameHash : `${usernameHash}-${generation}`',
    after: 'usernameHash',
    rows: ['a login lock applies to one address only, and a new password ends it everywhere'], test: LIMITS,
  },
  {
    file: 'domain/login/decider.ts',
    before: 'const FIRST_WAIT_OF_NAME = 20',
    after: 'const FIRST_WAIT_OF_NAME = 21',
    rows: ['a name waits from its twentieth failure, across all networks'], test: LOGIN,
  },
]
