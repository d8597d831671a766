/** A pass is followed by as long a rest, at least, in which the engine serves others. */
const REST = 2

/**
 * Seconds of new audio that a draft waits for: what was asked for, and no less than two passes take, so that a machine
 * that is slow, or busy, shows text later instead of falling behind.
 */
export const cadenceOf = (wanted: number, pass: number): number => Math.max(wanted, REST * pass)
