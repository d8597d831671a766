/** Rules for what a user signs in with: what is wrong with a value, to be read after its name, or null. None repeats it. */

/** 1 to 100 characters, none of them a control character or half of one. */
export const usernameProblem = (username: string): string | null => {
  const length = Array.from(username).length
  if (length < 1) return 'should have at least 1 character'
  if (length > 100) return 'should have at most 100 characters'
  return /[\p{Cc}\p{Cs}\u2028\u2029]/u.test(username) ? 'should not contain control characters' : null
}

/** 8 to 1024 bytes of UTF-8. */
export const passwordProblem = (password: string): string | null => {
  if (!password.isWellFormed()) return 'should be well-formed text'
  const { length } = new TextEncoder().encode(password)
  if (length < 8) return 'should have at least 8 bytes'
  return length > 1024 ? 'should have at most 1024 bytes' : null
}
