import type { Members } from '../../ports/members.ts'

/**
 * State of the process that admitted a session and should create it. `gone`: the process has ended, so it will not
 * complete the create. `alive`: it is another running process, which may be slow. `unseen`: it is this process itself,
 * or a process that is not (or not yet) in the list of members.
 */
export type CreatorState = 'gone' | 'alive' | 'unseen'

/** Returns the state of one run of a process, by the id of that run. */
export type CreatorStateOf = (instance: string) => CreatorState

/** `isAlone`: true when only one process can use these stores, so every other run has ended. */
export const creatorStateAmong =
  ({ self, all }: Pick<Members, 'self' | 'all'>, isAlone: boolean): CreatorStateOf =>
  (instance) => {
    if (instance === self.incarnation) return 'unseen'
    if (isAlone) return 'gone'
    return all().some(({ incarnation }) => incarnation === instance) ? 'alive' : 'unseen'
  }
