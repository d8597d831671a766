import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { LiveOver, SenderAlreadyConnected, Superseded, Unavailable } from '../../errors.ts'
import type { ResumePoint } from '../../lives/queries/resume-point.ts'
import type { ResolveToken } from '../../ports/read-models.ts'
import type { MissedFinals } from '../missed-finals.ts'
import type { SenderSession } from '../sender-session.ts'

/** Lives, wherever they run, as listeners' sockets need them. */
export interface HeardSessions {
  readonly resolveToken: ResolveToken
  /** The finals that a socket missed; for open lives and for those that ended less than a minute ago (D58). */
  readonly missed: (liveId: number, point: ResumePoint) => TaskEither<Unavailable, MissedFinals>
  /** Where lives may run elsewhere: settles when a socket that listens from then on misses nothing. */
  readonly ready?: (liveId: number) => Promise<void>
}

/** The lives that run in this process. */
export interface LiveSessions extends HeardSessions {
  /** The live's one place, with the session of the sender that was given it. */
  readonly attachSender: (
    liveId: number,
    /** Of one that comes again: the sample of the live with which its audio begins. */
    from?: number | null,
  ) => TaskEither<SenderAlreadyConnected | LiveOver | Superseded | Unavailable, SenderSession>
}
