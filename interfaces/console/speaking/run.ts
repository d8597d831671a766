import { batch, computed, signal } from '@preact/signals'
import type { Captions } from '../../client/captions.ts'
import { NO_CAPTIONS } from '../../client/captions.ts'
import type { SocketEnd } from '../../client/live-socket.ts'
import type { LiveSession } from '../../client/operations.ts'

/** How far a session of this tab has come. */
export type Phase =
  | 'idle' | 'asking' | 'creating' | 'connecting' | 'loading' | 'listening' | 'reconnecting' | 'finishing' | 'done' | 'failed'

/** What this tab sends, or sent last. */
export const phase = signal<Phase>('idle')
export const live = signal<LiveSession | null>(null)
export const captions = signal<Captions>(NO_CAPTIONS)
/** Seconds of audio that were sent. */
export const sent = signal(0)
/** Loudness of the last 100 ms, in decibels below full scale. */
export const level = signal(-60)
export const isMuted = signal(false)
/** Seconds without a sound. */
export const quiet = signal(0)
/** Why it failed: of the browser's audio, of a request. */
export const failure = signal<unknown>(null)
/** How the socket ended. */
export const end = signal<SocketEnd | null>(null)

export const isRunning = computed(() => !['idle', 'done', 'failed'].includes(phase.value))

/** Seconds that the text is behind the audio; null while there is none to compare. */
export const behind = computed((): number | null => {
  const { running, lines } = captions.value
  const heard = running?.end ?? lines.at(-1)?.end
  return heard === undefined || quiet.value > 1 ? null : Math.max(0, sent.value - heard)
})

/** Audio of this tab that is being sent. */
interface OnAir {
  readonly seconds: number
  readonly stop: () => void
}

export const onAir = signal<OnAir | null>(null)

// Leaving would end the session.
addEventListener('beforeunload', (event) => {
  if (onAir.value !== null) event.preventDefault()
})

/** What can be done with the source and the sockets of what runs. */
interface Controls {
  readonly stop: () => void
  readonly close: () => void
  readonly mute: (isMuted: boolean) => void
}

let controls: Controls | null = null
/** Whoever runs something tells how it is stopped. */
export const runsWith = (given: Controls): void => {
  controls = given
}

/** No more audio: what is left is heard, then the session is finished. */
export const stop = (): void => controls?.stop()

export const mute = (): void => {
  isMuted.value = !isMuted.value
  controls?.mute(isMuted.value)
}

/** Back to the beginning, for a new session. */
export const reset = (): void =>
  batch(() => {
    phase.value = 'idle'
    live.value = null
    captions.value = NO_CAPTIONS
    sent.value = 0
    level.value = -60
    quiet.value = 0
    isMuted.value = false
    failure.value = null
    end.value = null
  })

/** Leaves the last session behind. */
export const leave = (): void => {
  controls?.close()
  controls = null
  onAir.value = null
  reset()
}
