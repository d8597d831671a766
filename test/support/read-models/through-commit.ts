import type { Either } from 'fp-ts/lib/Either.js'
import type { Commit, Documents, DocumentsUnavailable } from '../../../application/ports/documents.ts'

/** Documents whose commits, alone or together, all pass through `commit`. */
export const throughCommit = (
  documents: Documents,
  commit: (one: Commit) => Promise<Either<DocumentsUnavailable, void>>,
): Documents => ({
  ...documents,
  commit: (whose, changes, checkpoint, token = 0) => commit({ whose, changes, checkpoint, token }),
  commitAll: (commits) => Promise.all(commits.map(commit)),
})

/** Makes one commit as it is. */
export const committed = (documents: Documents, { whose, changes, checkpoint, token }: Commit) =>
  documents.commit(whose, changes, checkpoint, token)
