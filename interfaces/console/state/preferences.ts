import { effect, signal } from '@preact/signals'

const KEY = 'stenolog preferences'

interface Preferences {
  readonly theme: 'auto' | 'light' | 'dark'
  /** Font size of captions, in pixels. */
  readonly captionSize: number
  /** WCAG 2.1.4 requires that users can turn off single-key shortcuts. */
  readonly singleKeys: boolean
}

const DEFAULTS: Preferences = { theme: 'auto', captionSize: 20, singleKeys: true }

const storedPreferences = (): Preferences => {
  try {
    return { ...DEFAULTS, ...(JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Preferences>) }
  } catch {
    return DEFAULTS
  }
}

export const preferences = signal(storedPreferences())

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
