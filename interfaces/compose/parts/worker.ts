import { announceWorker } from '../../../application/admission/announce-worker.ts'
import { rejoinWorker } from '../../../application/admission/rejoin-worker.ts'
import { runLives } from '../../../application/sessions/run-lives.ts'
import { drainWorker } from '../../../application/sessions/drain-worker.ts'
import { takeoverGraceOf } from '../../../infrastructure/settings.ts'
import { assemble } from '../assemble.ts'
import type { Foundation } from './foundation.ts'
import type { WorkerSessions } from './worker-sessions.ts'
import type { ReadSide } from './read-side.ts'
import type { Relay } from './relay.ts'
import type { WriteSide } from './write-side.ts'

interface Needs {
  readonly foundation: Foundation
  readonly writeSide: WriteSide
  readonly readSide: ReadSide
  readonly workerSessions: WorkerSessions
  /** Null for a single process with all roles. */
  readonly relay: Relay | null
}

/** Starts and stops the sessions of this worker according to the log, and announces its models to other processes. */
export const startWorker = ({ foundation, writeSide, readSide, workerSessions, relay }: Needs) =>
  assemble(async (opened) => {
    const { settings, stores: { members }, environment, timers, logger } = foundation
    const { write, admission, worker } = writeSide
    const { sessions } = workerSessions
    const about = { admission, environment, members, timers, logger }
    // A single process cannot be considered lost, so it never has to rejoin.
    const rejoining = relay === null ? null : opened(rejoinWorker({ ...about, vram: writeSide.vram }))
    const running = opened(runLives({
      ...write, admission, worker, logger,
      whenProjected: readSide.whenProjected,
      takeoverGrace: takeoverGraceOf(settings),
      runs: relay === null ? sessions.runs : relay.relayingEnds(sessions.runs),
      ...(rejoining !== null && { onLost: rejoining.left }),
      ...(relay !== null && { onMoved: relay.placementChanged }),
    }))
    if (relay !== null) {
      const announcing = announceWorker({
        members, timers, offers: workerSessions.offers, lives: sessions.runs.all,
        logAnswers: readSide.storeWatch.isAnswering,
      })
      opened({ stop: async () => announcing.stop() })
    }
    return {
      /** Continues or ends the sessions of an earlier run. */
      resume: running.start,
      /** Ends the sessions at a planned stop. Call it while all other parts still run. */
      drain: drainWorker({
        ...about, sessions, rejoining, drainTimeout: settings.drainTimeout, hasSockets: settings.role.includes('api'),
      }),
    }
  })
