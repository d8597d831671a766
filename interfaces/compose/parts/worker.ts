import { announceWorker } from '../../../application/admission/announce-worker.ts'
import { rejoinWorker } from '../../../application/admission/rejoin-worker.ts'
import { runLives } from '../../../application/sessions/run-lives.ts'
import { drainWorker } from '../../../application/sessions/runs/drain-worker.ts'
import { takeoverGraceOf } from '../../../infrastructure/settings.ts'
import { assemble } from '../assemble.ts'
import type { Foundation } from './foundation.ts'
import type { Hearing } from './hearing.ts'
import type { ReadSide } from './read-side.ts'
import type { Relay } from './relay.ts'
import type { WriteSide } from './write-side.ts'

interface Needs {
  readonly foundation: Foundation
  readonly writeSide: WriteSide
  readonly readSide: ReadSide
  readonly hearing: Hearing
  /** Null where there is one process alone. */
  readonly relay: Relay | null
}

/** Starts and stops the lives of this worker as the log tells, and tells others what it can run. */
export const startWorker = ({ foundation, writeSide, readSide, hearing, relay }: Needs) =>
  assemble(async (opened) => {
    const { settings, stores: { members }, environment, timers, logger } = foundation
    const { write, admission, worker } = writeSide
    const { sessions } = hearing
    const about = { admission, environment, members, timers, logger }
    // Nobody can take it for lost where it is the one member.
    const rejoining = relay === null ? null : opened(rejoinWorker({ ...about, vram: writeSide.vram }))
    const running = opened(runLives({
      ...write, admission, worker, logger,
      whenProjected: readSide.whenProjected,
      takeoverGrace: takeoverGraceOf(settings),
      runs: relay === null ? sessions.runs : relay.endsTold(sessions.runs),
      ...(rejoining !== null && { onLost: rejoining.left }),
      ...(relay !== null && { onMoved: relay.placedAnew }),
    }))
    if (relay !== null) {
      const announcing = announceWorker({
        members, timers, offers: hearing.offers, lives: sessions.runs.all, logAnswers: readSide.storeWatch.isAnswering,
      })
      opened({ stop: async () => announcing.stop() })
    }
    return {
      settle: running.settle,
      /** The lives of an earlier run go on or end. */
      resume: running.start,
      /** At a planned stop, while all else still runs. */
      drain: drainWorker({ ...about, sessions, rejoining, drainTimeout: settings.drainTimeout }),
    }
  })
