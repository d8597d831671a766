import type { Members } from '../../ports/peers/members.ts'

/**
 * `gone`: no process of that run will ever create anything. `alive`: another process, which may be slow. `unseen`: this
 * process itself, where a create that stalls is as old as what stalls it, or one that is not, or not yet, among the members.
 */
export type Creator = 'gone' | 'alive' | 'unseen'

/** What became of the run of a process, by the id that it gave itself. */
export type CreatorOf = (instance: string) => Creator

/** `isAlone`: no other process can have these stores, so that whoever is not this one has ended. */
export const creatorsAmong =
  ({ self, all }: Pick<Members, 'self' | 'all'>, isAlone: boolean): CreatorOf =>
  (instance) => {
    if (instance === self.incarnation) return 'unseen'
    if (isAlone) return 'gone'
    return all().some(({ incarnation }) => incarnation === instance) ? 'alive' : 'unseen'
  }
