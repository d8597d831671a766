import type { Members, Self } from '../application/ports/members.ts'

/** The name of a process whose stores are all embedded: its data directory is taken for it, so it has no peers. */
export const EMBEDDED_NAME = 'local'

/** The members where nobody else can be one: the lock of the data directory keeps others out. */
export const alone = (self: Self): Members => ({
  self,
  replaced: new Promise(() => undefined),
  whyNot: () => Promise.resolve(null),
  leave: () => Promise.resolve(),
})
