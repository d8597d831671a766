import type { AudioPlace, ToWorker } from '../../ports/peers/live-links.ts'

/** A frame of a sender's, as it came from its socket. */
export type SenderFrame =
  | (Extract<ToWorker, { readonly kind: 'text' }> & { readonly text: string })
  | Extract<ToWorker, { readonly kind: 'binary' }>

/** A frame as it is sent again. */
interface Repeated {
  readonly frame: SenderFrame
  readonly number: number
}

/**
 * The frames of one sender that another worker would have to hear: those that no stored final and no settled silence
 * covers. Frames are numbered as they are sent, those that are sent again once more.
 */
export interface UnheardAudio {
  /** A frame that is sent now; answers its number. */
  readonly sent: (frame: SenderFrame, isKept: boolean) => number
  /** A frame that comes while nobody takes it. */
  readonly held: (frame: SenderFrame) => void
  /** Nobody will ask again for what is before. */
  readonly covered: (place: AudioPlace) => void
  readonly heard: (place: AudioPlace) => void
  /** It was answered: it is not sent again. */
  readonly answered: (number: number) => void
  /** Lets go of the oldest audio that was heard, covered or not, until there is room, as far as there is any. */
  readonly letGo: () => void
  readonly isFull: () => boolean
  readonly isEmpty: () => boolean
  /** Where the next frame that is sent stands, if that is the first of those kept; null: nobody has said so. */
  readonly from: () => AudioPlace | null
  /** All that is kept, to be sent now. */
  readonly again: () => ReadonlyArray<Repeated>
}

interface Kept {
  readonly frame: SenderFrame
  readonly size: number
  /** Infinite until it is sent. */
  readonly number: number
}

/** A minute of audio as bytes, three quarters of one in base64. */
const MOST_BYTES = 2 * 1024 * 1024

const sizeOf = (frame: SenderFrame): number => (frame.kind === 'text' ? frame.text.length : frame.bytes.byteLength)

/** @param most bytes; who heeds `isFull` goes beyond by what is under way */
export const createUnheardAudio = (most: number = MOST_BYTES): UnheardAudio => {
  let kept: Array<Kept> = []
  let bytes = 0
  let last = 0
  /** The sample with which the first of those kept begins. */
  let begins: number | null = null
  /** Where frames end that were heard and are not covered. */
  let heard: Array<AudioPlace> = []

  const keep = (frame: SenderFrame, number: number): void => {
    const size = sizeOf(frame)
    bytes += size
    kept.push({ frame, size, number })
  }

  const remove = (isGone: (one: Kept) => boolean): void => {
    kept = kept.filter((one) => !isGone(one))
    bytes = kept.reduce((sum, { size }) => sum + size, 0)
  }

  const drop = ({ frame, sample }: AudioPlace): void => {
    remove(({ number }) => number <= frame)
    heard = heard.filter((place) => place.frame > frame)
    begins = sample
  }

  const isFull = (): boolean => bytes >= most

  return {
    sent: (frame, isKept) => {
      last += 1
      if (isKept) keep(frame, last)
      return last
    },
    held: (frame) => keep(frame, Infinity),
    covered: drop,
    heard: (place) => void heard.push(place),
    answered: (answered) => remove(({ number }) => number === answered),
    letGo: () => {
      for (const place of heard) if (isFull()) drop(place)
    },
    isFull,
    isEmpty: () => kept.length === 0,
    from: () => (begins === null ? null : { frame: last + 1, sample: begins }),
    again: () => {
      heard = []
      kept = kept.map((one) => {
        last += 1
        return { ...one, number: last }
      })
      return kept
    },
  }
}
