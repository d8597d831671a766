/** A task that was in flight when its process died. */
export interface Suspicious {
  readonly id: number
  /** When the process reported its begin; null before. */
  readonly begunAt: number | null
  /** Number of processes that died while it was in flight. */
  readonly deaths: number
}

/** A task without a reported begin may also kill the process. After this many deaths it is a suspect. */
const MANY_DEATHS = 3

/**
 * Returns the tasks that may have killed the process: the overdue task if there is one, else the tasks that had begun,
 * else all tasks.
 */
export const suspectsOf = <A extends Suspicious>(tasks: ReadonlyArray<A>, overdue: number | null): ReadonlyArray<A> => {
  const late = tasks.filter(({ id }) => id === overdue)
  if (late.length > 0) return late
  const likely = tasks.filter(({ begunAt, deaths }) => begunAt !== null || deaths >= MANY_DEATHS)
  return likely.length > 0 ? likely : tasks
}

export const inGroups = <A>(items: ReadonlyArray<A>, most: number): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(items.length / most) }, (_, n) => items.slice(n * most, (n + 1) * most))

/** Splits suspects into two halves, or into more groups of at most `most`. Each group is tried separately. */
export const trialsOf = <A>(suspects: ReadonlyArray<A>, most: number): ReadonlyArray<ReadonlyArray<A>> =>
  inGroups(suspects, Math.max(1, Math.min(most, Math.ceil(suspects.length / 2))))
