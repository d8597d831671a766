/** A task in flight as the search for what brought a process down sees it. */
export interface Suspicious {
  readonly id: number
  /** When the process said that it works on it; null before. */
  readonly begunAt: number | null
  /** Deaths at which it was in flight. */
  readonly deaths: number
}

/** A task that never seemed to begin may still be what kills: at this many deaths it is suspected all the same. */
const MANY_DEATHS = 3

/**
 * Which of the tasks in flight may have brought the process down: the one that took too long, where there is one; else
 * those that had begun, or all where none had.
 */
export const suspectsOf = <A extends Suspicious>(tasks: ReadonlyArray<A>, overdue: number | null): ReadonlyArray<A> => {
  const late = tasks.filter(({ id }) => id === overdue)
  if (late.length > 0) return late
  const likely = tasks.filter(({ begunAt, deaths }) => begunAt !== null || deaths >= MANY_DEATHS)
  return likely.length > 0 ? likely : tasks
}

/** In groups of at most so many. */
export const inGroups = <A>(items: ReadonlyArray<A>, most: number): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(items.length / most) }, (_, n) => items.slice(n * most, (n + 1) * most))

/** In two halves, or in more groups where a half is larger than `most`: each is tried by itself. */
export const trialsOf = <A>(suspects: ReadonlyArray<A>, most: number): ReadonlyArray<ReadonlyArray<A>> =>
  inGroups(suspects, Math.max(1, Math.min(most, Math.ceil(suspects.length / 2))))
