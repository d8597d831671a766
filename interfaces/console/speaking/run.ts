import { batch, computed, signal } from '@preact/signals'
import { type Captions, NO_CAPTIONS } from '../../client/captions.ts'
import type { SocketEnd } from '../../client/live-socket.ts'
import type { LiveSession } from '../../client/operations.ts'

/** The phase of the session that this tab started. */
export type Phase =
  | 'idle' | 'asking' | 'creating' | 'connecting' | 'loading' | 'listening' | 'reconnecting' | 'finishing' | 'done'
  | 'failed'

export const phase = signal<Phase>('idle')
export const live = signal<LiveSession | null>(null)
export const captions = signal<Captions>(NO_CAPTIONS)
export const sentSeconds = signal(0)
/** Loudness of the last 100 ms, in decibels relative to full scale. */
export const level = signal(-60)
export const isMuted = signal(false)
/** Length of the present silence in seconds. */
export const quietSeconds = signal(0)
/** The error that stopped the session: of the browser's audio or of a request. */
export const failure = signal<unknown>(null)
export const end = signal<SocketEnd | null>(null)

export const isRunning = computed(() => !['idle', 'done', 'failed'].includes(phase.value))

/** Delay of the text in seconds; null before the first text and during silence. */
export const lagSeconds = computed((): number | null => {
  const { running, lines } = captions.value
  const transcribed = running?.end ?? lines.at(-1)?.end
  return transcribed === undefined || quietSeconds.value > 1 ? null : Math.max(0, sentSeconds.value - transcribed)
})

/** The audio that this tab sends now. */
interface OnAir {
  readonly seconds: number
  readonly stop: () => void
}

export const onAir = signal<OnAir | null>(null)

// Closing the tab would end the session, so the browser asks first.
addEventListener('beforeunload', (event) => {
  if (onAir.value !== null) event.preventDefault()
})

/** Controls of the running session's source and sockets. */
interface Controls {
  readonly stop: () => void
  readonly close: () => void
  readonly mute: (isMuted: boolean) => void
}

let controls: Controls | null = null
export const setControls = (newControls: Controls): void => {
  controls = newControls
}

/** Stops the audio. The service transcribes the remaining audio and finishes the session. */
export const stop = (): void => controls?.stop()

export const mute = (): void => {
  isMuted.value = !isMuted.value
  controls?.mute(isMuted.value)
}

/** Resets all values for a new session. */
export const reset = (): void =>
  batch(() => {
    phase.value = 'idle'
    live.value = null
    captions.value = NO_CAPTIONS
    sentSeconds.value = 0
    level.value = -60
    quietSeconds.value = 0
    isMuted.value = false
    failure.value = null
    end.value = null
  })

/** Closes the last session's sockets and resets all values. */
export const leave = (): void => {
  controls?.close()
  controls = null
  onAir.value = null
  reset()
}
