import type { OwnWorker } from '../../application/admission/candidates.ts'
import type { MeasuredCompute } from '../../application/admission/measured-compute.ts'
import type { EndByWorker } from '../../application/lives/ending.ts'
import type { GetActivityDeps } from '../../application/lives/queries/get-activity.ts'
import type { LiveBus } from '../../application/pipeline/signals.ts'
import type { Logger } from '../../application/ports/environment.ts'
import type { RunningSessions } from '../../application/running/live-sessions.ts'
import type { ListenerSessions } from '../../application/running/socket-sessions.ts'
import type { Translations } from '../../application/pipeline/translations.ts'
import type { ClusterFigures } from '../../infrastructure/observability/cluster-metrics.ts'
import type { PlaceSender } from '../ws/senders/sender-placement.ts'
import type { Part } from './assemble.ts'
import type { Engines } from './engines.ts'
import type { Foundation } from './foundation.ts'
import type { ReadSide } from './read-side.ts'
import type { Sources } from './sources.ts'
import type { WriteSide } from './write-side.ts'

/** `stop` refuses new sessions, waits up to DRAIN_TIMEOUT for the open sessions, and then closes the stores. */
export interface RunningService extends Part {
  /** Address of the bound port: `http://host:port`. */
  readonly url: string
  /** The one-time set-up link. Null when an administrator exists, and in a process without the role `api`. */
  readonly setupLink: string | null
  readonly logger: Logger
  /** Returns the number of sessions that this process transcribes. */
  readonly sessions: () => number
}

/** The parts that every process has, whatever its role. */
export interface Core {
  readonly foundation: Foundation
  readonly engines: Engines
  readonly writeSide: WriteSide
  readonly readSide: ReadSide
  readonly sources: Sources
}

/** The sessions that this process transcribes, and what it can offer to further ones. */
export interface WorkerSessions extends OwnWorker {
  readonly sessions: RunningSessions
  readonly bus: LiveBus
  readonly translations: Translations
  readonly compute: MeasuredCompute
}

/** Access to sessions for sockets and routes, in this process or in another one. */
export interface SessionAccess {
  readonly sessions: ListenerSessions
  readonly bus: LiveBus
  readonly placeSender: PlaceSender
  readonly endByWorker: EndByWorker
  readonly runs: GetActivityDeps['runs']
}

/** A service whose sessions run, before its front is open. */
export interface Service extends Core {
  readonly access: SessionAccess
  /** Null in a process without the role `worker`. */
  readonly worker: WorkerSessions | null
  /** Null in a single process. */
  readonly cluster: ClusterFigures | null
  /** Continues or ends the sessions of an earlier process. Call it before clients can connect. */
  readonly resume: () => Promise<void>
  /** Ends or moves the sessions of this process at a planned stop. Call it while all other parts still run. */
  readonly drain: () => Promise<void>
}
