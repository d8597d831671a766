/** A session uses at most half of the engine's time: each pass is followed by an equally long rest. */
const PASS_MULTIPLE = 2

/**
 * Returns the seconds of new audio between two drafts: the wanted interval, but at least the duration of two passes. So
 * a slow or busy machine shows drafts less often instead of falling behind. `pass`: duration of a pass, in seconds.
 */
export const draftInterval = (wanted: number, pass: number): number => Math.max(wanted, PASS_MULTIPLE * pass)
