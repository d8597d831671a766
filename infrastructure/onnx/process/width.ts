/** How many tasks an engine process works on at a time. */
export interface Width {
  readonly now: () => number
  /** As many as this process could work on, were there memory for all of them. */
  readonly resize: (full: number) => void
  /** The process was killed for the memory that its tasks took. */
  readonly halve: () => void
}

const FIRST_RECOVERY_MS = 10 * 60_000
const LONGEST_RECOVERY_MS = 24 * 3_600_000

/**
 * Halved at each kill, down to one, and doubled again after ten minutes without one; each kill doubles that wait, so
 * that a machine with too little memory is not driven into the same kill again and again.
 *
 * @param monotonic milliseconds that only ever grow
 */
export const createWidth = (full: number, monotonic: () => number): Width => {
  let most = full
  let width = full
  let kills = 0
  let since = 0

  const now = (): number => {
    const recovery = Math.min(LONGEST_RECOVERY_MS, FIRST_RECOVERY_MS * 2 ** (kills - 1))
    if (width < most && monotonic() - since >= recovery) {
      width = Math.min(most, width * 2)
      since = monotonic()
    }
    return width
  }
  return {
    now,
    resize: (wanted) => {
      width = width === most ? wanted : Math.min(width, wanted)
      most = wanted
    },
    halve: () => {
      width = Math.max(1, Math.floor(now() / 2))
      kills += 1
      since = monotonic()
    },
  }
}
