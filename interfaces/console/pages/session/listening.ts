import { useSignal } from '@preact/signals'
import type { Signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ended, NO_CAPTIONS, withFrame } from '../../../client/captions.ts'
import type { Captions } from '../../../client/captions.ts'
import { ApiError } from '../../../client/client.ts'
import { openLiveSocket } from '../../../client/live-socket.ts'
import type { SocketEnd } from '../../../client/live-socket.ts'
import type { LiveSession, Transcript } from '../../../client/operations.ts'
import { call, callOpenly } from '../../state/api.ts'
import { socketAddress } from '../../state/login.ts'

export interface Heard {
  readonly captions: Captions
  /** True once no more will come. */
  readonly isOver: boolean
  readonly end: SocketEnd | null
  readonly isKept: boolean
}

const NOTHING: Heard = { captions: NO_CAPTIONS, isOver: false, end: null, isKept: false }

const isReady = async (): Promise<boolean> =>
  (await callOpenly('getEmbedReadiness').catch(() => ({ ready: false }))).ready

/** A kept transcript as captions: each translation belongs to the text with its times. */
const captionsOf = ({ transcript }: Transcript): Captions =>
  ended(transcript.reduce<Captions>(withFrame, NO_CAPTIONS))

const kept = async (id: number): Promise<Captions | null> => {
  try {
    const answer = await call('getTranscript', { path: { id } })
    return typeof answer === 'string' ? null : captionsOf(answer.data)
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null
    throw error
  }
}

/** Everything that was said from the beginning, as far as the service still has it, and what is being said. */
const listen = (live: LiveSession, heard: Signal<Heard>): (() => void) => {
  const socket = openLiveSocket({
    url: socketAddress(live.relative_path),
    token: live.listener_token,
    cursor: () => heard.peek().captions.cursor ?? 0,
    isReady,
    onFrame: (frame) => {
      if (frame.type !== 'transcription' && frame.type !== 'translation') return
      heard.value = { ...heard.peek(), captions: withFrame(heard.peek().captions, frame) }
    },
    onState: (state) => {
      if (state.name === 'over') heard.value = { ...heard.peek(), captions: ended(heard.peek().captions), isOver: true,
        end: state.end }
    },
  })
  return socket.close
}

/** What is heard of a session: its kept text once it is over, else what comes. */
export const useHeard = (live: LiveSession): Signal<Heard> => {
  const heard = useSignal(NOTHING)
  const isTerminal = live.status === 'finished' || live.status === 'error'
  useEffect(() => {
    let stop = (): void => undefined
    let isGone = false
    const begin = async (): Promise<void> => {
      const captions = isTerminal ? await kept(live.id) : null
      if (isGone) return
      if (captions === null) stop = listen(live, heard)
      else heard.value = { captions, isOver: true, end: null, isKept: true }
    }
    // One that ends while it is shown has been heard already.
    if (!heard.peek().isOver) void begin().catch(() => (stop = listen(live, heard)))
    return () => {
      isGone = true
      stop()
    }
  }, [live.id])
  return heard
}
