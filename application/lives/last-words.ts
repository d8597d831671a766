/** Lets a live's pipeline speak out what it has heard, for at most `limitMs`; at once where there is none. */
export type Flush = (liveId: number, limitMs: number) => Promise<void>

/** For the last words of a live that its owner, an administrator or a time limit ends. */
export const LAST_WORDS_MS = 2000
