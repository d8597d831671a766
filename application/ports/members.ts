import type { Model, TranslationPair } from './catalogue.ts'
import type { InstalledFacts } from './installed-models.ts'

/** The identity of a running process. */
export interface Self {
  /**
   * Name of the process, which stays the same after a restart. It is `local` with embedded stores. Otherwise it is
   * NODE_NAME, or a name that is made once for the data directory.
   */
  readonly name: string
  /** A UUID of this run of the process. */
  readonly incarnation: string
}

/** The tasks of a process. */
export const ROLES = ['api', 'worker', 'projector'] as const
export type Role = (typeof ROLES)[number]

/** A device of a worker. `lanes`: number of model passes that run at the same time. */
export interface OfferedDevice {
  readonly name: string
  readonly lanes: number
}

/** One engine of a worker that has an engine for each GPU. */
export interface OfferedEngine {
  /** Megabytes that sessions can reserve. */
  readonly vram: number
  /** Ids of the sessions that run on the engine. */
  readonly sessions: ReadonlyArray<number>
}

export interface Offers {
  readonly models: ReadonlyArray<Model & {
    /** Name of the device that runs the model. */
    readonly device: string
    /** Measured part of a lane that a session takes. */
    readonly share: number
    /** True when the model is in memory. */
    readonly isLoaded: boolean
  }>
  readonly translations: ReadonlyArray<TranslationPair>
  readonly devices: ReadonlyArray<OfferedDevice>
  /** Absent when one engine runs all sessions. */
  readonly engines?: ReadonlyArray<OfferedEngine>
  /** Further facts about the models, for administrators. */
  readonly onDisk?: ReadonlyArray<InstalledFacts>
}

/** Progress of a job, published by the process that runs it. */
export interface PublishedJob {
  readonly jobId: number
  readonly done: number
  readonly total: number | null
  readonly detail: string
  readonly at: string
}

export interface JobReport {
  /** Jobs that the member runs. */
  readonly doing: ReadonlyArray<PublishedJob>
  /** Ids of jobs in other processes that an administrator cancelled here. Their processes read this list. */
  readonly cancelling: ReadonlyArray<number>
}

/** Facts that a member publishes and that may change while it runs. */
export interface Announced {
  readonly state: 'up' | 'draining' | 'stopping'
  /** `host:port` of its internal port. Null without an internal port. */
  readonly address: string | null
  /** Null unless the member is a worker. */
  readonly offers: Offers | null
  /** True while its event store answers. */
  readonly logAnswers: boolean
  /** Ids of the sessions that it transcribes at this moment. */
  readonly lives: ReadonlyArray<number>
  /** Null for a member that runs no jobs, and for early versions. */
  readonly jobs: JobReport | null
}

/** Facts of a member that never change while it runs. */
export interface Profile {
  readonly roles: ReadonlyArray<Role>
  /** Version of the package. */
  readonly version: string
  /** The newest log format and the relay version that it understands. */
  readonly speaks: { readonly log: number; readonly relay: number }
}

export interface Member extends Self, Announced, Profile {}

/** The processes that use one set of stores. Each writes heartbeats (beats), which show that it runs. */
export interface Members {
  readonly self: Self
  /**
   * Resolves with the reason, for people, when another process has taken over the name of this one. Then this process
   * must end and write nothing more.
   */
  readonly replaced: Promise<string>
  /** Returns why this process may have lost its name to another process, for people, or null when it owns the name. */
  readonly ownershipProblem: () => Promise<string | null>
  /** Returns this member and all others that are not lost, as of the last successful read. */
  readonly all: () => ReadonlyArray<Member>
  /**
   * Calls the listener when a member joined, left, was lost or announced a change. Returns a function that stops it.
   */
  readonly onChange: (listener: () => void) => () => void
  /**
   * Calls the listener for each lost member, including members that were lost before the call. A member is lost when
   * ten successive successful reads found no new beat of it. It may only have been cut off, so it may return and be
   * lost again. Therefore a loss is only a suspicion, and the log decides. Returns a function that stops the calls.
   */
  readonly onLost: (listener: (member: Member) => void) => () => void
  /** Publishes a change with the next beat. Changes of `state`, `address` and `jobs` are published immediately. */
  readonly announce: (change: Partial<Announced>) => void
  /** Releases the name, so the next process with this name need not wait. */
  readonly leave: () => Promise<void>
}
