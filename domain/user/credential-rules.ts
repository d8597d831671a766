// Each rule returns the problem with a value, or null. The text continues a sentence that begins with the name of the
// field. It never repeats the value.

/** Valid usernames have 1 to 100 code points, no control characters and no lone surrogates. */
export const usernameProblem = (username: string): string | null => {
  const length = Array.from(username).length
  if (length < 1) return 'should have at least 1 character'
  if (length > 100) return 'should have at most 100 characters'
  return /[\p{Cc}\p{Cs}\u2028\u2029]/u.test(username) ? 'should not contain control characters' : null
}

/** Valid passwords have 8 to 1024 bytes of UTF-8. */
export const passwordProblem = (password: string): string | null => {
  if (!password.isWellFormed()) return 'should contain only valid Unicode characters'
  const { length } = new TextEncoder().encode(password)
  if (length < 8) return 'should have at least 8 bytes'
  return length > 1024 ? 'should have at most 1024 bytes' : null
}
