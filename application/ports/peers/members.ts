import type { Model, TranslationPair } from '../catalogue.ts'
import type { InstalledFacts } from '../installed-models.ts'

/** A running process, as others know it. */
export interface Self {
  /** The same after a restart: `local` where all stores are embedded, else NODE_NAME or one made once for the data directory. */
  readonly name: string
  /** A UUID of this run of the process. */
  readonly incarnation: string
}

/** What a process is there for. */
export const ROLES = ['api', 'worker', 'projector'] as const
export type Role = (typeof ROLES)[number]

/** A device of a worker: `lanes` passes at a time. */
export interface OfferedDevice {
  readonly name: string
  readonly lanes: number
}

/** An engine of a worker that runs one for each of its GPUs. */
export interface OfferedEngine {
  /** Megabytes that its sessions can reserve. */
  readonly vram: number
  /** Sessions that run on it. */
  readonly sessions: ReadonlyArray<number>
}

/** What a worker can run. */
export interface Offers {
  readonly models: ReadonlyArray<Model & {
    /** Name of the device that runs it. */
    readonly device: string
    /** Part of a lane that a session takes, as measured. */
    readonly share: number
    /** It is in memory. */
    readonly isLoaded: boolean
  }>
  readonly translations: ReadonlyArray<TranslationPair>
  readonly devices: ReadonlyArray<OfferedDevice>
  /** Absent where one engine runs all sessions. */
  readonly engines?: ReadonlyArray<OfferedEngine>
  /** What administrators see of them beside that. */
  readonly onDisk?: ReadonlyArray<InstalledFacts>
}

/** How far a job is, from the process that does it. */
export interface ToldJob {
  readonly jobId: number
  readonly done: number
  readonly total: number | null
  readonly detail: string
  readonly at: string
}

/** What a member has to do with administrators' jobs. */
export interface ToldJobs {
  /** Those that it does. */
  readonly doing: ReadonlyArray<ToldJob>
  /** Those of others that somebody asked it to have broken off; whoever does one hears it here. */
  readonly cancelling: ReadonlyArray<number>
}

/** What a member tells the others of itself, and may change while it runs. */
export interface Announced {
  readonly state: 'up' | 'draining' | 'stopping'
  /** `host:port` of its internal port; null where it has none. */
  readonly address: string | null
  /** Null unless it is a worker. */
  readonly offers: Offers | null
  /** Its event store answers. */
  readonly logAnswers: boolean
  /** Lives that it hears at this moment. */
  readonly lives: ReadonlyArray<number>
  /** Null of one that does none, and of versions that do not say. */
  readonly jobs: ToldJobs | null
}

/** What of a member never changes while it runs. */
export interface Profile {
  readonly roles: ReadonlyArray<Role>
  /** Of the package. */
  readonly version: string
  /** Newest format of the log, and version of the relay's messages, that it understands. */
  readonly speaks: { readonly log: number; readonly relay: number }
}

export interface Member extends Self, Announced, Profile {}

/** The processes that use one set of stores. */
export interface Members {
  readonly self: Self
  /**
   * Settles with why, for people, once another process has the place of this one, which must then end and write nothing
   * more; pending for as long as the place is its own.
   */
  readonly replaced: Promise<string>
  /** Why the place is not, or may not be, this process's own at this moment, for people; null where it is. */
  readonly whyNot: () => Promise<string | null>
  /** Those that are not lost, this one among them, as of the last answered look. */
  readonly all: () => ReadonlyArray<Member>
  /**
   * Hears that `all` changed: somebody came, left, was found lost or announced something. Answers how to stop that.
   */
  readonly onChange: (hear: () => void) => () => void
  /**
   * Hears of each member that was found lost, those found before included: ten counted looks in a row saw no new beat of
   * it. Once each time, since one that was only cut off comes back. Whoever hears may only suspect; the log decides.
   * Answers how to stop that.
   */
  readonly onLost: (hear: (member: Member) => void) => () => void
  /** Told to the others with the next beat, at once for `state`, `address` and `jobs`. */
  readonly announce: (change: Partial<Announced>) => void
  /** Gives the place up, so that the next process need not wait. */
  readonly leave: () => Promise<void>
}
