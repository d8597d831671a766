import type { Mutant } from './mutant.ts'

const ACCESS = 'test/service/rest-access.test.ts'
const KEYS = 'test/service/rest-api-keys.test.ts'
const TOKENS = 'test/service/rest-tokens.test.ts'
const PROFILES = 'test/service/rest-profiles.test.ts'
const LAST_ADMINISTRATOR = 'test/service/last-administrator.test.ts'
const ADMINISTRATORS = 'test/application/administrators.test.ts'
const ONCE_CURRENT = 'test/projections/once-current.test.ts'
const TOKEN_DIRECTORY = 'test/application/token-directory.test.ts'
const REMEMBERED = 'test/application/remembered.test.ts'
const USER = 'test/domain/user.test.ts'
const DOMAIN_PROFILES = 'test/domain/profiles.test.ts'
const TOKEN_LIMIT = 'test/application/token-limit.test.ts'
const APPLICATION_PROFILES = 'test/application/profiles.test.ts'
const LOGIN_THROTTLE = 'test/application/login-throttle.test.ts'
const LIMITS = 'test/service/limits.test.ts'
const LOGIN = 'test/domain/login.test.ts'

/** The rules of users and of what they have beside lives: profiles, API tokens, logins. */
export const accountMutants: ReadonlyArray<Mutant> = [
  {
    file: 'domain/profiles/decider.ts',
    before: "state.length === 1 ? refuse('LastProfile')",
    after: "state.length === 0 ? refuse('LastProfile')",
    rows: [113], test: PROFILES,
  },
  {
    file: 'domain/profiles/decider.ts',
    before: "if (!buffersAreOrdered(settings)) return refuse('BuffersNotOrdered')\n  if (name",
    after: 'if (name',
    rows: [110], test: PROFILES,
  },
  {
    file: 'domain/profiles/decider.ts',
    before: 'if (name === profile.name && sameSettings(settings, profile.settings)) return',
    after: 'if (command.name === profile.name && sameSettings(settings, profile.settings)) return',
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
    before: "if (length < 1) return 'should have at least 1 character'",
    after: "if (name === ' ') return 'should have at least 1 character'",
    rows: [108], test: PROFILES,
  },
  {
    file: 'projections/api-tokens/queries.ts',
    before: "filter: { userId }, sort: { by: 'id', direction: 'descending' }",
    after: "filter: {}, sort: { by: 'id', direction: 'descending' }",
    rows: [36], test: TOKENS,
  },
  {
    file: 'projections/api-tokens/queries.ts',
    before: "filter: { userId }, sort: { by: 'id', direction: 'descending' }",
    after: "filter: { userId }, sort: { by: 'id', direction: 'ascending' }",
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
    before: "state.status !== 'issued' || state.userId !== command.userId",
    after: "state.status !== 'issued'",
    rows: [36, 119], test: TOKENS,
  },
  {
    file: 'domain/api-token/decider.ts',
    before: "if (hasExpired(command.data.expiresAt, command.data.at)) return E.left({ _tag: 'ExpiryNotInFuture' })",
    after: '',
    rows: [118], test: TOKENS,
  },
  {
    file: 'application/users/queries/authenticate.ts',
    before: 'isActive(user) && user.generation === claims.value.generation',
    after: 'isActive(user)',
    rows: [34, 35], test: 'test/service/rest-users.test.ts',
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
    file: 'application/users/administrators.ts',
    before: 'if (!administers || other === userId) continue',
    after: 'if (!administers) continue',
    rows: ['however two processes take administrators away'], test: ADMINISTRATORS,
  },
  {
    file: 'domain/administrators/decider.ts',
    before: "      if (!isCounted(state, command.stays)) return E.left({ _tag: 'NobodyStays' })\n",
    after: '',
    rows: ['however two processes take administrators away'], test: ADMINISTRATORS,
  },
  {
    file: 'domain/administrators/decider.ts',
    before: 'if (known.administers || revision <= known.revision) return E.right([])',
    after: 'if (known.administers) return E.right([])',
    rows: ['who has left is not added again by a look from before'], test: 'test/domain/administrators.test.ts',
  },
  {
    file: 'domain/administrators/decider.ts',
    before: 'known.administers && revision >= known.revision ? [removed(revision)]',
    after: 'known.administers ? [removed(revision)]',
    rows: ['a late look removes nobody who came back since'], test: 'test/domain/administrators.test.ts',
  },
  {
    file: 'application/users/policies/complete-users.ts',
    before: "if (!said.data.permissions.includes('admin')) return",
    after: 'return',
    rows: ['an administrator whose registration or promotion was broken off is counted'], test: ADMINISTRATORS,
  },
  {
    file: 'application/users/policies/count-administrators.ts',
    before: 'if (after.isActive && !after.isAdmin)',
    after: 'if (!after.isAdmin)',
    rows: ['of a log without the stream it is made once'], test: ADMINISTRATORS,
  },
  {
    file: 'application/users/commands/set-up.ts',
    before: "if (isDone.right) return refuse('used')",
    after: '',
    rows: ['any process of the installation takes the token'], test: 'test/application/setup.test.ts',
  },
  {
    file: 'application/users/commands/set-up.ts',
    before: 'hash(token) === hash(signed(expiresAt))',
    after: '!Number.isNaN(expiresAt)',
    rows: ['a wrong token is refused'], test: 'test/application/setup.test.ts',
  },
  {
    file: 'application/log/remembered.ts',
    before: ' && isUnchanged()) states.set(stream, loaded)',
    after: ') states.set(stream, loaded)',
    rows: ['a change that is heard of during a load forbids keeping the result'], test: REMEMBERED,
  },
  {
    file: 'application/log/remembered.ts',
    before: '      states.delete(stream)\n      loads.delete(stream)',
    after: '      states.delete(stream)',
    rows: ['in whatever order is asked, changed, heard and answered'], test: REMEMBERED,
  },
  {
    file: 'application/catalogue/switched-catalogue.ts',
    before: 'if (event !== null && event.revision > revision) take(orThrow(await load()))',
    after: '',
    rows: ['what another process switches is heard from the log'], test: 'test/application/reference-switches.test.ts',
  },
  {
    file: 'application/users/commands/change-user.ts',
    before: "isActive === false || permissions?.includes('admin') === false",
    after: "permissions?.includes('admin') === false",
    rows: ['the last active administrator is not demoted'], test: LAST_ADMINISTRATOR,
  },
  {
    file: 'domain/user/decider.ts',
    before: "state.status === 'active' && state.permissions.includes('admin')",
    after: "state.status !== 'none' && state.status !== 'deleted' && state.permissions.includes('admin')",
    rows: ['where nobody else administers, an active administrator is not'], test: USER,
  },
  {
    file: 'domain/profiles/decider.ts',
    before: 'state.length >= MAX_PROFILES',
    after: 'state.length > MAX_PROFILES',
    rows: ['a user has a hundred profiles at most'], test: DOMAIN_PROFILES,
  },
  {
    file: 'application/tokens/token-writes.ts',
    before: 'else if (isIssued) ids.add(tokenId)',
    after: '',
    rows: ['with lists that have heard of nothing yet'], test: TOKEN_LIMIT,
  },
  {
    file: 'application/tokens/commands/issue-token.ts',
    before: 'inTurn(`user-${caller.userId}`, issue(deps)(caller, token))',
    after: 'issue(deps)(caller, token)()',
    rows: ['however many are issued at once, a user has a hundred API tokens'], test: TOKEN_LIMIT,
  },
  {
    file: 'application/log/handle-command.ts',
    before: 'if (!loaded.events.some(readsErased)) knownStates?.keep(stream, known)',
    after: '',
    rows: ['a change reads what came since the last one, not the whole history'], test: APPLICATION_PROFILES,
  },
  {
    file: 'application/log/handle-command.ts',
    before: '      knownStates?.forget(stream)\n',
    after: '',
    rows: ['what is known of a history is thrown away when the log knows less'], test: APPLICATION_PROFILES,
  },
  {
    file: 'application/users/login-throttle.ts',
    before: '    if (isTrusted(ofPlace, environment.now())) return await judge()\n',
    after: '',
    rows: ['a network from which the name was logged in is judged by its own failures'], test: LOGIN_THROTTLE,
  },
  {
    file: 'application/users/login-throttle.ts',
    before: ' && strangers.wait(name) === 0',
    after: '',
    rows: ['one name is guessed at from many networks a bounded number of times'], test: LOGIN_THROTTLE,
  },
  {
    file: 'application/users/login-throttle.ts',
    before: '`${name} ${networkOf(address)}`',
    after: '`${name} ${address}`',
    rows: ['the networks of a /48 are one'], test: LOGIN_THROTTLE,
  },
  {
    file: 'application/users/login-throttle.ts',
    before: 'waitForAll > 0 ? tooMany(waitForAll) : await judge()',
    after: 'await judge()',
    rows: ['one name is guessed at from many networks a bounded number of times'], test: LOGIN_THROTTLE,
  },
  {
    file: 'application/users/login-throttle.ts',
    before: '  generation === 0 ? usernameHash : `${usernameHash}-${generation}`',
    after: '  usernameHash',
    rows: ['guesses at a name keep nobody out who comes from elsewhere'], test: LIMITS,
  },
  {
    file: 'domain/login/decider.ts',
    before: 'const FREE_FROM_EVERYWHERE = 20',
    after: 'const FREE_FROM_EVERYWHERE = 21',
    rows: ['a name as a whole waits from the twentieth failure on'], test: LOGIN,
  },
  {
    file: 'projections/api-tokens/queries.ts',
    before: 'isBehind(API_TOKENS) ? TE.left(behindSinceStart) : TE.right(O.none)',
    after: 'TE.right(O.none)',
    rows: ['while the list is behind, a token that it knows is found'], test: ONCE_CURRENT,
  },
  {
    file: 'projections/once-current.ts',
    before: 'isBehind(collection) ? TE.left(behindSinceStart) : read',
    after: 'read',
    rows: ['documents are not to be had before their projection'], test: ONCE_CURRENT,
  },
  {
    file: 'application/tokens/policies/token-directory.ts',
    before: '      if (said !== undefined) ids.set(said.data.prefix, said.data.tokenId)\n',
    after: '',
    rows: ['what was issued since the start is known without the read model'], test: TOKEN_DIRECTORY,
  },
  {
    file: 'application/tokens/policies/token-directory.ts',
    before: '      tokens.forget(stream)\n',
    after: '',
    rows: ['what was issued since the start is known without the read model'], test: TOKEN_DIRECTORY,
  },
  {
    file: 'application/users/policies/user-directory.ts',
    before: '      names.forget(stream)\n',
    after: '',
    rows: ['a name that was freed and taken by another'], test: 'test/application/user-directory.test.ts',
  },
  {
    file: 'application/users/policies/user-directory.ts',
    before: 'isUser(state) && hasPassword(state)',
    after: 'isUser(state)',
    rows: ['who cannot be opened is not told to be nobody'], test: 'test/application/user-directory.test.ts',
  },
]
