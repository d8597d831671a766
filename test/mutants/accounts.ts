import type { Mutant } from './mutant.ts'

const ACCESS = 'test/service/rest-access.test.ts'
const KEYS = 'test/service/rest-api-keys.test.ts'
const TOKENS = 'test/service/rest-tokens.test.ts'
const PROFILES = 'test/service/rest-profiles.test.ts'

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
    file: 'application/tokens/tokens.ts',
    before: "filter: { userId }, sort: { by: 'id', direction: 'descending' }",
    after: "filter: {}, sort: { by: 'id', direction: 'descending' }",
    rows: [36], test: TOKENS,
  },
  {
    file: 'application/tokens/tokens.ts',
    before: "filter: { userId }, sort: { by: 'id', direction: 'descending' }",
    after: "filter: { userId }, sort: { by: 'id', direction: 'ascending' }",
    rows: [23], test: TOKENS,
  },
  {
    file: 'application/tokens/key-authentication.ts',
    before: 'if (!isTokenActive || hasExpired(expiresAt, environment.now())) return',
    after: 'if (hasExpired(expiresAt, environment.now())) return',
    rows: [32, 120], test: KEYS,
  },
  {
    file: 'application/tokens/key-authentication.ts',
    before: 'if (!isTokenActive || hasExpired(expiresAt, environment.now())) return',
    after: 'if (!isTokenActive) return',
    rows: [32], test: KEYS,
  },
  {
    file: 'application/tokens/key-authentication.ts',
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
    file: 'application/users/authentication.ts',
    before: 'isActive(user) && user.generation === claims.value.generation',
    after: 'isActive(user)',
    rows: [34, 35], test: 'test/service/rest-users.test.ts',
  },
  {
    file: 'infrastructure/credentials.ts',
    before: '          issuer: ISSUER,',
    after: '',
    rows: [34], test: ACCESS,
  },
  {
    file: 'application/tokens/key-authentication.ts',
    before: 'if (O.isSome(caller)) uses.record(token.value)',
    after: '',
    rows: [33], test: KEYS,
  },
]
