import { signal } from '@preact/signals'

/** Audio of this tab that is being sent. */
export interface OnAir {
  readonly seconds: number
  readonly stop: () => void
}

export const onAir = signal<OnAir | null>(null)

// Leaving would end the session.
addEventListener('beforeunload', (event) => {
  if (onAir.value !== null) event.preventDefault()
})
