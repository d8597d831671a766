import { effect, signal } from '@preact/signals'

const KEY = 'stenolog preferences'

interface Preferences {
  readonly theme: 'auto' | 'light' | 'dark'
  /** Of captions, in pixels. */
  readonly captionSize: number
  /** May single keys do something (WCAG 2.1.4)? */
  readonly singleKeys: boolean
}

const USUAL: Preferences = { theme: 'auto', captionSize: 20, singleKeys: true }

const stored = (): Preferences => {
  try {
    return { ...USUAL, ...(JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Preferences>) }
  } catch {
    return USUAL
  }
}

export const preferences = signal(stored())

export const prefer = (changed: Partial<Preferences>): void => {
  preferences.value = { ...preferences.value, ...changed }
  localStorage.setItem(KEY, JSON.stringify(preferences.value))
}

effect(() => {
  const { theme, captionSize } = preferences.value
  const { style } = document.documentElement
  style.colorScheme = theme === 'auto' ? 'light dark' : theme
  style.setProperty('--caption-size', `${captionSize}px`)
})
