import { type Signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { type Captions, ended, NO_CAPTIONS, withFrame } from '../../../client/captions.ts'
import { ApiError } from '../../../client/client.ts'
import { openLiveSocket, type SocketEnd } from '../../../client/live-socket.ts'
import type { LiveSession, Transcript } from '../../../client/operations.ts'
import { call, callAnonymously } from '../../state/api.ts'
import { socketAddress } from '../../state/login.ts'

export interface ReceivedText {
  readonly captions: Captions
  /** True when no more text will arrive. */
  readonly isOver: boolean
  readonly end: SocketEnd | null
  /** True when the captions come from the transcript that the service keeps. */
  readonly isKept: boolean
}

const NOTHING: ReceivedText = { captions: NO_CAPTIONS, isOver: false, end: null, isKept: false }

const isReady = async (): Promise<boolean> =>
  (await callAnonymously('getEmbedReadiness').catch(() => ({ ready: false }))).ready

/** Converts a kept transcript to captions. A translation belongs to the text with equal times. */
const captionsOf = ({ transcript }: Transcript): Captions =>
  ended(transcript.reduce<Captions>(withFrame, NO_CAPTIONS))

const keptCaptions = async (id: number): Promise<Captions | null> => {
  try {
    const answer = await call('getTranscript', { path: { id } })
    return typeof answer === 'string' ? null : captionsOf(answer.data)
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null
    throw error
  }
}

/**
 * Listens to a session: all earlier text that the service still has, then new text. Returns the function that stops.
 */
const listen = (live: LiveSession, received: Signal<ReceivedText>): (() => void) => {
  const socket = openLiveSocket({
    url: socketAddress(live.relative_path),
    token: live.listener_token,
    cursor: () => received.peek().captions.cursor ?? 0,
    isReady,
    onFrame: (frame) => {
      if (frame.type !== 'transcription' && frame.type !== 'translation') return
      received.value = { ...received.peek(), captions: withFrame(received.peek().captions, frame) }
    },
    onState: (state) => {
      if (state.name !== 'over') return
      const { captions } = received.peek()
      received.value = { ...received.peek(), captions: ended(captions), isOver: true, end: state.end }
    },
  })
  return socket.close
}

/** Provides the text of a session: the kept transcript of an ended session, otherwise the text from the socket. */
export const useReceivedText = (live: LiveSession): Signal<ReceivedText> => {
  const received = useSignal(NOTHING)
  const isTerminal = live.status === 'finished' || live.status === 'error'
  useEffect(() => {
    let stop = (): void => undefined
    let isGone = false
    const begin = async (): Promise<void> => {
      const captions = isTerminal ? await keptCaptions(live.id) : null
      if (isGone) return
      if (captions === null) stop = listen(live, received)
      else received.value = { captions, isOver: true, end: null, isKept: true }
    }
    // A session that ended on this page has its complete text already.
    if (!received.peek().isOver) void begin().catch(() => (stop = listen(live, received)))
    return () => {
      isGone = true
      stop()
    }
  }, [live.id])
  return received
}
