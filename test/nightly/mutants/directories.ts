import type { Mutant } from './mutant.ts'

const ADMINISTRATORS = 'test/unit/application/users/administrators.test.ts'
const REMEMBERED = 'test/unit/application/log/remembered.test.ts'
const ONCE_CURRENT = 'test/unit/projections/once-current.test.ts'
const TOKEN_DIRECTORY = 'test/unit/application/users/token-directory.test.ts'

/** Who asks, found in streams of their own; the count of administrators; set-up; what is not to be had since the start. */
export const directoryMutants: ReadonlyArray<Mutant> = [
  {
    file: 'application/users/administrators.ts',
    before: 'if (!administers || other === userId) continue',
    after: 'if (!administers) continue',
    rows: ['however two processes take administrators away'], test: ADMINISTRATORS,
  },
  {
    file: 'domain/administrators/decider.ts',
    before: "      if (!isCounted(state, command.remaining)) return E.left({ _tag: 'NoAdministratorRemains' })\n",
    after: '',
    rows: ['however two processes take administrators away'], test: ADMINISTRATORS,
  },
  {
    file: 'domain/administrators/decider.ts',
    before: 'if (known.administers || revision <= known.revision) return E.right([])',
    after: 'if (known.administers) return E.right([])',
    rows: ['who has left is not added again by a look from before'], test: 'test/unit/domain/administrators.test.ts',
  },
  {
    file: 'domain/administrators/decider.ts',
    before: 'known.administers && revision >= known.revision ? [removed(revision)]',
    after: 'known.administers ? [removed(revision)]',
    rows: ['a late look removes nobody who came back since'], test: 'test/unit/domain/administrators.test.ts',
  },
  {
    file: 'application/users/policies/complete-users.ts',
    before: "if (!change.data.permissions.includes('admin')) return",
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
    rows: ['any process of the installation takes the token'], test: 'test/unit/application/users/setup.test.ts',
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
    rows: ['a result that was read before a change was heard of is kept by nobody'], test: REMEMBERED,
  },
  {
    file: 'application/log/stream-cache.ts',
    before: '      states.delete(stream)\n      loads.delete(stream)',
    after: '      states.delete(stream)',
    rows: ['in whatever order is asked, changed, heard and answered'], test: REMEMBERED,
  },
  {
    file: 'application/catalogue/switched-catalogue.ts',
    before: 'if (event !== null && event.revision > revision) take(orThrow(await load()))',
    after: '',
    rows: ['what another process switches is heard from the log'],
    test: 'test/unit/application/catalogue/reference-switches.test.ts',
  },
  {
    file: 'projections/api-tokens/queries.ts',
    before: 'isBehind(API_TOKENS) ? TE.left(CATCHING_UP) : TE.right(O.none)',
    after: 'TE.right(O.none)',
    rows: ['while the list is behind, a listed token is found and any other token is undecided'], test: ONCE_CURRENT,
  },
  {
    file: 'projections/once-current.ts',
    before: 'isBehind(collection) ? TE.left(CATCHING_UP) : read',
    after: 'read',
    rows: ['documents are available once their projection has read the log'], test: ONCE_CURRENT,
  },
  {
    file: 'application/tokens/policies/token-directory.ts',
    before: '      if (issuedEvent !== undefined) ids.set(issuedEvent.data.prefix, issuedEvent.data.tokenId)\n',
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
    rows: ['a name that was freed and taken by another'], test: 'test/unit/application/users/user-directory.test.ts',
  },
  {
    file: 'application/users/policies/user-directory.ts',
    before: 'isUser(state) && hasPassword(state)',
    after: 'isUser(state)',
    rows: ['who cannot be opened is not told to be nobody'], test: 'test/unit/application/users/user-directory.test.ts',
  },
]
