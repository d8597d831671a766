/** Returns `value`; throws a TypeError unless it is an integer from 0. */
export const requireCount = (name: string, value: number): number => {
  if (!Number.isSafeInteger(value) || value < 0) throw new TypeError(`${name} must be a whole number from 0`)
  return value
}
