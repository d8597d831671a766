/** What is wrong with the name of a profile or token, to be read after "name", or null: 1 to 100 characters, none of them half of one. */
export const nameProblem = (name: string): string | null => {
  const length = Array.from(name).length
  if (length < 1) return 'should have at least 1 character'
  if (length > 100) return 'should have at most 100 characters'
  return name.isWellFormed() ? null : 'should be well-formed text'
}
