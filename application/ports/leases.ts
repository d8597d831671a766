/** A lease while this process holds it. */
export interface HeldLease {
  /** Fencing token. It grows with each holder, so the writes of an earlier holder can be refused. */
  readonly token: number
  /** Aborts when the lease is lost to another process or released. */
  readonly signal: AbortSignal
}

/** The holder of a lease, for people and metrics. */
export interface LeaseHolder {
  readonly name: string
  /** Null: no process holds the lease at this moment. A lost or stopping process holds none. */
  readonly holder: string | null
  readonly token: number
  readonly isOwn: boolean
}

/**
 * Leases for work that only one process does at a time. A lease only avoids double work. A process that was paused may
 * wrongly act as if it still holds a lease. So correctness must come from revisions, fencing tokens and repeatable
 * steps.
 */
export interface Leases {
  /**
   * Tries to get the lease until stopped, and runs `work` each time it is held. When `work` ends or throws early, the
   * lease is released and tried again after a pause. `stop` waits for `work` and releases the lease.
   */
  readonly hold: (name: string, work: (held: HeldLease) => Promise<void>) => { readonly stop: () => Promise<void> }
  /** True when no other process uses these stores, so nothing needs to be published. */
  readonly isAlone?: true
  /** Returns the holders as of the last read that shows which processes are lost. */
  readonly holders: () => ReadonlyArray<LeaseHolder>
}
