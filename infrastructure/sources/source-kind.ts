import type { Continuity } from '../../application/ports/audio-source.ts'
import type { AddressGuard } from './network/address-guard.ts'

/** Receives the bytes of a source. A stretch is a continuous part of the source, which one decoder decodes. */
export interface SourceSink {
  /** Adds bytes to the current stretch, or starts a stretch. */
  readonly bytes: (bytes: Buffer) => Promise<void>
  /** Ends the current stretch. `next`: how the next stretch follows it. */
  readonly stretchEnds: (next?: Continuity) => Promise<void>
  /** Reports that an HLS segment of this duration is complete; 0 seconds: the stretch starts after this segment. */
  readonly segment: (mediaSequence: number, seconds: number) => void
  readonly targetDuration: (seconds: number) => void
  /** Reports that no audio is to be expected yet: the source announces a gap, or its next address is tried. */
  readonly awaitAudio: () => void
}

/** Steps to reach a source, in order. */
export type SourceStep = 'resolve' | 'check' | 'connect' | 'request'

/** Reports a step for diagnosis. `detail` never contains a whole URL, which may contain secrets. */
export type Note = (step: SourceStep, detail: string) => void

export interface PullRequest {
  readonly url: URL
  /** HLS continues after this media sequence number. */
  readonly after: number | null
  /** The spoken language, to choose among the renditions of HLS; null: unknown. */
  readonly language: string | null
  readonly note: Note
}

/** Pulls one kind of source. Resolves at an announced end, throws a SourceError at any other end. */
export type PullKind = (
  request: PullRequest,
  sink: SourceSink,
  guard: AddressGuard,
  signal: AbortSignal,
) => Promise<void>
