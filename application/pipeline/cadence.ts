/** A session uses at most half of the engine's time: each pass is followed by an equally long rest. */
const PASS_MULTIPLE = 2

/**
 * Returns the seconds of new audio between two drafts: the wanted interval, but at least the time of two passes. So a
 * slow or busy machine shows drafts less often instead of falling behind.
 */
export const draftInterval = (wanted: number, pass: number): number => Math.max(wanted, PASS_MULTIPLE * pass)
