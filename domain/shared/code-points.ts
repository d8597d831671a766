/** Returns the number of code points. Every limit in characters counts these, as JSON Schema does. */
export const codePointsOf = (text: string): number => {
  let count = 0
  for (let index = 0; index < text.length; index += (text.codePointAt(index) ?? 0) > 0xffff ? 2 : 1) count += 1
  return count
}

/** True when the text has `min` to `max` code points. Much longer text is refused before it is read. */
export const hasCodePoints = (text: string, min: number, max: number): boolean => {
  if (text.length < min || text.length > 2 * max) return false
  const count = codePointsOf(text)
  return count >= min && count <= max
}
