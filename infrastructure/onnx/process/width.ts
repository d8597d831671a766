/** The number of tasks that an engine process runs at a time. */
export interface Width {
  readonly now: () => number
  /** Sets the number of tasks that the process can run with enough memory. */
  readonly resize: (full: number) => void
  /** Halves the number after the process was killed because memory ran out. */
  readonly halve: () => void
}

const FIRST_RECOVERY_MS = 10 * 60_000
const LONGEST_RECOVERY_MS = 24 * 3_600_000

/**
 * Creates a width that is halved at each kill, down to 1, and doubled after ten minutes without a kill. Each kill
 * doubles this wait, so a machine with too little memory does not run into the same kill repeatedly.
 *
 * @param monotonic milliseconds of a clock that never goes back
 */
export const createWidth = (full: number, monotonic: () => number): Width => {
  let maxWidth = full
  let width = full
  let kills = 0
  let changedAt = 0

  const now = (): number => {
    const recovery = Math.min(LONGEST_RECOVERY_MS, FIRST_RECOVERY_MS * 2 ** (kills - 1))
    if (width < maxWidth && monotonic() - changedAt >= recovery) {
      width = Math.min(maxWidth, width * 2)
      changedAt = monotonic()
    }
    return width
  }
  return {
    now,
    resize: (wanted) => {
      width = width === maxWidth ? wanted : Math.min(width, wanted)
      maxWidth = wanted
    },
    halve: () => {
      width = Math.max(1, Math.floor(now() / 2))
      kills += 1
      changedAt = monotonic()
    },
  }
}
