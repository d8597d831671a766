/**
 * Raised whenever an older version could not use what a newer one writes: other tables, other documents, or events of a
 * new type. Each store carries it as a mark of its own; one without a mark is of format 1.
 */
export const FORMAT = 1

/** Why this version must not use a store with such a mark, in words for people; null where it may. */
export const whyNotFormat = (what: string, mark: unknown): string | null => {
  if (mark === undefined || (typeof mark === 'number' && mark <= FORMAT)) return null
  return `${what} was written by a newer version of Stenolog (format ${JSON.stringify(mark)}, this version knows ${FORMAT}): use that version, or restore a backup of this one`
}
