import type { AudioPlace, ToWorker } from '../../ports/live-links.ts'

export type SenderFrame =
  | (Extract<ToWorker, { readonly kind: 'text' }> & { readonly text: string })
  | Extract<ToWorker, { readonly kind: 'binary' }>

/** A frame that is sent again, with its new number. */
interface Repeated {
  readonly frame: SenderFrame
  readonly number: number
}

/**
 * Keeps the frames of one sender that another worker would need. Their audio may contain speech that is not yet
 * in stored finals. Frames are numbered when they are sent. A frame that is sent again gets a new number.
 */
export interface UnsettledAudio {
  /** Adds a frame that the caller sends. Returns its number. */
  readonly sent: (frame: SenderFrame, isKept: boolean) => number
  /** Adds a frame that the caller cannot send yet. */
  readonly held: (frame: SenderFrame) => void
  /** Records that the audio before this place is never needed again. */
  readonly covered: (place: AudioPlace) => void
  /** Records that the worker has received the frames up to this place. */
  readonly received: (place: AudioPlace) => void
  /** Records that the worker has answered the frame, so it is not sent again. */
  readonly answered: (number: number) => void
  /** Drops the oldest received audio, covered or not, until there is room. */
  readonly dropOldest: () => void
  readonly isFull: () => boolean
  readonly isEmpty: () => boolean
  /** Returns the place of the first kept frame if it is sent next. Null: unknown. */
  readonly from: () => AudioPlace | null
  /** Returns all kept frames with new numbers, to be sent now. */
  readonly resend: () => ReadonlyArray<Repeated>
}

interface Kept {
  readonly frame: SenderFrame
  readonly size: number
  /** Infinity until the frame is sent. */
  readonly number: number
}

/** A minute of binary audio, or 45 seconds in base64. */
const MAX_BYTES = 2 * 1024 * 1024

const sizeOf = (frame: SenderFrame): number => (frame.kind === 'text' ? frame.text.length : frame.bytes.byteLength)

/** @param maxBytes the frames may exceed this limit a little, because `isFull` is checked before the next read */
export const createUnsettledAudio = (maxBytes: number = MAX_BYTES): UnsettledAudio => {
  let kept: Array<Kept> = []
  let bytes = 0
  let lastNumber = 0
  /** The sample with which the first kept frame begins. Null: unknown. */
  let firstSample: number | null = null
  /** Ends of frames that were received but are not covered. */
  let receivedPlaces: Array<AudioPlace> = []

  const keep = (frame: SenderFrame, number: number): void => {
    const size = sizeOf(frame)
    bytes += size
    kept.push({ frame, size, number })
  }

  const remove = (isGone: (frame: Kept) => boolean): void => {
    kept = kept.filter((frame) => !isGone(frame))
    bytes = kept.reduce((sum, { size }) => sum + size, 0)
  }

  const drop = ({ frame, sample }: AudioPlace): void => {
    remove(({ number }) => number <= frame)
    receivedPlaces = receivedPlaces.filter((place) => place.frame > frame)
    firstSample = sample
  }

  const isFull = (): boolean => bytes >= maxBytes

  return {
    sent: (frame, isKept) => {
      lastNumber += 1
      if (isKept) keep(frame, lastNumber)
      return lastNumber
    },
    held: (frame) => keep(frame, Infinity),
    covered: drop,
    received: (place) => void receivedPlaces.push(place),
    answered: (answered) => remove(({ number }) => number === answered),
    dropOldest: () => {
      for (const place of receivedPlaces) if (isFull()) drop(place)
    },
    isFull,
    isEmpty: () => kept.length === 0,
    from: () => (firstSample === null ? null : { frame: lastNumber + 1, sample: firstSample }),
    resend: () => {
      receivedPlaces = []
      kept = kept.map((frame) => {
        lastNumber += 1
        return { ...frame, number: lastNumber }
      })
      return kept
    },
  }
}
