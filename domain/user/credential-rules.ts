import { codePointsOf } from '../shared/code-points.ts'

const MAX_PASSWORD_BYTES = 1024
const TOO_LONG = `should have at most ${MAX_PASSWORD_BYTES} bytes`

/**
 * Returns the problem with a new password, or null. The text continues a sentence that begins with the name of the
 * field, and never repeats the value. A valid password has at least 8 code points and at most 1,024 bytes of UTF-8.
 */
export const passwordProblem = (password: string): string | null => {
  if (password.length > MAX_PASSWORD_BYTES) return TOO_LONG
  if (!password.isWellFormed()) return 'should contain only valid Unicode characters'
  if (codePointsOf(password) < 8) return 'should have at least 8 characters'
  const { length } = new TextEncoder().encode(password)
  return length > MAX_PASSWORD_BYTES ? TOO_LONG : null
}
