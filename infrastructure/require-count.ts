/** `value`; throws a TypeError on what counts nothing. */
export const requireCount = (name: string, value: number): number => {
  if (!Number.isSafeInteger(value) || value < 0) throw new TypeError(`${name} must be a whole number from 0`)
  return value
}
