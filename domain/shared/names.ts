/**
 * Returns the problem with the name of a profile or token, or null. The text continues a sentence that begins with
 * "name". Valid names have 1 to 100 code points and no lone surrogate.
 */
export const nameProblem = (name: string): string | null => {
  const length = Array.from(name).length
  if (length < 1) return 'should have at least 1 character'
  if (length > 100) return 'should have at most 100 characters'
  return name.isWellFormed() ? null : 'should contain only valid Unicode characters'
}
