/** A lease while it is held. */
export interface HeldLease {
  /** Grows with each holder: what a former one still writes under a lower token is refused where it matters. */
  readonly token: number
  /** Aborts when the lease was lost to another process, or is given back. */
  readonly signal: AbortSignal
}

/** Who holds a lease, for people and metrics. */
export interface LeaseHolder {
  readonly name: string
  /** Null: nobody at this moment. */
  readonly holder: string | null
  readonly token: number
  readonly isOwn: boolean
}

/**
 * Work that one of all processes does at a time. A lease is a courtesy that saves double work; what must be right is
 * kept right by revisions, tokens and acts that repeat without harm, because a frozen holder wakes believing in it.
 */
export interface Leases {
  /**
   * Seeks the lease until stopped, and runs `work` whenever it is held, once per holding. When `work` ends by itself or
   * throws before the signal, the lease is given back and sought again after a pause. `stop` gives the lease back behind
   * the end of `work`.
   */
  readonly hold: (name: string, work: (held: HeldLease) => Promise<void>) => { readonly stop: () => Promise<void> }
  /** There is no other process that could hold one: nothing needs to be told to any. */
  readonly isAlone?: true
  /** As of the last answered look. */
  readonly holders: () => ReadonlyArray<LeaseHolder>
}
