import type { Continuity } from '../../application/ports/audio-source.ts'
import type { AddressGuard } from './network/address-guard.ts'

/** Takes the bytes of a source. The bytes of one stretch go to one decoder. */
export interface SourceSink {
  /** More of the present stretch, begun where there is none. */
  readonly bytes: (bytes: Buffer) => Promise<void>
  /** The stretch is over: what follows is no continuation of it; `next` says what is known of that. */
  readonly stretchEnds: (next?: Continuity) => Promise<void>
  /** The bytes so far hold all of this HLS segment, which lasts so many seconds; 0: they begin behind it. */
  readonly segment: (mediaSequence: number, seconds: number) => void
  readonly targetDuration: (seconds: number) => void
}

/** What is done to reach a source, in order. */
export type SourceStep = 'resolve' | 'check' | 'connect' | 'ask'

/** Is told what was done and found, for whoever looks for a mistake; never a whole URL, which may hold secrets (D60). */
export type Note = (step: SourceStep, detail: string) => void

export interface PullRequest {
  readonly url: URL
  /** HLS goes on after this media sequence. */
  readonly after: number | null
  readonly note: Note
}

/** A kind of source: resolves when it is over and said so, throws a SourceError for any other end. */
export type PullKind = (request: PullRequest, sink: SourceSink, guard: AddressGuard, signal: AbortSignal) => Promise<void>
