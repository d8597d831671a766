import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { LiveOver, SenderAlreadyConnected, Superseded, Unavailable } from '../../errors.ts'
import type { ResolveToken } from '../../lives/queries/resolve-token.ts'
import type { ResumePoint } from '../../lives/queries/resume-point.ts'
import type { MissedFinals } from '../missed-finals.ts'
import type { SenderSession } from '../sender-session.ts'

/** The sessions of all processes, as listener sockets need them. */
export interface ListenerSessions {
  readonly resolveToken: ResolveToken
  /** Returns the finals that a socket missed, of open sessions and of sessions that ended within the last minute. */
  readonly missed: (liveId: number, point: ResumePoint) => TaskEither<Unavailable, MissedFinals>
  /** Resolves when a socket that subscribes afterwards misses no final. Absent when there is only one process. */
  readonly ready?: (liveId: number) => Promise<void>
}

/** The sessions that run in this process. */
export interface LiveSessions extends ListenerSessions {
  /** Gives the sender the only place for a sender of this session. Returns its sender session. */
  readonly attachSender: (
    liveId: number,
    /** For a returning sender: the sample of the session with which its audio begins. */
    from?: number | null,
  ) => TaskEither<SenderAlreadyConnected | LiveOver | Superseded | Unavailable, SenderSession>
}
