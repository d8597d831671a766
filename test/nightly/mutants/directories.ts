import type { Mutant } from './mutant.ts'

const ADMINISTRATORS = 'test/unit/application/users/administrators.test.ts'
const STREAM_CACHE = 'test/unit/application/log/stream-cache.test.ts'
const ONCE_CURRENT = 'test/unit/projections/once-current.test.ts'
const TOKEN_DIRECTORY = 'test/unit/application/users/token-directory.test.ts'

/** Lookup of users and tokens, the number of administrators, setup, and lists that are not ready after the start. */
export const directoryMutants: ReadonlyArray<Mutant> = [
  {
    file: 'application/users/administrators.ts',
    before: 'if (!administers || other === userId) continue',
    after: 'if (!administers) continue',
    rows: ['despite removals and crashes in two processes, an administrator remains'],
    test: ADMINISTRATORS,
  },
  {
    file: 'domain/administrators/decider.ts',
    before: "  if (!listed(state, remaining).administers) return E.left({ _tag: 'NoAdministratorRemains' })\n",
    after: '',
    rows: ['an administrator can leave while another one remains; the last administrator cannot'],
    test: 'test/unit/domain/administrators.test.ts',
  },
  {
    file: 'domain/administrators/decider.ts',
    before: 'administers ? revision > known.revision :',
    after: 'administers ? revision >= 0 :',
    rows: ['a removed administrator is added again only by a newer user event'],
    test: 'test/unit/domain/administrators.test.ts',
  },
  {
    file: 'domain/administrators/decider.ts',
    before: ': revision >= known.revision',
    after: ': revision >= 0',
    rows: ['an outdated check does not remove an administrator who was added again later'],
    test: 'test/unit/domain/administrators.test.ts',
  },
  {
    file: 'application/users/policies/complete-users.ts',
    before: "if (!change.data.permissions.includes('admin')) return",
    after: 'return',
    rows: ['the duty records an administrator whose registration or promotion was interrupted'], test: ADMINISTRATORS,
  },
  {
    file: 'application/users/policies/count-administrators.ts',
    before: 'if (after.isActive && !after.isAdmin)',
    after: 'if (!after.isAdmin)',
    rows: ['a log without a stream of administrators gets it once'], test: ADMINISTRATORS,
  },
  {
    file: 'application/users/commands/set-up.ts',
    before: "if (isDone.right) return refuse('used')",
    after: '',
    rows: ['any process of the installation accepts the token once, also after a restart'],
    test: 'test/unit/application/users/setup.test.ts',
  },
  {
    file: 'application/users/commands/set-up.ts',
    before: 'hash(token) === hash(signed(expiresAt))',
    after: '!Number.isNaN(expiresAt)',
    rows: ['a wrong token is refused'], test: 'test/unit/application/users/setup.test.ts',
  },
  {
    file: 'application/log/stream-cache.ts',
    before: ' && isUnchanged()) states.set(stream, loaded)',
    after: ') states.set(stream, loaded)',
    rows: ['a result read before a reported change is never cached, even without a query in between'],
    test: STREAM_CACHE,
  },
  {
    file: 'application/log/stream-cache.ts',
    before: '      states.delete(stream)\n      loads.delete(stream)',
    after: '      states.delete(stream)',
    rows: ['for any order of queries, changes and answers no query gets a state older than its start'],
    test: STREAM_CACHE,
  },
  {
    file: 'application/catalogue/switched-catalogue.ts',
    before: 'if (event !== null && event.revision > revision) take(orThrow(await load()))',
    after: '',
    rows: ['a model that another process switches off becomes inactive in this process too'],
    test: 'test/unit/application/catalogue/reference-switches.test.ts',
  },
  {
    file: 'projections/api-tokens/queries.ts',
    before: 'why === null ? E.right(O.none) : E.left(why)',
    after: 'E.right(O.none)',
    rows: ['while the list is behind, a listed token is found and a query for another token fails'], test: ONCE_CURRENT,
  },
  {
    file: 'projections/once-current.ts',
    before: 'why === null ? read() : E.left(why)',
    after: 'read()',
    rows: ['documents are available once their projection has read the log'], test: ONCE_CURRENT,
  },
  {
    file: 'application/tokens/policies/token-directory.ts',
    before: '      if (issuedEvent !== undefined) ids.set(issuedEvent.data.prefix, issuedEvent.data.tokenId)\n',
    after: '',
    rows: ['tokens issued since the start are known without the'],
    test: TOKEN_DIRECTORY,
  },
  {
    file: 'application/tokens/policies/token-directory.ts',
    before: '      tokens.forget(stream)\n',
    after: '',
    rows: ['tokens issued since the start are known without the'],
    test: TOKEN_DIRECTORY,
  },
  {
    file: 'application/users/policies/user-directory.ts',
    before: '      names.forget(stream)\n',
    after: '',
    rows: ['a freed name that another user claims belongs to that user from this event on'],
    test: 'test/unit/application/users/user-directory.test.ts',
  },
  {
    file: 'application/users/policies/user-directory.ts',
    before: 'isUser(state) && hasPassword(state)',
    after: 'isUser(state)',
    rows: ['a user that cannot be decrypted is not reported as unknown, and is known once the keyring is back'],
    test: 'test/unit/application/users/user-directory.test.ts',
  },
]
