/** A running process, as others know it. */
export interface Self {
  /** The same after a restart: `local` where all stores are embedded, else NODE_NAME or one made once for the data directory. */
  readonly name: string
  /** A UUID of this run of the process. */
  readonly incarnation: string
}

/** The processes that use one set of stores: for now a single one, the others are refused. */
export interface Members {
  readonly self: Self
  /**
   * Settles with why, for people, once another process has the place of this one, which must then end and write nothing
   * more; pending for as long as the place is its own.
   */
  readonly replaced: Promise<string>
  /** Why the place is not, or may not be, this process's own at this moment, for people; null where it is. */
  readonly whyNot: () => Promise<string | null>
  /** Gives the place up, so that the next process need not wait. */
  readonly leave: () => Promise<void>
}
